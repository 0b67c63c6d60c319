/** A kernel compiled for a GPU, and its launches. */

import {
  emit,
  NATIVE_GRID,
  type Emitted,
  type EmitOptions,
  type KernelIR,
  type Params,
} from "@evolver/kernel";
import koffi from "koffi";
import type { ClockedProgram, Launch, RunResult } from "../../core/device.ts";
import { assertOpen } from "../../core/buffer.ts";
import { writeWord } from "../../core/arrays.ts";
import { resolveLaunch, type ResolvedLaunch } from "../../core/launch.ts";
import { GpuBuffer } from "./buffer.ts";
import type { CompiledCode } from "./cache.ts";
import { GPU_ERROR, type Handle } from "./driver.ts";
import type { GpuOwner } from "./owner.ts";

/** Machine code of the kernel, loaded. */
interface Loaded {
  readonly emitted: Emitted;
  readonly compiled: CompiledCode;
  readonly function: Handle;
}

/** What a launch needs at hand to be enqueued by a single driver call. */
interface Prepared {
  readonly loaded: Loaded;
  readonly grid: readonly [number, number, number];
  /** The array of pointers to the arguments, which stays where it is as long as `memory` is held. */
  readonly params: Handle;
  readonly memory: ArrayBuffer;
}

export class GpuProgram<P extends Params = Params> implements ClockedProgram<P> {
  readonly ir: KernelIR;
  readonly #device: GpuOwner;
  readonly #native: Loaded;
  /** For launches with more workgroups on an axis than the grid has; made when first needed. */
  #linear: Loaded | null = null;

  constructor(device: GpuOwner, ir: KernelIR) {
    this.#device = device;
    this.ir = ir;
    this.#native = this.#load({ grid: "native" });
  }

  get emitted(): Emitted {
    return this.#native.emitted;
  }

  get compiler(): string {
    return this.#native.compiled.compiler;
  }

  /** The machine code. */
  get code(): Uint8Array {
    return this.#native.compiled.code;
  }

  async run(launch: Launch<P>): Promise<RunResult> {
    const enqueue = this.prepare(launch);
    const timeMs = enqueue === null ? 0 : await this.#device.time(enqueue);
    return { timeMs, counters: null, findings: [] };
  }

  /**
   * Checks a launch once and gives a function that enqueues it on the device's stream with one driver call and does
   * not wait; null if it has no workgroups. Valid until a buffer of it is destroyed.
   */
  prepare(launch: Launch<P>): (() => void) | null {
    assertOpen(this.#device);
    this.#device.driver.assertUsable();
    const resolved = resolveLaunch(
      this.ir,
      launch as Launch,
      this.#device,
      GpuBuffer as unknown as abstract new (...args: never[]) => GpuBuffer,
    );
    if (resolved.workgroupCount === 0) return null;
    const prepared = this.#pack(resolved);
    const { loaded, grid } = prepared;
    const [gridX, gridY, gridZ] = grid;
    const [blockX, blockY, blockZ] = this.ir.workgroupSize;
    const { driver, stream } = this.#device;
    const call = driver.call.launchKernel;
    const what = `launching kernel "${this.ir.name}"`;
    const shared = loaded.emitted.dynamicSharedBytes;
    return () => {
      const code = call(
        loaded.function,
        gridX,
        gridY,
        gridZ,
        blockX,
        blockY,
        blockZ,
        shared,
        stream,
        prepared.params,
        0n,
      );
      if (code !== GPU_ERROR.success) driver.check(code, what);
    };
  }

  #load(options: EmitOptions): Loaded {
    const { ir } = this;
    const device = this.#device;
    const { driver } = device;
    const emitted = emit(ir, device.id, options);
    const compiled = device.compileSource(ir, emitted);
    const module = driver.out64(
      (slot) => driver.call.moduleLoadData(slot, compiled.code),
      `loading kernel "${ir.name}"`,
    );
    const entry = driver.out64(
      (slot) => driver.call.moduleGetFunction(slot, module, emitted.entryPoint),
      `finding kernel "${ir.name}"`,
    );
    device.prepareFunction(entry, emitted);
    return { emitted, compiled, function: entry };
  }

  /** The arguments in memory, and after them the array of pointers to them that the driver wants. */
  #pack(resolved: ResolvedLaunch<GpuBuffer>): Prepared {
    const [x, y, z] = resolved.workgroups;
    const widest = this.#device.maxGridX(this.ir);
    const isNative = x <= widest && y <= NATIVE_GRID.y && z <= NATIVE_GRID.z;
    const loaded = isNative ? this.#native : (this.#linear ??= this.#load({ grid: "linear" }));
    const names = loaded.emitted.kernelArguments;
    const bytes = Math.max(1, names.length) * 16;
    // An ArrayBuffer's memory never moves, and goes when nothing refers to it any more.
    const memory = new ArrayBuffer(bytes);
    const address = koffi.address(memory);
    const view = new DataView(memory);
    const pointers = names.length * 8;
    names.forEach((name, k) => {
      writeArgument(view, k * 8, name, resolved, this.ir);
      view.setBigUint64(pointers + k * 8, address + BigInt(k * 8), true);
    });
    const params = address + BigInt(pointers);
    if (isNative) return { loaded, grid: [x, y, z], params, memory };
    const gridX = Math.min(resolved.workgroupCount, widest);
    return { loaded, grid: [gridX, Math.ceil(resolved.workgroupCount / gridX), 1], params, memory };
  }
}

function writeArgument(
  view: DataView,
  at: number,
  name: string,
  resolved: ResolvedLaunch<GpuBuffer>,
  ir: KernelIR,
): void {
  const buffer = resolved.buffers[name];
  if (buffer !== undefined) return view.setBigUint64(at, buffer.pointer, true);
  const axis = ["numWorkgroups.x", "numWorkgroups.y", "numWorkgroups.z"].indexOf(name);
  if (axis >= 0) return view.setUint32(at, resolved.workgroups[axis] as number, true);
  const value = resolved.scalars[name] as number;
  const param = ir.params.find((candidate) => candidate.name === name);
  writeWord(view, at, param?.kind === "scalar" ? param.type : "u32", value);
}
