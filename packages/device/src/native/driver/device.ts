/** A GPU behind a vendor's driver: buffers, programs, one stream, and time by the driver's events. Node only. */

import {
  NATIVE_GRID,
  type Emitted,
  type ElementType,
  type Kernel,
  type KernelIR,
  type Params,
} from "@evolver/kernel";
import type { DriverDeviceId } from "../../core/device-rows.ts";
import { buildFor } from "../../core/build.ts";
import type {
  ClockedDevice,
  DeviceBuffer,
  DeviceLimits,
  LaunchGraph,
  MachineFacts,
  TypedArrayOf,
} from "../../core/device.ts";
import { checkBufferContents } from "../../core/buffer.ts";
import { GpuBuffer } from "./buffer.ts";
import type { CompiledCode } from "./cache.ts";
import { EVENT_DEFAULT, GPU_ERROR, STREAM_NON_BLOCKING, type GpuDriver, type Handle } from "./driver.ts";
import { captureGraph } from "./graph.ts";
import type { GpuOwner } from "./owner.ts";
import { GpuProgram } from "./program.ts";

/** What is known about the GPU when it is opened. */
export interface GpuFacts {
  readonly name: string;
  readonly subgroupSize: number;
  readonly maxInvocationsPerWorkgroup: number;
  readonly maxSharedBytes: number;
  readonly machine: MachineFacts;
}

export abstract class GpuDevice implements ClockedDevice, GpuOwner {
  abstract readonly id: DriverDeviceId;
  readonly name: string;
  readonly subgroupSize: number;
  abstract readonly forwardProgress: boolean;
  readonly limits: DeviceLimits;
  readonly machine: MachineFacts;
  readonly driver: GpuDriver;
  readonly stream: Handle;
  readonly #buffers = new Set<GpuBuffer>();
  readonly #events: readonly [Handle, Handle];
  #closed = false;

  /** The driver's context must be current. */
  constructor(driver: GpuDriver, facts: GpuFacts) {
    this.driver = driver;
    this.name = facts.name;
    this.subgroupSize = facts.subgroupSize;
    this.machine = facts.machine;
    const { call } = driver;
    const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)];
    driver.check(call.memGetInfo(free, total), "reading the GPU's memory");
    this.limits = {
      subgroupSizes: [facts.subgroupSize],
      maxInvocationsPerWorkgroup: facts.maxInvocationsPerWorkgroup,
      maxSharedBytes: facts.maxSharedBytes,
      maxBufferBytes: Number(total[0]),
      maxWorkgroups: NATIVE_GRID.x,
    };
    this.stream = driver.out64((slot) => call.streamCreate(slot, STREAM_NON_BLOCKING), "making a stream");
    const event = (): Handle =>
      driver.out64((slot) => call.eventCreate(slot, EVENT_DEFAULT), "making an event");
    this.#events = [event(), event()];
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Machine code of an emitted kernel. @throws EvolverError where the compiler is missing or refuses it */
  abstract compileSource(ir: KernelIR, emitted: Emitted): CompiledCode;

  /** The most workgroups on x that a launch of the kernel may have. */
  abstract maxGridX(ir: KernelIR): number;

  /** What a loaded kernel needs before its first launch. */
  prepareFunction(_function: Handle, _emitted: Emitted): void {}

  /** Gives back what opening took. */
  protected release(): void {}

  createBuffer<E extends ElementType>(element: E, contents: number | TypedArrayOf<E>): DeviceBuffer<E> {
    checkBufferContents(this, element, contents);
    this.driver.assertUsable();
    const buffer = new GpuBuffer(this, this.driver, element, contents);
    this.#buffers.add(buffer);
    return buffer;
  }

  async compile<P extends Params>(kernel: Kernel<P> | KernelIR): Promise<GpuProgram<P>> {
    const ir = buildFor(kernel, this, this.subgroupSize);
    this.driver.assertUsable();
    return new GpuProgram<P>(this, ir);
  }

  /** Runs what `enqueue` puts on the stream, waits, and gives the time between device events in milliseconds. */
  async time(enqueue: () => void): Promise<number> {
    const { call } = this.driver;
    const [start, end] = this.#events;
    this.driver.check(call.eventRecord(start, this.stream), "recording an event");
    enqueue();
    this.driver.check(call.eventRecord(end, this.stream), "recording an event");
    await this.synchronize();
    const elapsed = new Float32Array(1);
    this.driver.check(call.eventElapsedTime(elapsed, start, end), "reading the time");
    return elapsed[0] as number;
  }

  /** Null where the driver is too old for graphs. */
  capture(enqueue: () => void): LaunchGraph | null {
    const { graphCalls } = this.driver;
    this.driver.assertUsable();
    return graphCalls === null ? null : captureGraph(this.driver, graphCalls, this.stream, enqueue);
  }

  /** Waits for all work, leaving the event loop free where it takes long. */
  async synchronize(): Promise<void> {
    const { call } = this.driver;
    const until = performance.now() + 2;
    for (;;) {
      const code = call.streamQuery(this.stream);
      if (code !== GPU_ERROR.notReady) return this.driver.check(code, "running a kernel");
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
    for (const event of this.#events) call.eventDestroy(event);
    call.streamDestroy(this.stream);
    this.release();
  }
}
