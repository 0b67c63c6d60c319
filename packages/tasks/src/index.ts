/** Kernels of everyday kinds, each of which the lab can verify, measure and improve. */

export { tasks, type Task, type TaskKind } from "./tasks.ts";

// Elementwise
export { biasGelu } from "./bias-gelu.ts";
export { swiglu } from "./swiglu.ts";
export { adam } from "./adam.ts";

// Reductions
export { sum } from "./sum.ts";
export { columnMean } from "./column-mean.ts";
export { argmaxRows } from "./argmax-rows.ts";

// Matrix products
export { matmul } from "./matmul.ts";
export { batchedMatmul } from "./batched-matmul.ts";
export { matvec } from "./matvec.ts";

// Convolutions and pooling
export { conv2d } from "./conv2d.ts";
export { conv1dDepthwise } from "./conv1d-depthwise.ts";
export { depthwiseConv2d } from "./depthwise-conv2d.ts";
export { maxPool } from "./max-pool.ts";

// Scans and sorts
export { prefixSum } from "./prefix-sum.ts";
export { cumsumRows } from "./cumsum-rows.ts";
export { sortRows } from "./sort-rows.ts";

// Stencils
export { laplace2d } from "./laplace-2d.ts";
export { heat3d } from "./heat-3d.ts";

// Normalisations
export { layerNorm } from "./layer-norm.ts";
export { rmsNorm } from "./rms-norm.ts";
export { logSoftmax } from "./log-softmax.ts";

// Losses and gathers
export { crossEntropy } from "./cross-entropy.ts";
export { huberLoss } from "./huber-loss.ts";
export { embedding } from "./embedding.ts";
