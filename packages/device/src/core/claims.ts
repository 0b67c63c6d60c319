/**
 * Claims: sentences with a number, which the simulator's counters prove. The claims of a rung say what it changes.
 */

import type { Counters, MemoryCounters } from "./counters.ts";

/** The counters of a rung by its id, or of a variant of it by another name. */
export type ClaimContext = (name: string) => Counters;

/** How a claim's value has to stand to its limit. */
export type ClaimRelation = "=" | "≤" | "≥";

/** As in "exactly 4", "at most 1/7". */
export const relationWords: Readonly<Record<ClaimRelation, string>> = Object.freeze({
  "=": "exactly",
  "≤": "at most",
  "≥": "at least",
});

/** What a claim counted, beside what it says. */
export interface ClaimCheck {
  readonly value: number;
  readonly relation: ClaimRelation;
  readonly limit: number;
  readonly holds: boolean;
}

/** A sentence about a kernel that its counters prove. */
export interface Claim {
  /** One sentence with the number in it. */
  readonly text: string;
  check(counters: ClaimContext): ClaimCheck;
}

/** A claim that was checked. */
export interface ClaimResult extends ClaimCheck {
  readonly text: string;
}

/** Holds where the value is at most the limit. */
export const atMost = (value: number, limit: number): ClaimCheck => ({
  value,
  relation: "≤",
  limit,
  holds: value <= limit,
});
/** Holds where the value is at least the limit. */
export const atLeast = (value: number, limit: number): ClaimCheck => ({
  value,
  relation: "≥",
  limit,
  holds: value >= limit,
});
/** Holds where the value is the limit. */
export const exactly = (value: number, limit: number): ClaimCheck => ({
  value,
  relation: "=",
  limit,
  holds: value === limit,
});

/** The entry of a buffer ("k", "v") or shared array ("k_tile", "v_tile"). Throws a RangeError where there is none. */
export function memoryOf(counters: Counters, name: string): MemoryCounters {
  const memory = counters.memory[name];
  if (memory === undefined) throw new RangeError(`the kernel has no memory called ${name}`);
  return memory;
}

/**
 * Checks claims in their order.
 *
 * @param count gives the counters of a rung or variant. Called only for those that a claim asks for: most are about few
 */
export async function checkClaims(
  claims: readonly Claim[],
  count: (name: string) => Promise<Counters>,
): Promise<ClaimResult[]> {
  const counted = new Map<string, Counters>();
  const results: ClaimResult[] = [];
  for (const claim of claims) {
    let checked = tryClaim(claim, counted);
    while ("missing" in checked) {
      counted.set(checked.missing, await count(checked.missing));
      checked = tryClaim(claim, counted);
    }
    results.push(checked);
  }
  return results;
}

/** The result of a claim, or what has to be counted first. */
function tryClaim(
  claim: Claim,
  counted: ReadonlyMap<string, Counters>,
): ClaimResult | { readonly missing: string } {
  let missing: string | null = null;
  try {
    const result = claim.check((name) => {
      const counters = counted.get(name);
      if (counters !== undefined) return counters;
      missing = name;
      throw new RangeError(`${name} has not been counted`);
    });
    return { text: claim.text, ...result };
  } catch (error) {
    if (missing === null) throw error;
    return { missing };
  }
}
