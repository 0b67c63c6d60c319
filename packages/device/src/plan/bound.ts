/** The interface of a plan on a device, for code that runs, times and reads it. bind.ts makes one. */

import type {
  AnyTypedArray,
  Device,
  DeviceBuffer,
  LaunchGraph,
  RunResult,
  TypedArrayOf,
} from "../core/device.ts";
import type { Plan, PlanTypes } from "./plan.ts";

/** What a launch has other than the plan's. */
export interface LaunchChange {
  /** Index of the launch; the first if absent. */
  readonly launch?: number;
  readonly workgroups?: number | readonly [number, number?, number?];
  /** Scalars by the parameters' names. */
  readonly args?: Readonly<Record<string, number>>;
  /** Only on `sim`: the workgroups to run, by linear index. */
  readonly sample?: readonly number[];
}

/** For a launch, by its index: the workgroups to run (linear indices), or null for all. Only on `sim`. */
export type Sampling = (launch: number) => readonly number[] | null;

/** The part of a bound plan that measuring needs: running it, without changing or freeing anything. */
export interface RunnablePlan {
  readonly plan: Plan;
  readonly device: Device;
  /**
   * Zeroes the scratch that asked for it, then runs all launches and waits. One result per launch: its time, and on `sim`
   * its counters and findings.
   */
  run(sample?: Sampling): Promise<readonly RunResult[]>;
  /**
   * Enqueues all launches once and does not wait; what is enqueued runs in order. Null where the device has no clock of
   * its own, or scratch has to be zeroed before each run.
   */
  readonly enqueue: (() => void) | null;
}

/** A plan on a device, with its buffers. */
export interface BoundPlan<B extends PlanTypes = PlanTypes> extends RunnablePlan {
  /** By the plan's names: the caller's, and those made here. */
  readonly buffers: { readonly [K in keyof B]: DeviceBuffer<B[K]> };
  /** Runs one launch with changes, on the same buffers, and waits. */
  runChanged(change: LaunchChange): Promise<RunResult>;
  /**
   * Milliseconds that all launches together take, on average over so many executions back to back: by the device's
   * clock where it has one, else as the device says of each launch, else (`sim`) by the wall clock around them.
   */
  time(executions?: number): Promise<number>;
  /** A copy of what a buffer holds: as many elements as the plan says, even where the caller's buffer is longer. */
  read<N extends keyof B & string>(name: N): Promise<TypedArrayOf<B[N]>>;
  /** Replaces what a buffer holds, from its first element on. */
  write<N extends keyof B & string>(name: N, data: AnyTypedArray): Promise<void>;
  /**
   * All launches as one graph of the driver's, which a single call enqueues: for chains of small kernels. Null where
   * `enqueue` is, or where the driver has no graphs. Valid as long as the bound plan; to be destroyed before it.
   */
  capture(): LaunchGraph | null;
  /** Frees the buffers that were made here, and none of the caller's. */
  destroy(): void;
}

/** What a plan is bound to. */
export interface BindOptions {
  /**
   * Buffers of the caller's, by the plan's names, for any role: of the plan's element type and at least as long. That they
   * are of this device is checked at the first launch. Their contents, also of scratch, are not changed; only scratch that is zeroed before each run is written.
   */
  readonly buffers?: Readonly<Record<string, DeviceBuffer>>;
  /** Contents of the inputs that are made here, by name: all that are not in `buffers`. Other names are refused. */
  readonly inputs?: Readonly<Record<string, AnyTypedArray>>;
  /**
   * The first contents of outputs and scratch made here: zeros (the default), or NaN in every element, so that elements
   * that no launch wrote are noticed. Scratch that must begin with zeros does so in any case.
   */
  readonly fill?: "zeros" | "nan";
}
