/** What a test wants of counters: numbers, or bounds, by the counters' names. */

import { EvolverError } from "@evolver/base";
import {
  atLeast,
  atMost,
  emptyMemoryCounters,
  exactly,
  relationWords,
  type ClaimCheck,
  type Counters,
  type MemoryCounters,
} from "@evolver/device";

/** A counter's value, or bounds of it. */
export type Bound = number | { readonly atLeast?: number; readonly atMost?: number };

/** Of one buffer or shared array. */
export type WantedMemory = { readonly [Name in keyof MemoryCounters]?: Bound };

/** By the names of counters; `memory` has those of each buffer and shared array, by its name in the kernel. */
export type WantedCounters = {
  readonly [Name in Exclude<keyof Counters, "memory">]?: Bound;
} & { readonly memory?: Readonly<Record<string, WantedMemory>> };

/** Every counter that can be named; the compiler sees to it that there are no others, and none is missing. */
const NAMES: Readonly<Record<Exclude<keyof Counters, "memory">, true>> = {
  workgroups: true,
  invocations: true,
  globalReadBytes: true,
  globalWriteBytes: true,
  globalSectors: true,
  sharedReadBytes: true,
  sharedWriteBytes: true,
  sharedPasses: true,
  sharedConflicts: true,
  barriers: true,
  subgroupBarriers: true,
  asyncCopies: true,
  branches: true,
  divergentBranches: true,
  globalAtomics: true,
  sharedAtomics: true,
  flops: true,
  specials: true,
  issuedArithmetic: true,
  issuedInteger: true,
  issuedSpecial: true,
  issuedMemory: true,
  issuedSubgroup: true,
};

/** A counter by its path, such as `memory.tile.conflicts`, and what is wanted of it. */
interface WantedEntry {
  readonly path: string;
  readonly bound: Bound;
  readonly valueIn: (counters: Counters) => number;
}

/** @throws EvolverError UNKNOWN_COUNTER, INVALID_BOUND, NOTHING_WANTED */
export function checkWanted(wanted: WantedCounters): void {
  const entries = entriesOf(wanted);
  for (const { path, bound } of entries) relationsOf(path, bound);
  if (entries.length > 0) return;
  throw new EvolverError("NOTHING_WANTED", "toHave() is given no counter, so that it would always hold", {
    hint: "name one: toHave({ sharedConflicts: 0 })",
  });
}

export interface Compared extends ClaimCheck {
  readonly path: string;
}

/**
 * Each bound beside what was counted.
 *
 * @throws EvolverError UNKNOWN_COUNTER for a memory that the kernel has not
 */
export function compared(counters: Counters, wanted: WantedCounters): Compared[] {
  return entriesOf(wanted).flatMap(({ path, bound, valueIn }) => {
    const value = valueIn(counters);
    return relationsOf(path, bound).map(([check, limit]) => ({ path, ...check(value, limit) }));
  });
}

export const describeCompared = ({ path, value, relation, limit }: Compared): string =>
  `${path}: counted ${value}, wanted ${relationWords[relation]} ${limit}`;

function entriesOf({ memory = {}, ...plain }: WantedCounters): WantedEntry[] {
  const entries = Object.entries(plain).flatMap(([name, bound]): WantedEntry[] => {
    if (!Object.hasOwn(NAMES, name)) throw unknown(name, Object.keys(NAMES));
    if (bound === undefined) return [];
    return [{ path: name, bound, valueIn: (counters) => counters[name as keyof typeof NAMES] }];
  });
  const known = Object.keys(emptyMemoryCounters());
  for (const [owner, bounds] of Object.entries(memory)) {
    for (const [name, bound] of Object.entries(bounds)) {
      const path = `memory.${owner}.${name}`;
      if (!known.includes(name)) throw unknown(path, known);
      if (bound === undefined) continue;
      const valueIn = (counters: Counters): number => {
        const own = Object.hasOwn(counters.memory, owner) ? counters.memory[owner] : undefined;
        if (own === undefined) throw unknown(`memory.${owner}`, Object.keys(counters.memory));
        return own[name as keyof MemoryCounters];
      };
      entries.push({ path, bound, valueIn });
    }
  }
  return entries;
}

function unknown(path: string, known: readonly string[]): EvolverError {
  return new EvolverError("UNKNOWN_COUNTER", `there is no counter ${path}`, {
    hint: `there are ${known.join(", ") || "none"}`,
  });
}

type Relation = readonly [check: (value: number, limit: number) => ClaimCheck, limit: number];

const BOUNDS: Readonly<Record<string, Relation[0]>> = { atLeast, atMost };

function relationsOf(path: string, bound: unknown): readonly Relation[] {
  if (typeof bound === "number" && !Number.isNaN(bound)) return [[exactly, bound]];
  const given = typeof bound === "object" && bound !== null ? Object.entries(bound) : [];
  const bounds = given.filter(([, limit]) => limit !== undefined);
  const isValid = bounds.every(
    ([name, limit]) => Object.hasOwn(BOUNDS, name) && typeof limit === "number" && !Number.isNaN(limit),
  );
  if (bounds.length > 0 && isValid)
    return bounds.map(([name, limit]): Relation => [BOUNDS[name] as Relation[0], limit as number]);
  throw new EvolverError("INVALID_BOUND", `${path} cannot be compared with ${JSON.stringify(bound)}`, {
    hint: "give a number, { atMost: 4 }, { atLeast: 1 } or both bounds",
  });
}
