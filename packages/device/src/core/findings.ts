/** What the simulator can find wrong with a launch. */

import type { SourceLocation } from "@evolver/base";

/** What kinds of mistakes there are. */
export type FindingKind =
  | "data-race"
  | "out-of-bounds"
  | "misaligned-access"
  | "uninitialised-shared-memory"
  /** An element of a buffer that was created by length and that nobody has written. */
  | "uninitialised-global-memory"
  /** A launch stops short of an extent that it was given, and elements of an output stay unwritten. */
  | "output-not-written"
  | "uninitialised-variable"
  | "divergent-barrier"
  | "divergent-subgroup-operation"
  | "inactive-lane-read"
  /** A copy's destination is accessed before the copy was awaited, or the copy is never awaited. */
  | "copy-in-flight"
  /** The copies of a group, or of a phase of a phase barrier, are not of the size that was declared. */
  | "copy-bytes"
  | "deadlock"
  /** Schedules leave different results, and nothing decides which (explore). */
  | "schedule-dependent-result"
  | "invalid-loop-step"
  | "division-by-zero";

/** One side of a finding: who did what where. */
export interface FindingAccess {
  /** "read", "write", "atomic", "barrier", "copy", "arrive", "wait", … */
  readonly action: string;
  readonly location: SourceLocation;
  /** Local indices in the workgroup, ascending. */
  readonly lanes: readonly number[];
  /** [x, y, z] of the workgroup. */
  readonly workgroup: readonly [number, number, number];
}

/** Something that is wrong with a kernel or its launch. */
export interface Finding {
  readonly kind: FindingKind;
  /** One sentence with names and indices. */
  readonly message: string;
  /** The access that exposed it, then the other one if there are two. */
  readonly accesses: readonly FindingAccess[];
  /** How often the same finding (kind and lines) occurred. */
  readonly count: number;
}
