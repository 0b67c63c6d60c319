/** The staged kernel language, its IR and what is known about it. Runs in any JavaScript engine. */

export { EvolverError, type SourceLocation } from "@evolver/base";
export * from "./ir/index.ts";
export * from "./analysis/index.ts";
export * from "./emit/index.ts";
export * as math from "./ir/mathematics.ts";
export type { AtomicDescriptor, BufferDescriptor, TypeDescriptor } from "./frontend/descriptors.ts";
export * from "./frontend/params.ts";
export {
  kernel,
  Kernel,
  type BuildOptions,
  type KernelBody,
  type KernelOptions,
  type Symbols,
} from "./frontend/kernel.ts";
export type { Choice, Choices, NoTune, Tune } from "./frontend/tune/choices.ts";
export { chosen, defaultChoices, whyNoTune } from "./frontend/tune/choices.ts";
export {
  contentsLength,
  isContentsRule,
  isMade,
  madeContents,
  type Contents,
  type ContentsRule,
  type OneOf,
} from "./frontend/tune/contents.ts";
export {
  plainLaunch,
  type AnyReference,
  type Example,
  type ExampleLaunch,
  type PlainLaunch,
  type ProblemWork,
  type Reference,
  type ReferenceArgs,
  type Round,
  type Workgroups,
} from "./frontend/tune/example.ts";
export {
  defaultSizes,
  leastSizes,
  nearestSize,
  raggedSizes,
  sized,
  whyNoSizes,
  whyNotSize,
  type NoSizes,
  type SizeRule,
  type Sizes,
  type SizesOf,
} from "./frontend/tune/sizes.ts";
export {
  BF16,
  Bool,
  F16,
  F32,
  I32,
  Offset,
  Scalar,
  U32,
  type Float,
  type Index,
  type Operand,
  type ScalarOf,
} from "./frontend/scalar.ts";
export * from "./frontend/functions.ts";
export { spellings, type Spelling } from "./frontend/spelling.ts";
export { padded, rowMajor, swizzled, type Layout, type SwizzleOptions } from "./frontend/layout.ts";
export { dot, Vec, vec, type VecWidth, type WidthOf } from "./frontend/vector.ts";
export { Copies, type CommitOptions, type CopyOptions } from "./frontend/copies.ts";
export { Gpu } from "./frontend/gpu.ts";
export type { Subgroup } from "./frontend/subgroup.ts";
export type { RoleOptions } from "./frontend/roles.ts";
export type { ForRange } from "./frontend/loop.ts";
export type { Xyz } from "./frontend/indices.ts";
export { PhaseBarriers, type PhaseBarrierOptions } from "./frontend/phase-barriers.ts";
export { Pipeline, type PipelineOptions } from "./frontend/pipeline.ts";
export { RegisterArray, Var } from "./frontend/variable.ts";
export { AtomicArray, type AtomicOptions } from "./frontend/atomic-array.ts";
export {
  struct,
  type Fields,
  type StructBufferDescriptor,
  type StructDescriptor,
  type StructRecord,
} from "./frontend/struct.ts";
export type { StructBuffer, StructOperands, StructValues } from "./frontend/struct-buffer.ts";
export { SharedArray, type Buffer, type View, type ViewOptions } from "./frontend/memory.ts";
