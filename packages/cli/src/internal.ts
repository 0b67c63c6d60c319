/**
 * Parts that this package's own tests and benchmarks look at. Not for users: nothing here is promised to stay.
 */

export { benchWarnings } from "./benchWarnings.ts";
export { type CheckLaunch, exampleLaunch } from "./exampleLaunch.ts";
export { table } from "./output.ts";
export { type Progress, openProgress } from "./progress.ts";
