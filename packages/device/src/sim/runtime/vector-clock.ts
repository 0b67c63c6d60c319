/** Vector clocks as data: what an invocation knows of what others have done. They never change, so that lanes share them. */

import type { SparseTimes } from "./sparse-times.ts";
import type { Times } from "./times.ts";

export interface VectorClock {
  /** Of the invocation's own workgroup. */
  readonly times: Times;
  /** The least of `times` in each chunk of lanes (chunkLanes). */
  readonly least: Times;
  /** Of other workgroups, of which only a release can speak. */
  readonly others: SparseTimes;
}

/** Lanes whose reads of an element are remembered together, as bits: a subgroup, or 32 lanes of a larger one. */
export const chunkLanes = (width: number): number => Math.min(width, 32);
