/** The `cuda` device: NVIDIA GPUs through the driver API. Node only; import it as @evolver/device/cuda. */

import {
  emit,
  type Emitted,
  type ElementType,
  type Kernel,
  type KernelIR,
  type Params,
} from "@evolver/kernel";
import koffi from "koffi";
import type {
  ClockedDevice,
  ClockedProgram,
  DeviceBuffer,
  DeviceLimits,
  Launch,
  RunResult,
  TypedArrayOf,
} from "../device.ts";
import {
  assertOpen,
  buildFor,
  checkBufferContents,
  resolveLaunch,
  type BufferOwner,
  type ResolvedLaunch,
} from "../launch.ts";
import { CudaBuffer } from "./buffer.ts";
import { compileCuda } from "./compile.ts";
import { CUDA_ERROR, CudaDriver, type Handle } from "./driver.ts";

export interface CudaOptions {
  /** Which GPU, as the driver counts them. */
  readonly ordinal?: number;
}

/** CUdevice_attribute values. */
const ATTRIBUTE = {
  maxThreadsPerBlock: 1,
  maxSharedMemoryPerBlock: 8,
  multiprocessors: 16,
  computeMajor: 75,
  computeMinor: 76,
  maxSharedMemoryOptIn: 97,
} as const;

const MAX_DYNAMIC_SHARED_BYTES = 8;
const EVENT_DEFAULT = 0;
const STREAM_NON_BLOCKING = 1;
const SUBGROUP = 32;

/** Opens the GPU. @throws EvolverError CUDA_UNAVAILABLE */
export function openCuda(options: CudaOptions = {}): CudaDevice {
  return new CudaDevice(CudaDriver.load(), options.ordinal ?? 0);
}

/** What a launch needs at hand to be enqueued by a single driver call. */
interface Prepared {
  readonly resolved: ResolvedLaunch<CudaBuffer>;
  readonly params: bigint;
}

export class CudaDevice implements ClockedDevice, BufferOwner {
  readonly id = "cuda";
  readonly name: string;
  readonly subgroupSize = SUBGROUP;
  readonly limits: DeviceLimits;
  /** "sm_90a": what kernels are compiled for. */
  readonly architecture: string;
  readonly driverVersion: string;
  readonly driver: CudaDriver;
  readonly stream: Handle;
  readonly #ordinal: number;
  readonly #buffers = new Set<CudaBuffer>();
  readonly #events: readonly [Handle, Handle];
  #closed = false;

