/** What a program needs of the GPU that compiled it. Node only. */

import type { Emitted, KernelIR } from "@evolver/kernel";
import type { DriverDeviceId } from "../../core/device-rows.ts";
import type { BufferOwner } from "../../core/buffer.ts";
import type { CompiledCode } from "./cache.ts";
import type { GpuDriver, Handle } from "./driver.ts";

export interface GpuOwner extends BufferOwner {
  readonly id: DriverDeviceId;
  readonly driver: GpuDriver;
  readonly stream: Handle;
  /** Machine code of an emitted kernel. @throws EvolverError where the compiler is missing or refuses it */
  compileSource(ir: KernelIR, emitted: Emitted): CompiledCode;
  /** The most workgroups on x that a launch of the kernel may have. */
  maxGridX(ir: KernelIR): number;
  /** What a loaded kernel needs before its first launch. */
  prepareFunction(entry: Handle, emitted: Emitted): void;
  /** Runs what `enqueue` puts on the stream, waits, and gives the time between device events in milliseconds. */
  time(enqueue: () => void): Promise<number>;
}
