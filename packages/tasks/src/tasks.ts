/** The registry of tasks: one line each. A task's file loads when it is asked for. */

/** What a task is about. */
export type TaskKind =
  | "elementwise"
  | "reduction"
  | "matrix product"
  | "convolution"
  | "pooling"
  | "scan"
  | "sort"
  | "stencil"
  | "normalisation"
  | "loss"
  | "gather";

export interface Task {
  /** The name of its file, without the ending. */
  readonly id: string;
  readonly kind: TaskKind;
  /** The kernel or plan that can be tuned. */
  readonly load: () => Promise<object>;
}

export const tasks: readonly Task[] = [
  // Elementwise

  // Reductions

  // Matrix products

  // Convolutions and pooling

  // Scans and sorts

  // Stencils

  // Normalisations

  // Losses and gathers
];
