/** Flash attention as strategies: the problem, its float64 reference, the kernels and their ladder. */

/** Draws data, as `randomInputs` does. */
export { Random } from "@evolver/base";
export * from "./attention.ts";
export { attentionPlan, type AttentionBufferTypes, type AttentionPlanOptions } from "./attention-plan.ts";
export * from "./inputs.ts";
export * from "./limits.ts";
export * from "./problem.ts";
export { prepareAttention, type AttentionBuffers, type PreparedAttention } from "./prepare.ts";
export * from "./reference.ts";
export * from "./safetensors.ts";
export * from "./tensor.ts";
export * from "./tolerance.ts";
export * from "./validate.ts";
export * from "./flash/index.ts";
export * from "./rungs/ladder.ts";
