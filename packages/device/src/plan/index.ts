export { bindPlan } from "./bind.ts";
export { bitsOf, nans } from "./bits.ts";
export type * from "./bound.ts";
export { buildPlan, type LaunchOptions, type PlanArgs, type PlanBuilder } from "./build.ts";
export { checkPlan } from "./check.ts";
export * from "./plan.ts";
export { programFor } from "./programs.ts";
export * from "./rungs.ts";
export {
  baselineOf,
  tunable,
  TunablePlan,
  type Problem,
  type Tunable,
  type TunableOptions,
} from "./tunable.ts";
export { tunableOf } from "./tunable-kernel.ts";
export { parsePlan, planHash, printPlan } from "./wire.ts";
