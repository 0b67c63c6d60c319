/**
 * The one interface of all devices. A device compiles kernels, owns buffers and runs launches. Differences between
 * devices (checks, counters, clocks) are optional data in the result, never other calls.
 */

import type { Args, ElementType, Kernel, KernelIR, Params, ElementArray } from "@evolver/kernel";
import type { Counters } from "./counters.ts";
import type { Finding } from "./findings.ts";

/** The devices that there are. */
export type DeviceId = "sim" | "cpu" | "webgpu" | "cuda" | "hip";

/** What a launch and a buffer may be here; more is refused before anything runs. */
export interface DeviceLimits {
  /** Subgroup widths that kernels can be built for here. */
  readonly subgroupSizes: readonly number[];
  readonly maxInvocationsPerWorkgroup: number;
  readonly maxSharedBytes: number;
  readonly maxBufferBytes: number;
  /** The largest product of a launch's workgroup counts. */
  readonly maxWorkgroups: number;
}

/**
 * What holds elements on the host. f16 and bf16 are held as their 16 bits: see toF16Bits, fromF16Bits, toBF16Bits and
 * fromBF16Bits.
 */
export type TypedArrayOf<E extends ElementType> = ElementArray<E>;

/** Any of these arrays. */
export type AnyTypedArray = ElementArray<ElementType>;

/** Global memory on a device. Usable only with the device that made it, until `destroy` or the device's `close`. */
export interface DeviceBuffer<E extends ElementType = ElementType> {
  readonly element: E;
  /** In elements. */
  readonly length: number;
  /** Replaces the elements from `offset` on (0 by default). Throws INVALID_ARGUMENT where the data do not fit. */
  write(data: TypedArrayOf<E>, offset?: number): Promise<void>;
  /** A copy of `length` elements from `offset` on; of the whole contents, if neither is given. Waits for launches before it. */
  read(offset?: number, length?: number): Promise<TypedArrayOf<E>>;
  destroy(): void;
}

/**
 * One run of a kernel. `run` refuses a bad one before anything happens: INVALID_WORKGROUPS, MISSING_ARGUMENT, UNKNOWN_ARGUMENT,
 * INVALID_ARGUMENT, BUFFER_DESTROYED, ALIASED_BUFFER for a buffer that is passed twice and written.
 */
export interface Launch<P extends Params = Params> {
  /** Workgroups on x, or on x, y and z. 0 is valid and runs nothing. */
  readonly workgroups: number | readonly [number, number?, number?];
  /** A value for each parameter of the kernel: a number for a scalar, a DeviceBuffer for a buffer. */
  readonly args: Args<P>;
  /** Only on `sim`: run these workgroups (linear indices) and no others; counters are then theirs alone. */
  readonly sample?: readonly number[];
}

/** What a launch gives besides what it wrote. */
export interface RunResult {
  /** Wall-clock time of the launch in milliseconds as this device measures it; null where that means nothing (`sim`). */
  readonly timeMs: number | null;
  /** What the launch did, where the device counts (`sim`). */
  readonly counters: Counters | null;
  /** What is wrong with it, where the device checks (`sim`) and was asked to collect rather than to throw. */
  readonly findings: readonly Finding[];
}

/** A kernel compiled for one device. */
export interface Program<P extends Params = Params> {
  readonly ir: KernelIR;
  /**
   * Runs a launch and waits for its end. Throws what a launch is refused for, DEVICE_CLOSED, DEVICE_LOST, and on `sim` a
   * SimulationError where something is wrong with the kernel.
   */
  run(launch: Launch<P>): Promise<RunResult>;
}

/** What a driver says about its GPU beyond the limits of a launch; null where it does not say. */
export interface MachineFacts {
  /** CUDA: streaming multiprocessors. HIP: compute units. */
  readonly multiprocessors: number | null;
  /** The highest clock of the multiprocessors, not what they run at now. */
  readonly clockGHz: number | null;
  /** Of the last-level cache that all multiprocessors share. */
  readonly cacheBytes: number | null;
  readonly maxInvocationsPerMultiprocessor: number | null;
  readonly maxWorkgroupsPerMultiprocessor: number | null;
  readonly sharedBytesPerMultiprocessor: number | null;
}

/** Somewhere that kernels run. `openDevice` gives one. */
export interface Device {
  readonly id: DeviceId;
  /** For people: the processor or card. */
  readonly name: string;
  /** The subgroup width that kernels are built for. */
  readonly subgroupSize: number;
  /** Whether subgroups of a workgroup may wait for each other, so that kernels can have phase barriers here. */
  readonly forwardProgress: boolean;
  readonly limits: DeviceLimits;
  /** Only where the driver says something about the machine: cuda, hip. */
  readonly machine?: MachineFacts;
  /**
   * A buffer of so many elements, zeroed, or holding a copy of the data. Throws INVALID_ARGUMENT for an array of another type,
   * BUFFER_TOO_LARGE beyond `limits.maxBufferBytes`.
   */
  createBuffer<E extends ElementType>(element: E, contents: number | TypedArrayOf<E>): DeviceBuffer<E>;
  /** Builds the kernel for `subgroupSize`, and compiles it. Throws what building throws, and what the device's compiler says. */
  compile<P extends Params>(kernel: Kernel<P> | KernelIR): Promise<Program<P>>;
  /** Frees everything; later calls throw DEVICE_CLOSED. */
  close(): Promise<void>;
}

/** A program whose launches can be prepared once and enqueued many times, for timing and for small kernels. */
export interface ClockedProgram<P extends Params = Params> extends Program<P> {
  /**
   * Checks a launch once and gives a function that enqueues it and does not wait; null if it has no workgroups. Valid
   * until a buffer of it is destroyed.
   */
  prepare(launch: Launch<P>): (() => void) | null;
}

/** Launches that were recorded once and that the driver starts together: a CUDA or HIP graph. */
export interface LaunchGraph {
  /** Enqueues all of them by one call, and does not wait. */
  enqueue(): void;
  destroy(): void;
}

/** A device with a clock of its own: webgpu, cuda, hip. */
export interface ClockedDevice extends Device {
  compile<P extends Params>(kernel: Kernel<P> | KernelIR): Promise<ClockedProgram<P>>;
  /** The time in milliseconds, by the device's clock, from the start of the first to the end of the last launch that `enqueue` enqueues. */
  time(enqueue: () => void): Promise<number>;
  /** Waits for everything that was enqueued; throws what went wrong with it. */
  synchronize(): Promise<void>;
  /**
   * Records what `enqueue` enqueues, which does not run then, as a graph. Null where the driver is too old for graphs;
   * absent where there are none.
   */
  capture?(enqueue: () => void): LaunchGraph | null;
}

/** Whether a device has a clock of its own, and with it `time`, `synchronize` and programs with `prepare`. */
export function isClocked(device: Device): device is ClockedDevice {
  return "time" in device && typeof device.time === "function";
}
