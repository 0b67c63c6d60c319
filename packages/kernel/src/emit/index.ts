/** Emitters: a kernel's IR as source text for a target, with a line map and a report of what became of each request. */

export { emit } from "./emit.ts";
export { checkMacro, cppHosts, isCppTarget, NATIVE_GRID, type CppTarget } from "./cpp/hosts.ts";
export { emitTargetNames, emitTargets, type TargetRow } from "./targets.ts";
export * from "./selftest/index.ts";
export { assertNoFallback } from "./core/result.ts";
export type {
  Emitted,
  EmitOptions,
  LoweringEntry,
  LoweringReport,
  StorageBinding,
  UniformField,
} from "./core/result.ts";
export type { EmitTarget } from "./targets.ts";
