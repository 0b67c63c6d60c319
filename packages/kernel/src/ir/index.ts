export * from "./atomics.ts";
export * from "./builtins.ts";
export { hash } from "./hash.ts";
export * from "./limits.ts";
export * from "./nodes.ts";
export * from "./ops.ts";
export { print, type PrintOptions } from "./print.ts";
export { serialise } from "./codec.ts";
export * from "./site.ts";
export { subgroupOps, type SubgroupOp, type SubgroupRow } from "./subgroup.ts";
export { withoutTraces } from "./traces.ts";
export * from "./types.ts";
export type { Convergence, Effect } from "./schema.ts";
export {
  blocksOf,
  isRemovable,
  memoriesOf,
  operandsAtEndOf,
  operandsOf,
  operandsOnEntry,
  phaseBarriersOf,
  resultsOf,
  variablesOf,
  visitNodes,
  type MemoryAccess,
  type VariableAccess,
} from "./walk.ts";
