/** The kernels of flash attention: points of the strategy space, and plans made from them. */

export { planAttention, type AttentionPlan, type PlanOptions } from "./plan.ts";
export { axes, checkPoint, fitPoint, MAX_SHARED_BYTES, MAX_WORKGROUP, type FlashPoint } from "./point.ts";
export type { FlashParams } from "./kernel.ts";
export type { Scalars } from "./scalars.ts";
