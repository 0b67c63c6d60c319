/** Flash attention as strategies: the problem, its float64 reference, the kernels and their ladder. */

export * from "./problem.ts";
