/** What buffers and programs need of the WebGPU device that made them. */

import type { BufferOwner } from "../core/buffer.ts";

export interface WebgpuBufferOwner extends BufferOwner {
  readonly gpu: GPUDevice;
  /** Throws DEVICE_LOST once the device is. */
  assertUsable(): void;
}

export interface WebgpuOwner extends WebgpuBufferOwner {
  /** Whether subgroups have one width, for which kernels can be built. */
  readonly hasSubgroups: boolean;
  /** Records a dispatch: into the pass being timed, or into a submission of its own. */
  dispatch(
    pipeline: GPUComputePipeline,
    group: GPUBindGroup,
    counts: readonly [number, number, number],
  ): void;
  /** Runs actions one after another, in the order of the calls: there is one clock, and one pass being timed. */
  exclusive<T>(action: () => Promise<T>): Promise<T>;
  /** Milliseconds of what `enqueue` dispatches, for an action that is exclusive already. */
  timeNow(enqueue: () => void): Promise<number>;
}
