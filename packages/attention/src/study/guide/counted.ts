/** What the simulator counts of a rung, of its variants, and of the rung that it builds on. */

import type { ClaimResult } from "@evolver/device";
import { claimCounters, runClaims, type ClaimCase } from "@evolver/attention";
import type { Counters, Device } from "@evolver/device";
import type { Subject } from "./subject.ts";

export interface CountedRung {
  readonly claims: readonly ClaimResult[];
  /** Null for the first rung. */
  readonly base: Counters | null;
  readonly own: Counters;
  readonly variants: readonly { readonly name: string; readonly counters: Counters }[];
  /** On the problem that all rungs are compared on. */
  readonly common: Counters;
}

/**
 * @param sim one that counts, with subgroups as wide as the claims are about
 * @param common the problem that all rungs are compared on
 */
export async function countSubject(
  sim: Device,
  { rung, base }: Subject,
  common: ClaimCase,
): Promise<CountedRung> {
  const variants = [];
  for (const [name, point] of Object.entries(rung.variants))
    variants.push({ name, counters: await claimCounters(sim, point, rung.claimCase) });
  return {
    claims: await runClaims(sim, rung),
    base: base === null ? null : await claimCounters(sim, base.point, rung.claimCase),
    own: await claimCounters(sim, rung.point, rung.claimCase),
    variants,
    common: await claimCounters(sim, rung.point, common),
  };
}

type Counter = Exclude<keyof Counters, "memory">;

/** The counters that the guide shows, in its words. */
export const SHOWN: readonly (readonly [counter: Counter, name: string])[] = [
  ["workgroups", "workgroups"],
  ["globalReadBytes", "bytes read from global memory"],
  ["globalSectors", "32-byte sectors of global memory"],
  ["sharedReadBytes", "bytes read from shared memory"],
  ["sharedWriteBytes", "bytes written to shared memory"],
  ["sharedPasses", "passes over the banks"],
  ["sharedConflicts", "of these, bank conflicts"],
  ["barriers", "barriers of a workgroup"],
  ["subgroupBarriers", "barriers of a subgroup"],
  ["asyncCopies", "asynchronous copies started"],
  ["globalAtomics", "atomic operations in global memory"],
  ["flops", "floating-point operations"],
  ["issuedArithmetic", "arithmetic instructions"],
  ["issuedInteger", "of these, of integers only"],
  ["issuedSpecial", "special-function instructions"],
  ["issuedMemory", "memory instructions"],
  ["issuedSubgroup", "shuffles and other subgroup instructions"],
];
