/** The interface of the cpu device's programs, and what they need from their device. */

import type { Params } from "@evolver/kernel";
import type { Program } from "../../core/device.ts";
import type { BufferOwner } from "../../core/buffer.ts";
import type { CompiledKernel } from "../codegen/kernel.ts";
import type { DeviceMemory } from "./memory.ts";
import type { WorkerPool } from "./pool.ts";

/** A program of the cpu device. */
export interface CpuProgram<P extends Params = Params> extends Program<P> {
  /** What is unusual about how the kernel runs here, for people. */
  readonly notes: readonly string[];
}

export interface CompiledModule extends CompiledKernel {
  /** Unique on the device. */
  readonly id: number;
  readonly module: WebAssembly.Module;
}

/** The device, as its programs see it. */
export interface CpuHost extends BufferOwner {
  readonly memory: DeviceMemory;
  readonly pool: WorkerPool;
  /** Runs launches one after another, in the order of the calls. */
  enqueue<T>(launch: () => Promise<T>): Promise<T>;
}
