/**
 * What a microbenchmark is made of, as data: buffers, launches, and cases that say what is timed, how much work it is
 * and which kernel judges its results on the device. A runner (runner.ts) measures cases on a device; an emitter
 * (suite.ts) writes the same cases as a C++ program.
 */

import { assertNever } from "@evolver/base";
import type { Kernel } from "@evolver/kernel";

/** A buffer that cases of a test share by its name. */
export interface BufferSpec {
  readonly name: string;
  readonly element: "f32" | "u32";
  /** In elements. */
  readonly length: number;
}

/** A number of workgroups: fixed, or so many for each multiprocessor of the machine. */
export type Count = number | { readonly perMultiprocessor: number };

/**
 * Parameters that the runner provides, by their names: `iterations` (u32, of the timed loop), `launches` (u32,
 * timed launches since the case's `before`) and `verdict` (the buffer that checks write).
 */
export interface LaunchSpec {
  readonly kernel: Kernel;
  readonly workgroups: Count;
  /** A value for each parameter of the kernel, but for those that the runner provides. */
  readonly args: Readonly<Record<string, number | BufferSpec>>;
}

/** What a case's work is counted in, and so what its result is. */
export type Unit = "GB/s" | "GFLOP/s" | "Gop/s" | "ns" | "per µs" | "µs";

export interface CaseSpec {
  readonly id: string;
  /** For tables. */
  readonly name: string;
  readonly unit: Unit;
  readonly launch: LaunchSpec;
  /** Launches that reset what the timed one writes, so that stale results are never taken for its own. */
  readonly before: readonly LaunchSpec[];
  /** Counts what is wrong in the results. */
  readonly check: LaunchSpec;
  /** Bytes or operations in a launch, or in one iteration where there is a loop. */
  readonly work: number;
  /** Whether that is the work of each workgroup (the default), or of all of them whatever their number. */
  readonly whole?: boolean;
  /** The kernel has a loop of `iterations`, at most so many (for results that stay exact). */
  readonly iterations?: { readonly max: number; readonly min?: number };
  /** Launches in a row that are timed as one; 1 if absent. */
  readonly batch?: number;
  /** Timed by the host's clock until the results are there, instead of by the device's. */
  readonly wall?: boolean;
  /** Repeated without other cases in between, because it depends on what caches hold. */
  readonly alone?: boolean;
  /** For tables and plots. */
  readonly settings: Readonly<Record<string, number | string>>;
}

/** The machine as far as tests need to know it when they lay out their cases. */
export interface Setup {
  readonly subgroup: number;
  /** "tiny": results and counters only. "small": a processor. "full": a GPU. */
  readonly size: "tiny" | "small" | "full";
  readonly quick: boolean;
  readonly maxInvocations: number;
  readonly maxSharedBytes: number;
  readonly maxBufferBytes: number;
  /** Whether subgroups of a workgroup may wait for each other. */
  readonly forwardProgress: boolean;
}

/** Converts work per second into a result in the unit. */
export function inUnit(unit: Unit, workPerSecond: number): number {
  switch (unit) {
    case "GB/s":
    case "GFLOP/s":
    case "Gop/s":
      return workPerSecond / 1e9;
    case "per µs":
      return workPerSecond / 1e6;
    case "ns":
      return 1e9 / workPerSecond;
    case "µs":
      return 1e6 / workPerSecond;
    default:
      return assertNever(unit, "unit");
  }
}

/** Buffers that hold a result for each invocation are laid out for so many multiprocessors; more are left idle. */
export const MAX_MULTIPROCESSORS = 512;

export const workgroupsOf = (count: Count, multiprocessors: number): number =>
  typeof count === "number" ? count : count.perMultiprocessor * multiprocessors;
