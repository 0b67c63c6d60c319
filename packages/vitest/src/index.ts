/** Claims about kernels as tests: that a kernel is clean, and what its counters are. For Vitest; no GPU is needed. */

export { expectClean, type CleanOptions } from "./expect-clean.ts";
export { expectCounters, type CountersExpectation, type CountersOptions } from "./expect-counters.ts";
export type { RunOptions } from "./run.ts";
export type { Bound, WantedCounters, WantedMemory } from "./wanted.ts";
