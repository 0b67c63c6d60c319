/** The kernels of flash attention: points of the strategy space, and plans made from them. */

export type { Geometry } from "./geometry.ts";
export { geometryOf } from "./measure.ts";
export { planAttention, type AttentionPlan, type PlanOptions } from "./plan.ts";
export { checkPoint, DEFAULT_LIMITS, fitPoint, type WorkgroupLimits } from "./fit.ts";
export { axes, type FlashPoint } from "./space.ts";
export type { FlashParams } from "./params.ts";
export type { Scalars } from "./scalars.ts";
export { longestRow, totalsFor } from "./sums.ts";
