/** What the simulator counts of a rung, of its variants, and of the rung that it builds on. */

import { claimCounters, runClaims, type ClaimCase } from "@evolver/attention";
import type { Device } from "@evolver/device";
import type { CountedRung } from "@evolver/guide";
import type { Subject } from "./subject.ts";

export interface CountedSubject {
  readonly subject: Subject;
  readonly counted: CountedRung;
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
