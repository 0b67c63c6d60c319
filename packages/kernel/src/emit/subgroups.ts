/** Subgroup operations: what each becomes, one row per operation and one cell per target, complete by type. */

import type { SubgroupOp } from "../ir/subgroup.ts";

import type { EmitTarget } from "./targets.ts";
import type { SubgroupCell } from "./core/subgroups.ts";
import * as cpp from "./cpp/subgroups.ts";
import * as js from "./js/subgroups.ts";
import * as wgsl from "./wgsl/subgroups.ts";

/** What the cells of each target are given. */
interface Calls {
  readonly cuda: cpp.CppSubgroupCall;
  readonly hip: cpp.CppSubgroupCall;
  readonly wgsl: wgsl.WgslSubgroupCall;
  readonly js: js.JsSubgroupCall;
}

type SubgroupRow = { readonly [Target in EmitTarget]: SubgroupCell<Calls[Target]> };

export const subgroupOperations: Readonly<Record<SubgroupOp, SubgroupRow>> = {
  sum: {
    cuda: cpp.summed("subgroupSum"),
    hip: cpp.summed("subgroupSum"),
    wgsl: wgsl.reduced("subgroupSum", "subgroupAdd"),
    js: js.typed("subgroupSum"),
  },
  min: {
    cuda: cpp.reduced("subgroupMin"),
    hip: cpp.reduced("subgroupMin"),
    wgsl: wgsl.selected("subgroupMin"),
    js: js.typed("subgroupMin"),
  },
  max: {
    cuda: cpp.reduced("subgroupMax"),
    hip: cpp.reduced("subgroupMax"),
    wgsl: wgsl.selected("subgroupMax"),
    js: js.typed("subgroupMax"),
  },
  any: {
    cuda: cpp.voted("__any_sync"),
    hip: cpp.voted("__any"),
    wgsl: wgsl.called("subgroupAny"),
    js: js.untyped("any"),
  },
  all: {
    cuda: cpp.voted("__all_sync"),
    hip: cpp.voted("__all"),
    wgsl: wgsl.called("subgroupAll"),
    js: js.untyped("all"),
  },
  ballot: {
    cuda: cpp.called("__ballot_sync"),
    hip: cpp.hipBallot,
    wgsl: wgsl.ballot,
    js: js.ballot,
  },
  broadcast: {
    cuda: cpp.called("__shfl_sync"),
    hip: cpp.called("__shfl"),
    wgsl: wgsl.broadcast,
    js: js.gathered(null),
  },
  broadcastFirst: {
    cuda: cpp.ofFirstLane("__shfl_sync"),
    hip: cpp.ofFirstLane("__shfl"),
    wgsl: wgsl.called("subgroupBroadcastFirst"),
    js: js.untyped("first"),
  },
  shuffle: {
    cuda: cpp.called("__shfl_sync"),
    hip: cpp.called("__shfl"),
    wgsl: wgsl.called("subgroupShuffle"),
    js: js.gathered(null),
  },
  shuffleXor: {
    cuda: cpp.called("__shfl_xor_sync"),
    hip: cpp.called("__shfl_xor"),
    wgsl: wgsl.relative("subgroupShuffleXor", "^"),
    js: js.gathered("^"),
  },
  shuffleUp: {
    cuda: cpp.called("__shfl_up_sync"),
    hip: cpp.called("__shfl_up"),
    wgsl: wgsl.relative("subgroupShuffleUp", "-"),
    js: js.gathered("-"),
  },
  shuffleDown: {
    cuda: cpp.called("__shfl_down_sync"),
    hip: cpp.called("__shfl_down"),
    wgsl: wgsl.relative("subgroupShuffleDown", "+"),
    js: js.gathered("+"),
  },
  inclusiveSum: {
    cuda: cpp.scanned("inclusiveSum"),
    hip: cpp.scanned("inclusiveSum"),
    wgsl: wgsl.scanned("inclusiveSum", "subgroupInclusiveAdd"),
    js: js.typed("inclusiveSum"),
  },
  exclusiveSum: {
    cuda: cpp.scanned("exclusiveSum"),
    hip: cpp.scanned("exclusiveSum"),
    wgsl: wgsl.scanned("exclusiveSum", "subgroupExclusiveAdd"),
    js: js.typed("exclusiveSum"),
  },
};
