/** Emitters: a kernel's IR as source text for a target, with a line map and a report of what became of each request. */

export { emit, targetWaits } from "./emit.ts";
export * from "./selftest/index.ts";
export { assertNoFallback } from "./result.ts";
export type {
  Emitted,
  EmitOptions,
  EmitTarget,
  LoweringEntry,
  LoweringReport,
  StorageBinding,
  UniformField,
} from "./result.ts";
