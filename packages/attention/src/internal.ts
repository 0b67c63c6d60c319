/**
 * Parts that this package's own tests and benchmarks look at. Not for users: nothing here is promised to stay.
 */

export { preferredPoints } from "./choose.ts";
export { schedules } from "./flash/axes/schedule/index.ts";
export type { QueueSymbols } from "./flash/params.ts";
export { queueParams, scalarParams } from "./flash/scalars.ts";
