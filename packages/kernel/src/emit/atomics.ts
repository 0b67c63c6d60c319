/** Atomic operations: the function that does each, one row per operation and one cell per target, complete by type. */

import type { AtomicOp } from "../ir/atomics.ts";
import type { EmitTarget } from "./targets.ts";

interface AtomicFunctions extends Readonly<Record<EmitTarget, string | null>> {
  /** NVIDIA's; `atomicLoad` and `atomicStore`, which it lacks, are helpers. */
  readonly cuda: string;
  /** Built into clang; `compareExchange` is a helper. */
  readonly hip: string;
  /** Built into WGSL; of `compareExchange` there is a helper for each space and type. */
  readonly wgsl: string;
  /** All helpers; null where it is a plain access: invocations take turns. */
  readonly js: string | null;
}

export const atomicFunctions: Readonly<Record<AtomicOp, AtomicFunctions>> = {
  load: { cuda: "atomicLoad", hip: "__hip_atomic_load", wgsl: "atomicLoad", js: null },
  store: { cuda: "atomicStore", hip: "__hip_atomic_store", wgsl: "atomicStore", js: null },
  add: { cuda: "atomicAdd", hip: "__hip_atomic_fetch_add", wgsl: "atomicAdd", js: "atomicAdd" },
  min: { cuda: "atomicMin", hip: "__hip_atomic_fetch_min", wgsl: "atomicMin", js: "atomicMin" },
  max: { cuda: "atomicMax", hip: "__hip_atomic_fetch_max", wgsl: "atomicMax", js: "atomicMax" },
  and: { cuda: "atomicAnd", hip: "__hip_atomic_fetch_and", wgsl: "atomicAnd", js: "atomicAnd" },
  or: { cuda: "atomicOr", hip: "__hip_atomic_fetch_or", wgsl: "atomicOr", js: "atomicOr" },
  xor: { cuda: "atomicXor", hip: "__hip_atomic_fetch_xor", wgsl: "atomicXor", js: "atomicXor" },
  exchange: {
    cuda: "atomicExch",
    hip: "__hip_atomic_exchange",
    wgsl: "atomicExchange",
    js: "atomicExchange",
  },
  compareExchange: {
    cuda: "atomicCAS",
    hip: "compareExchange",
    wgsl: "compareExchange",
    js: "atomicCompareExchange",
  },
};
