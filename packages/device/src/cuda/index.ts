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
import { compileCuda, type CompiledCuda } from "./compile.ts";
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

/** The largest grid on y and z; on x it is 2^31 − 1. Beyond it a kernel is compiled for a grid of any shape. */
const MAX_GRID_YZ = 65_535;

export class CudaProgram<P extends Params = Params> implements ClockedProgram<P> {
  readonly ir: KernelIR;
  readonly #device: CudaDevice;
  readonly #native: LoadedKernel;
  #linear: LoadedKernel | null = null;

  constructor(device: CudaDevice, ir: KernelIR) {
    this.#device = device;
    this.ir = ir;
    this.#native = loadKernel(device, ir, "native");
  }

  get emitted(): Emitted {
    return this.#native.emitted;
  }

  /** "nvrtc 13.0". */
  get compiler(): string {
    return this.#native.compiled.compiler;
  }

  /** The machine code. */
  get cubin(): Uint8Array {
    return this.#native.compiled.cubin;
  }

  async run(launch: Launch<P>): Promise<RunResult> {
    const prepared = this.prepare(launch);
    const timeMs = prepared === null ? 0 : await this.#device.time(prepared);
    return { timeMs, counters: null, findings: [] };
  }

  /** One driver call a launch. */
  prepare(launch: Launch<P>): (() => void) | null {
    const device = this.#device;
    assertOpen(device);
    device.driver.assertUsable();
    const resolved = resolveLaunch(this.ir, launch as Launch, device, CudaBuffer as BufferClass);
    if (resolved.workgroupCount === 0) return null;
    const [countX, countY, countZ] = resolved.workgroups;
    const fits = countY <= MAX_GRID_YZ && countZ <= MAX_GRID_YZ;
    const kernel = fits ? this.#native : (this.#linear ??= loadKernel(device, this.ir, "linear"));
    const [gridX, gridY, gridZ] = fits ? [countX, countY, countZ] : [resolved.workgroupCount, 1, 1];
    const [blockX, blockY, blockZ] = this.ir.workgroupSize;
    const { driver, stream } = device;
    const call = driver.call.cuLaunchKernel;
    const what = `launching kernel "${this.ir.name}"`;
    const shared = kernel.emitted.dynamicSharedBytes;
    const params = new LaunchArguments(kernel.emitted.kernelArguments, resolved, this.ir);
    return () => {
      const at = params.address;
      const code = call(kernel.function, gridX, gridY, gridZ, blockX, blockY, blockZ, shared, stream, at, 0n);
      if (code !== CUDA_ERROR.success) driver.check(code, what);
    };
  }
}

type BufferClass = abstract new (...args: never[]) => CudaBuffer;

interface LoadedKernel {
  readonly emitted: Emitted;
  readonly compiled: CompiledCuda;
  readonly function: Handle;
}

function loadKernel(device: CudaDevice, ir: KernelIR, grid: "native" | "linear"): LoadedKernel {
  const emitted = emit(ir, "cuda", { grid });
  const compiled = compileCuda({
    kernelName: ir.name,
    source: emitted.source,
    architecture: device.architecture,
    options: emitted.compileOptions,
  });
  const { driver } = device;
  const { call } = driver;
  const module = driver.out64(
    (slot) => call.cuModuleLoadData(slot, compiled.cubin),
    `loading kernel "${ir.name}"`,
  );
  const find = (slot: BigUint64Array): number => call.cuModuleGetFunction(slot, module, emitted.entryPoint);
  const handle = driver.out64(find, `finding kernel "${ir.name}"`);
  const shared = emitted.dynamicSharedBytes;
  if (shared > 0) {
    const code = call.cuFuncSetAttribute(handle, MAX_DYNAMIC_SHARED_BYTES, shared);
    driver.check(code, `reserving ${shared} bytes of shared memory`);
  }
  return { emitted, compiled, function: handle };
}

/** A launch's arguments in native memory, and after them the array of pointers to them that the driver wants. */
class LaunchArguments {
  static readonly #memory = new FinalizationRegistry<unknown>((memory) => koffi.free(memory));
  readonly address: bigint;

  constructor(names: readonly string[], resolved: ResolvedLaunch<CudaBuffer>, ir: KernelIR) {
    const bytes = Math.max(1, names.length) * 16;
    const memory: unknown = koffi.alloc("uint8_t", bytes);
    const start = koffi.address(memory);
    const view = new DataView(koffi.view(memory, bytes));
    const pointers = names.length * 8;
    names.forEach((name, k) => {
      writeArgument(view, k * 8, name, resolved, ir);
      view.setBigUint64(pointers + k * 8, start + BigInt(k * 8), true);
    });
    this.address = start + BigInt(pointers);
    LaunchArguments.#memory.register(this, memory);
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
