/** The facts about each target that kernels are emitted for, one row each. emit.ts does the emitting. */

import { MAX_INVOCATIONS } from "../ir/limits.ts";

/** What is known of a target. */
export interface TargetRow {
  /** For people. */
  readonly title: string;
  /** Of files with such source, without a dot. */
  readonly extension: string;
  /** Widths of subgroups that it has, where it has not all. */
  readonly subgroupSizes: readonly number[] | null;
  /** Whether subgroups of a workgroup may wait for each other: what to build a kernel with for it. See BuildOptions. */
  readonly forwardProgress: boolean;
  /** What it does with arithmetic of floats that the language does not: null where that is nothing. */
  readonly arithmetic: string | null;
  /** Who gets on while an invocation waits for others in a loop. */
  readonly waits: string;
  /** What a workgroup has of the target wherever it runs, as far as can be said without the device. */
  readonly workgroup: { readonly invocations: number; readonly sharedBytes: number };
}

const KIB = 1024;

/** Of compute capability 9.0, the most that any target gives; smaller GPUs say so at the launch. */
const CUDA_WORKGROUP = { invocations: MAX_INVOCATIONS, sharedBytes: 227 * KIB } as const;

/** The targets that `emit` writes for, one row each. */
export const emitTargets = Object.freeze({
  js: {
    title: "JavaScript",
    extension: "js",
    subgroupSizes: null,
    forwardProgress: false,
    arithmetic: null,
    waits:
      "the subgroups of a workgroup take turns; workgroups run one after another, so none may wait for a later one",
    // JavaScript has no limit of its own: what fits CUDA can be emitted.
    workgroup: CUDA_WORKGROUP,
  },
  wgsl: {
    title: "WGSL",
    extension: "wgsl",
    subgroupSizes: null,
    forwardProgress: false,
    arithmetic:
      "WGSL lets compilers fuse products with sums (NVIDIA's does) and reorder these and quotients (SwiftShader does), take numbers " +
      "below 2^-126 for 0, and take it that there is no NaN and no infinity",
    waits: "WGSL promises nobody to get on: where the hardware does not help, the wait never ends",
    // What all adapters give, and the shared memory that nearly all give who are asked.
    workgroup: { invocations: 256, sharedBytes: 32 * KIB },
  },
  cuda: {
    title: "CUDA C++",
    extension: "cu",
    subgroupSizes: [32],
    forwardProgress: true,
    arithmetic: null,
    waits:
      "all invocations of workgroups that run get on; one that has not begun may have to wait until another ends",
    workgroup: CUDA_WORKGROUP,
  },
  hip: {
    title: "HIP C++",
    extension: "hip",
    subgroupSizes: [32, 64],
    forwardProgress: true,
    arithmetic: null,
    waits:
      "wavefronts of workgroups that run get on, but not lanes of one wavefront that wait for each other; a workgroup that has not " +
      "begun may have to wait until another ends",
    // The local data share that the compiler allows a workgroup.
    workgroup: { invocations: MAX_INVOCATIONS, sharedBytes: 64 * KIB },
  },
} as const satisfies Readonly<Record<string, TargetRow>>);

/** The name of a target. */
export type EmitTarget = keyof typeof emitTargets;

/** The names of all targets. */
export const emitTargetNames: readonly EmitTarget[] = Object.freeze(Object.keys(emitTargets) as EmitTarget[]);