  constructor(driver: CudaDriver, ordinal: number) {
    this.driver = driver;
    const { call } = driver;
    this.#ordinal = driver.out32((slot) => call.cuDeviceGet(slot, ordinal), `opening GPU ${ordinal}`);
    const context = driver.out64(
      (slot) => call.cuDevicePrimaryCtxRetain(slot, this.#ordinal),
      "opening a context on the GPU",
    );
    driver.check(call.cuCtxSetCurrent(context), "making the context current");
    const name = new Uint8Array(256);
    driver.check(call.cuDeviceGetName(name, name.length, this.#ordinal), "reading the GPU's name");
    this.name = new TextDecoder().decode(name.subarray(0, name.indexOf(0)));
    const attribute = (which: number): number =>
      driver.out32(
        (slot) => call.cuDeviceGetAttribute(slot, which, this.#ordinal),
        "reading the GPU's limits",
      );
    const [major, minor] = [attribute(ATTRIBUTE.computeMajor), attribute(ATTRIBUTE.computeMinor)];
    this.architecture = `sm_${major}${minor}${major >= 9 ? "a" : ""}`;
    const version = driver.out32((slot) => call.cuDriverGetVersion(slot), "reading the driver's version");
    this.driverVersion = `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;
    const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)];
    driver.check(call.cuMemGetInfo(free, total), "reading the GPU's memory");
    this.limits = {
      subgroupSizes: [SUBGROUP],
      maxInvocationsPerWorkgroup: attribute(ATTRIBUTE.maxThreadsPerBlock),
      maxSharedBytes: attribute(ATTRIBUTE.maxSharedMemoryOptIn),
      maxBufferBytes: Number(total[0]),
      maxWorkgroups: 2 ** 31 - 1,
    };
    this.stream = driver.out64((slot) => call.cuStreamCreate(slot, STREAM_NON_BLOCKING), "making a stream");
    const event = (): Handle =>
      driver.out64((slot) => call.cuEventCreate(slot, EVENT_DEFAULT), "making an event");
    this.#events = [event(), event()];
  }

  get closed(): boolean {
    return this.#closed;
  }

  createBuffer<E extends ElementType>(element: E, contents: number | TypedArrayOf<E>): DeviceBuffer<E> {
    checkBufferContents(this, element, contents);
    this.driver.assertUsable();
    const buffer = new CudaBuffer(this, this.driver, element, contents);
    this.#buffers.add(buffer);
    return buffer;
  }

  async compile<P extends Params>(kernel: Kernel<P> | KernelIR): Promise<CudaProgram<P>> {
    const ir = buildFor(kernel, this, SUBGROUP);
    this.driver.assertUsable();
    return new CudaProgram<P>(this, ir);
  }

  /** Runs what `enqueue` puts on the stream, waits, and gives the time between device events in milliseconds. */
  async time(enqueue: () => void): Promise<number> {
    const { call } = this.driver;
    const [start, end] = this.#events;
    this.driver.check(call.cuEventRecord(start, this.stream), "recording an event");
    enqueue();
    this.driver.check(call.cuEventRecord(end, this.stream), "recording an event");
    await this.synchronize();
    const elapsed = new Float32Array(1);
    this.driver.check(call.cuEventElapsedTime(elapsed, start, end), "reading the time");
    return elapsed[0] as number;
  }

  /** Waits for all work, leaving the event loop free where it takes long. */
  async synchronize(): Promise<void> {
    const { call } = this.driver;
    const until = performance.now() + 2;
    for (;;) {
      const code = call.cuStreamQuery(this.stream);
      if (code !== CUDA_ERROR.notReady) return this.driver.check(code, "running a kernel");
      if (performance.now() > until) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    for (const buffer of this.#buffers) buffer.destroy();
    this.#buffers.clear();
    this.#closed = true;
    if (this.driver.lost !== null) return;
    const { call } = this.driver;
    for (const event of this.#events) call.cuEventDestroy(event);
    call.cuStreamDestroy(this.stream);
    call.cuDevicePrimaryCtxRelease(this.#ordinal);
  }
}

export class CudaProgram<P extends Params = Params> implements ClockedProgram<P> {
  readonly ir: KernelIR;
  readonly emitted: Emitted;
  readonly compiler: string;
  /** The machine code. */
  readonly cubin: Uint8Array;
  readonly #device: CudaDevice;
  readonly #function: Handle;

  constructor(device: CudaDevice, ir: KernelIR) {
    this.#device = device;
    this.ir = ir;
    this.emitted = emit(ir, "cuda");
    const compiled = compileCuda({
      kernelName: ir.name,
      source: this.emitted.source,
      architecture: device.architecture,
      options: this.emitted.compileOptions,
    });
    this.compiler = compiled.compiler;
    this.cubin = compiled.cubin;
    const { driver } = device;
    const module = driver.out64(
      (slot) => driver.call.cuModuleLoadData(slot, compiled.cubin),
      `loading kernel "${ir.name}"`,
    );
    this.#function = driver.out64(
      (slot) => driver.call.cuModuleGetFunction(slot, module, this.emitted.entryPoint),
      `finding kernel "${ir.name}"`,
    );
    if (this.emitted.dynamicSharedBytes > 0) {
      const code = driver.call.cuFuncSetAttribute(
        this.#function,
        MAX_DYNAMIC_SHARED_BYTES,
        this.emitted.dynamicSharedBytes,
      );
      driver.check(code, `reserving ${this.emitted.dynamicSharedBytes} bytes of shared memory`);
    }
  }

  async run(launch: Launch<P>): Promise<RunResult> {
    const prepared = this.prepare(launch);
    const timeMs = prepared === null ? 0 : await this.#device.time(prepared);
    return { timeMs, counters: null, findings: [] };
  }

  /**
   * Checks a launch once and gives a function that enqueues it on the device's stream with one driver call and does
   * not wait; null if it has no workgroups. Valid until a buffer of it is destroyed.
   */
  prepare(launch: Launch<P>): (() => void) | null {
    assertOpen(this.#device);
    this.#device.driver.assertUsable();
    const { params, resolved } = this.#pack(launch);
    if (resolved.workgroupCount === 0) return null;
    const [gridX, gridY, gridZ] = resolved.workgroups;
    const [blockX, blockY, blockZ] = this.ir.workgroupSize;
    const { driver, stream } = this.#device;
    const call = driver.call.cuLaunchKernel;
    const what = `launching kernel "${this.ir.name}"`;
    const shared = this.emitted.dynamicSharedBytes;
    return () => {
      const code = call(
        this.#function,
        gridX,
        gridY,
        gridZ,
        blockX,
        blockY,
        blockZ,
        shared,
        stream,
        params,
        0n,
      );
      if (code !== CUDA_ERROR.success) driver.check(code, what);
    };
  }

  /** The arguments in memory, and after them the array of pointers to them that the driver wants. */
  #pack(launch: Launch<P>): Prepared {
    const resolved = resolveLaunch(
      this.ir,
      launch as Launch,
      this.#device,
      CudaBuffer as unknown as abstract new (...args: never[]) => CudaBuffer,
    );
    const names = this.emitted.kernelArguments;
    const memory = koffi.alloc("uint8_t", Math.max(1, names.length) * 16);
    const address = koffi.address(memory);
    const view = new DataView(koffi.view(memory, Math.max(1, names.length) * 16));
    const pointers = names.length * 8;
    names.forEach((name, k) => {
      writeArgument(view, k * 8, name, resolved, this.ir);
      view.setBigUint64(pointers + k * 8, address + BigInt(k * 8), true);
    });
    return { resolved, params: address + BigInt(pointers) };
  }
}

function writeArgument(
  view: DataView,
  at: number,
  name: string,
  resolved: ResolvedLaunch<CudaBuffer>,
  ir: KernelIR,
): void {
  const buffer = resolved.buffers[name];
  if (buffer !== undefined) return view.setBigUint64(at, buffer.pointer, true);
  const axis = ["numWorkgroups.x", "numWorkgroups.y", "numWorkgroups.z"].indexOf(name);
  if (axis >= 0) return view.setUint32(at, resolved.workgroups[axis] as number, true);
  const value = resolved.scalars[name] as number;
  const param = ir.params.find((candidate) => candidate.name === name);
  if (param?.kind === "scalar" && param.type === "f32") return view.setFloat32(at, value, true);
  return param?.kind === "scalar" && param.type === "i32"
    ? view.setInt32(at, value, true)
    : view.setUint32(at, value, true);
}
