/** Emitters: a kernel's IR as source text for a target, with a line map and a report of what became of each request. */

export { describeBound, numericBounds, ulpsAt, type Bound, type BoundedOp } from "./bounds.ts";
export { emit } from "./emit.ts";
export { emitWgsl } from "./emit-wgsl.ts";
export { checkMacro, cppHosts, isCppTarget, NATIVE_GRID, type CppTarget } from "./cpp/hosts.ts";
export { emitTargetNames, emitTargets, type TargetRow } from "./targets.ts";
export * from "./selftest/index.ts";
export { assertNoFallback, weakenings } from "./core/result.ts";
export type {
  Emitted,
  EmitOptions,
  LoweringEntry,
  LoweringReport,
  LoweringTopic,
  StorageBinding,
  UniformField,
} from "./core/result.ts";
export type { EmitTarget } from "./targets.ts";
