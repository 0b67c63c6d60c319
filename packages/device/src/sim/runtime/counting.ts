/** Where generated code counts: positions in arrays of doubles, and the arrays' translation into `Counters`. */

import { emptyMemoryCounters } from "../../core/counters.ts";
import type { Counters, MemoryCounters } from "../../core/counters.ts";

const TOTALS = [
  "workgroups",
  "invocations",
  "barriers",
  "subgroupBarriers",
  "asyncCopies",
  "branches",
  "divergentBranches",
  "globalAtomics",
  "sharedAtomics",
  "flops",
  "specials",
  "issuedArithmetic",
  "issuedInteger",
  "issuedSpecial",
  "issuedMemory",
  "issuedSubgroup",
] as const satisfies readonly (keyof Counters)[];

const MEMORY = Object.keys(emptyMemoryCounters()) as FieldName[];

export type TotalName = (typeof TOTALS)[number];
export type FieldName = keyof MemoryCounters;

/** The position of a total. */
export const total = (name: TotalName): number => TOTALS.indexOf(name);

/** The position of a memory's counter. */
const field = (name: FieldName): number => MEMORY.indexOf(name);

/** The name that generated code has for the position of a counter: ISSUED_MEMORY. */
export const positionName = (name: TotalName | FieldName): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** Those names with their positions. */
export const positions = (): [string, number][] =>
  [...TOTALS, ...MEMORY].map((name) => [
    positionName(name),
    (TOTALS as readonly string[]).includes(name) ? total(name as TotalName) : field(name as FieldName),
  ]);

export const newTotals = (): Float64Array => new Float64Array(TOTALS.length);
export const newFields = (): Float64Array => new Float64Array(MEMORY.length);

export interface CountedMemory {
  readonly space: "global" | "shared";
  readonly name: string;
  readonly fields: Float64Array;
}

export function toCounters(totals: Float64Array, memories: readonly CountedMemory[]): Counters {
  const memory: Record<string, MemoryCounters> = {};
  const sum = (space: CountedMemory["space"], ...names: FieldName[]): number =>
    memories
      .filter((counted) => counted.space === space)
      .reduce(
        (all, { fields }) => all + names.reduce((part, name) => part + (fields[field(name)] as number), 0),
        0,
      );
  for (const { name, fields } of memories) {
    const entry = emptyMemoryCounters();
    for (const [i, key] of MEMORY.entries()) entry[key] = fields[i] as number;
    memory[name] = entry;
  }
  const all = Object.fromEntries(TOTALS.map((name, i) => [name, totals[i]])) as Record<TotalName, number>;
  return {
    ...all,
    globalReadBytes: sum("global", "readBytes"),
    globalWriteBytes: sum("global", "writeBytes"),
    globalSectors: sum("global", "readSectors", "writeSectors", "atomicSectors"),
    sharedReadBytes: sum("shared", "readBytes"),
    sharedWriteBytes: sum("shared", "writeBytes"),
    sharedPasses: sum("shared", "passes"),
    sharedConflicts: sum("shared", "conflicts"),
    memory,
  };
}
