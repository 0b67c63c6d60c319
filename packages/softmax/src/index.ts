/** Row softmax and layer norm as strategies: the problem, its float64 reference, the kernels and their ladder. */

export * from "./fit.ts";
export * from "./plan.ts";
export * from "./point.ts";
export * from "./problem.ts";
export * from "./reference.ts";
export * from "./rungs/ladder.ts";
export type { RowRung } from "./rungs/rung.ts";
