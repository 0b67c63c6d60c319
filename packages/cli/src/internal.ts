/**
 * Parts that this package's own tests and benchmarks look at. Not for users: nothing here is promised to stay.
 */

export { benchWarnings } from "./bench-warnings.ts";
export { table } from "./output.ts";
export { type Progress, openProgress } from "./progress.ts";
export { estimateWork, longCheck, longLadder } from "./estimate.ts";
