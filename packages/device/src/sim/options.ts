/** What a simulator can be asked for. */

import { EvolverError } from "@evolver/base";
import { emitTargets, MAX_INVOCATIONS, SUBGROUP_SIZES } from "@evolver/kernel";
import type { DeviceLimits } from "../core/device.ts";
import { formatTrace, type Trace } from "../core/traces.ts";
import type { LaunchProgress } from "./pace.ts";

/** What `openDevice("sim", …)` takes. Bad values are refused with INVALID_OPTION. */
export interface SimOptions {
  /** Subgroup width that kernels are built for: 4, 8, 16, 32 (default), 64 or 128. */
  readonly subgroup?: number;
  /** Permutes the order of subgroups, and stops them at more places; the same seed gives the same run. */
  readonly seed?: number;
  /** Look for races and the other findings (default). Accesses outside memory are skipped in any case. */
  readonly checks?: boolean;
  /** Count (default). */
  readonly counters?: boolean;
  /** Whether a launch with findings throws a SimulationError (default) or returns them. */
  readonly onFinding?: "throw" | "collect";
  /** At most so many different findings are kept; 100 by default. */
  readonly maxFindings?: number;
  /** Loop iterations of a subgroup in one workgroup after which it counts as endless; 100 million by default. */
  readonly maxSteps?: number;
  /** Gets what `gpu.trace` shows, after the launch; without it, console.log prints a line for each. */
  readonly onTrace?: (trace: Trace) => void;
  /** At most so many traces of a launch are kept, and one line says how many there were beyond; 1000 by default. */
  readonly maxTraces?: number;
  /**
   * Whether the code that runs has comments with the lines of TypeScript, and a name that debuggers show, for breakpoints
   * in it. Kernels then take longer to compile.
   */
  readonly debug?: boolean;
  /** Stops a launch that is under way: it throws a SimulationAborted, with what was found. */
  readonly signal?: AbortSignal;
  /** Told about twenty times per second how far a launch is. */
  readonly onProgress?: (progress: LaunchProgress) => void;
  /** Whether programs keep which of their blocks ran and what atomic operations returned (SimProgram.observed). */
  readonly observe?: boolean;
}

/** What has no default. */
type Optional = "seed" | "signal" | "onProgress";

/** The options with their defaults. */
export type ResolvedSimOptions = Required<Omit<SimOptions, Optional>> & Pick<SimOptions, Optional>;

export const simLimits: DeviceLimits = Object.freeze({
  subgroupSizes: SUBGROUP_SIZES,
  maxInvocationsPerWorkgroup: MAX_INVOCATIONS,
  // As much as any target has, so that what runs somewhere can be checked here.
  maxSharedBytes: emitTargets.cuda.workgroup.sharedBytes,
  maxBufferBytes: 2 ** 32,
  maxWorkgroups: 2 ** 31 - 1,
});

/** Fills in defaults. Throws INVALID_OPTION. */
export function resolveOptions(options: SimOptions): ResolvedSimOptions {
  const { subgroup = 32, seed, checks = true, counters = true, onFinding = "throw" } = options;
  const { maxFindings = 100, maxSteps = 100_000_000, debug = false, observe = false } = options;
  const { signal, onProgress } = options;
  const { maxTraces = 1000, onTrace = (trace: Trace): void => console.log(formatTrace(trace)) } = options;
  const check = (holds: boolean, what: string, hint: string): void => {
    if (!holds) throw new EvolverError("INVALID_OPTION", what, { hint });
  };
  check(
    simLimits.subgroupSizes.includes(subgroup),
    `sim has no subgroups of ${subgroup}`,
    `use one of ${simLimits.subgroupSizes.join(", ")}`,
  );
  check(
    seed === undefined || Number.isSafeInteger(seed),
    `a seed is a whole number, not ${seed}`,
    "or leave it out for a fixed order",
  );
  check(
    onFinding === "throw" || onFinding === "collect",
    `onFinding is not ${String(onFinding)}`,
    'use "throw" or "collect"',
  );
  check(
    Number.isInteger(maxFindings) && maxFindings > 0,
    `maxFindings is a positive whole number, not ${maxFindings}`,
    "100 is the default",
  );
  check(
    Number.isInteger(maxSteps) && maxSteps > 0,
    `maxSteps is a positive whole number, not ${maxSteps}`,
    "100 million is the default",
  );
  check(
    Number.isInteger(maxTraces) && maxTraces >= 0,
    `maxTraces is a whole number from 0, not ${maxTraces}`,
    "1000 is the default",
  );
  return {
    subgroup,
    onTrace,
    maxTraces,
    checks,
    counters,
    onFinding,
    maxFindings,
    maxSteps,
    debug,
    observe,
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress }),
    ...(seed === undefined ? {} : { seed }),
  };
}
