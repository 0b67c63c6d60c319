/** The device itself. It gives the simulator's results bit for bit on kernels that are correct, and checks nothing. */

import { EvolverError } from "@evolver/base";
import { hash, MAX_INVOCATIONS, SUBGROUP_SIZES, withoutTraces } from "@evolver/kernel";
import type { ElementType, Kernel, KernelIR, Params } from "@evolver/kernel";
import { buildFor } from "../core/build.ts";
import type { Device, DeviceLimits, TypedArrayOf } from "../core/device.ts";
import { checkBufferContents } from "../core/buffer.ts";
import { deviceRows } from "../core/device-rows.ts";
import { whyConcurrent } from "./analysis/forward-progress.ts";
import { lowerCopies } from "./analysis/lower-copies.ts";
import { compileKernel } from "./codegen/kernel.ts";
import { CpuBuffer } from "./runtime/buffer.ts";
import { CompiledProgram } from "./runtime/compiled-program.ts";
import type { CompiledModule, CpuHost, CpuProgram } from "./runtime/host.ts";
import { DeviceMemory } from "./runtime/memory.ts";
import { WorkerPool } from "./runtime/pool.ts";
import { SimulatedProgram } from "./runtime/simulated-program.ts";
import { hasFusedMultiplyAdd } from "./wasm/probe.ts";

/** What `openDevice("cpu", …)` takes. Bad values are refused with INVALID_OPTION. */
export interface CpuOptions {
  /** Subgroup width that kernels are built for: 4, 8, 16, 32 (default), 64 or 128. */
  readonly subgroup?: number;
  /** Threads that run workgroups; by default as many as the process may use cores. With 1 there are none besides the caller's. */
  readonly workers?: number;
}

const MAX_WORKERS = 64;

/** Opens the cpu device. Throws INVALID_OPTION, or DEVICE_UNAVAILABLE where no shared memory can be made. */
export function openCpu(options: CpuOptions = {}): CpuDevice {
  return new CpuDevice(options);
}

export class CpuDevice implements Device, CpuHost {
  readonly id = "cpu";
  readonly name: string;
  readonly subgroupSize: number;
  readonly forwardProgress: boolean = deviceRows.cpu.forwardProgress;
  readonly limits: DeviceLimits;
  readonly workers: number;
  readonly memory: DeviceMemory;
  readonly pool: WorkerPool;
  #closed = false;
  #last: Promise<unknown> = Promise.resolve();
  readonly #modules = new Map<string, Promise<CompiledModule>>();

  constructor(options: CpuOptions) {
    const { subgroup = 32, workers = availableCores() } = options;
    if (!SUBGROUP_SIZES.includes(subgroup))
      throw invalid(`the cpu device has no subgroups of ${subgroup}`, `use ${SUBGROUP_SIZES.join(", ")}`);
    if (!Number.isInteger(workers) || workers < 1 || workers > MAX_WORKERS)
      throw invalid(`the cpu device cannot have ${workers} workers`, `use 1 to ${MAX_WORKERS}`);
    this.subgroupSize = subgroup;
    this.workers = canShareMemory() ? workers : 1;
    this.memory = new DeviceMemory();
    this.pool = new WorkerPool(this.workers, this.memory);
    this.name = `${processorName()}, ${this.workers} ${this.workers === 1 ? "thread" : "threads"}`;
    this.limits = Object.freeze({
      subgroupSizes: SUBGROUP_SIZES,
      maxInvocationsPerWorkgroup: MAX_INVOCATIONS,
      maxSharedBytes: 2 ** 20,
      maxBufferBytes: Math.min(2 ** 31, this.memory.maximumBytes),
      maxWorkgroups: 2 ** 30,
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  createBuffer<E extends ElementType>(element: E, contents: number | TypedArrayOf<E>): CpuBuffer<E> {
    const length = checkBufferContents(this, element, contents);
    const buffer = new CpuBuffer(this, this.memory, element, length);
    if (typeof contents !== "number") buffer.array.set(contents);
    return buffer;
  }

  async compile<P extends Params>(kernel: Kernel<P> | KernelIR): Promise<CpuProgram<P>> {
    const ir = buildFor(kernel, this, this.subgroupSize);
    const lowered = lowerCopies(withoutTraces(ir));
    const reason = whyConcurrent(lowered);
    if (reason !== null) return new SimulatedProgram<P>(this, withoutTraces(ir), reason);
    const key = `${ir.subgroupSize} ${ir.workgroupSize.join("x")} ${hash(ir)}`;
    let compiled = this.#modules.get(key);
    if (compiled === undefined) {
      compiled = this.#compile(lowered);
      this.#modules.set(key, compiled);
    }
    return new CompiledProgram<P>(this, ir, await compiled);
  }

  enqueue<T>(launch: () => Promise<T>): Promise<T> {
    const result = this.#last.then(launch);
    this.#last = result.catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#last;
    await this.pool.close();
  }

  async #compile(ir: KernelIR): Promise<CompiledModule> {
    const id = this.#modules.size;
    // They take a while to start, so they begin before there is work for them.
    this.pool.start();
    const compiled = compileKernel(ir, {
      fusedMultiplyAdd: hasFusedMultiplyAdd(),
      maximumPages: this.memory.maximumPages,
    });
    return { ...compiled, id, module: await WebAssembly.compile(compiled.bytes) };
  }
}

function invalid(what: string, hint: string): EvolverError {
  return new EvolverError("INVALID_OPTION", what, { hint });
}

function availableCores(): number {
  const cores = nodeOs()?.availableParallelism() ?? globalThis.navigator?.hardwareConcurrency ?? 1;
  return Math.max(1, Math.min(MAX_WORKERS, cores));
}

/** Browsers give memory to other threads only where the page is isolated; elsewhere the property is missing. */
function canShareMemory(): boolean {
  return (globalThis as { readonly crossOriginIsolated?: boolean }).crossOriginIsolated !== false;
}

const processorName = (): string => nodeOs()?.cpus()[0]?.model.trim() || "CPU";

/** Null in browsers, so that their bundles have nothing of Node. Its navigator came with Node 21. */
const nodeOs = (): typeof import("node:os") | null =>
  typeof process === "undefined" || typeof process.getBuiltinModule !== "function"
    ? null
    : process.getBuiltinModule("node:os");
