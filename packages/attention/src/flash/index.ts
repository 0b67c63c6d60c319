/** The kernels of flash attention: points of the strategy space, and plans made from them. */

export { createScratch } from "./scratch.ts";
export { geometryOf, type Geometry } from "./geometry.ts";
export { planAttention, type AttentionPlan, type PlanOptions } from "./plan.ts";
export {
  axes,
  checkPoint,
  DEFAULT_LIMITS,
  fitPoint,
  type FlashPoint,
  type WorkgroupLimits,
} from "./point.ts";
export type { FlashParams } from "./params.ts";
export type { Scalars } from "./scalars.ts";
