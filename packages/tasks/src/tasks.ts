/** The registry of tasks: one line each. A task's file loads when it is asked for. */

import type { TunablePlan } from "@evolver/device";
import type { Kernel } from "@evolver/kernel";

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
  readonly load: () => Promise<Kernel | TunablePlan>;
}

export const tasks: readonly Task[] = [
  // Elementwise
  { id: "bias-gelu", kind: "elementwise", load: async () => (await import("./bias-gelu.ts")).biasGelu },
  { id: "swiglu", kind: "elementwise", load: async () => (await import("./swiglu.ts")).swiglu },
  { id: "adam", kind: "elementwise", load: async () => (await import("./adam.ts")).adam },

  // Reductions
  { id: "sum", kind: "reduction", load: async () => (await import("./sum.ts")).sum },
  { id: "column-mean", kind: "reduction", load: async () => (await import("./column-mean.ts")).columnMean },
  { id: "argmax-rows", kind: "reduction", load: async () => (await import("./argmax-rows.ts")).argmaxRows },

  // Matrix products
  { id: "matmul", kind: "matrix product", load: async () => (await import("./matmul.ts")).matmul },
  {
    id: "batched-matmul",
    kind: "matrix product",
    load: async () => (await import("./batched-matmul.ts")).batchedMatmul,
  },
  { id: "matvec", kind: "matrix product", load: async () => (await import("./matvec.ts")).matvec },

  // Convolutions and pooling
  { id: "conv2d", kind: "convolution", load: async () => (await import("./conv2d.ts")).conv2d },
  {
    id: "conv1d-depthwise",
    kind: "convolution",
    load: async () => (await import("./conv1d-depthwise.ts")).conv1dDepthwise,
  },
  {
    id: "depthwise-conv2d",
    kind: "convolution",
    load: async () => (await import("./depthwise-conv2d.ts")).depthwiseConv2d,
  },
  { id: "max-pool", kind: "pooling", load: async () => (await import("./max-pool.ts")).maxPool },

  // Scans and sorts
  { id: "prefix-sum", kind: "scan", load: async () => (await import("./prefix-sum.ts")).prefixSum },
  { id: "cumsum-rows", kind: "scan", load: async () => (await import("./cumsum-rows.ts")).cumsumRows },
  { id: "sort-rows", kind: "sort", load: async () => (await import("./sort-rows.ts")).sortRows },

  // Stencils
  { id: "laplace-2d", kind: "stencil", load: async () => (await import("./laplace-2d.ts")).laplace2d },
  { id: "heat-3d", kind: "stencil", load: async () => (await import("./heat-3d.ts")).heat3d },

  // Normalisations
  { id: "layer-norm", kind: "normalisation", load: async () => (await import("./layer-norm.ts")).layerNorm },
  { id: "rms-norm", kind: "normalisation", load: async () => (await import("./rms-norm.ts")).rmsNorm },
  {
    id: "log-softmax",
    kind: "normalisation",
    load: async () => (await import("./log-softmax.ts")).logSoftmax,
  },

  // Losses and gathers
  { id: "cross-entropy", kind: "loss", load: async () => (await import("./cross-entropy.ts")).crossEntropy },
  { id: "huber-loss", kind: "loss", load: async () => (await import("./huber-loss.ts")).huberLoss },
  { id: "embedding", kind: "gather", load: async () => (await import("./embedding.ts")).embedding },
];
