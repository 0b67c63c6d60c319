/** What is known of each target that kernels are emitted for, one row each. How a kernel becomes its text is emit.ts's. */

import type { EmitTarget } from "./core/result.ts";

export interface TargetRow {
  /** For people. */
  readonly title: string;
  /** Of files with such source, without a dot. */
  readonly extension: string;
  /** Widths of subgroups that it has, where it has not all. */
  readonly subgroupSizes: readonly number[] | null;
  /** Whether subgroups of a workgroup may wait for each other: what to build a kernel with for it. See BuildOptions. */
  readonly forwardProgress: boolean;
}

export const emitTargets = Object.freeze({
  js: { title: "JavaScript", extension: "js", subgroupSizes: null, forwardProgress: false },
  wgsl: { title: "WGSL", extension: "wgsl", subgroupSizes: null, forwardProgress: false },
  cuda: { title: "CUDA C++", extension: "cu", subgroupSizes: [32], forwardProgress: true },
  hip: { title: "HIP C++", extension: "hip", subgroupSizes: [32, 64], forwardProgress: true },
} as const satisfies Record<EmitTarget, TargetRow>);

export const emitTargetNames: readonly EmitTarget[] = Object.freeze(Object.keys(emitTargets) as EmitTarget[]);
