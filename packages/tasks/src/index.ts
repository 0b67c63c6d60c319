/** Kernels of everyday kinds, each of which the lab can verify, measure and improve. */

export { tasks, type Task, type TaskKind } from "./tasks.ts";

// Elementwise

// Reductions

// Matrix products

// Convolutions and pooling

// Scans and sorts

// Stencils

// Normalisations

// Losses and gathers
