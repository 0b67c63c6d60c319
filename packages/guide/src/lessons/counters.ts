/** The counters that a guide shows, in its words. */

import type { Counters } from "@evolver/device";

type Counter = Exclude<keyof Counters, "memory">;

export const SHOWN: readonly (readonly [counter: Counter, name: string])[] = [
  ["workgroups", "workgroups"],
  ["globalReadBytes", "bytes read from global memory"],
  ["globalSectors", "32-byte sectors of global memory"],
  ["sharedReadBytes", "bytes read from shared memory"],
  ["sharedWriteBytes", "bytes written to shared memory"],
  ["sharedPasses", "passes over the banks"],
  ["sharedConflicts", "bank conflicts"],
  ["barriers", "barriers of a workgroup"],
  ["asyncCopies", "asynchronous copies started"],
  ["globalAtomics", "atomic operations in global memory"],
  ["flops", "floating-point operations"],
  ["issuedArithmetic", "arithmetic instructions"],
  ["issuedSpecial", "special-function instructions"],
  ["issuedMemory", "memory instructions"],
  ["issuedSubgroup", "shuffles and other subgroup instructions"],
];

const OF_THE_FIRST: readonly Counter[] = [
  "globalReadBytes",
  "globalSectors",
  "sharedPasses",
  "barriers",
  "flops",
];

/** Those shown of the first rung, which has none to compare with. */
export const FIRST = SHOWN.filter(([counter]) => OF_THE_FIRST.includes(counter));
