/**
 * Parts that this package's own tests and benchmarks look at. Not for users: nothing here is promised to stay.
 */

export type { Test, TestPlan } from "./microbench/benchmark.ts";
export { tests } from "./microbench/benchmarks/index.ts";
export { type Point, findKnee, findPlateaus } from "./microbench/curves.ts";
export { randomise } from "./microbench/kernels.ts";
export { setupOf } from "./microbench/run.ts";
export { type Outcome, Runner } from "./microbench/runner.ts";
export type { CaseSpec } from "./microbench/spec.ts";
