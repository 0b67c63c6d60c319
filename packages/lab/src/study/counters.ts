/** Counters of a run, and sums of them. */

import { EvolverError } from "@evolver/base";
import type { Counters, RunResult } from "@evolver/device";

/** @throws EvolverError NO_COUNTERS where the device that ran it counts nothing */
export function countersOf(result: RunResult | undefined): Counters {
  if (result?.counters) return result.counters;
  throw new EvolverError("NO_COUNTERS", "the device counts nothing; counters come from `sim`");
}

/** The sum of both, each times its factor. */
export function mixCounters(a: Counters, b: Counters, ofA: number, ofB: number): Counters {
  return mix(a, b, ofA, ofB);
}

function mix<T extends object>(a: T, b: T, ofA: number, ofB: number): T {
  return Object.fromEntries(
    Object.entries(a).map(([name, value]: [string, number | object]) => {
      const other = b[name as keyof T] as number & object;
      return [name, typeof value === "number" ? ofA * value + ofB * other : mix(value, other, ofA, ofB)];
    }),
  ) as T;
}
