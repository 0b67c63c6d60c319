/** What is known of the results of subgroup operations across lanes. They are the subgroup's own, not the workgroup's. */

import { assertNever } from "@evolver/base";
import type { SubgroupOp } from "@evolver/kernel";
import { rowOf } from "../lookup.ts";
import { uniform, VARYING, type LanePattern } from "../lane-pattern.ts";

/** `by index`: the second operand says which lane to read, and the result is uniform where that is. */
const results: Readonly<Record<SubgroupOp, "uniform" | "varying" | "by index">> = Object.freeze({
  sum: "uniform",
  min: "uniform",
  max: "uniform",
  any: "uniform",
  all: "uniform",
  ballot: "uniform",
  broadcastFirst: "uniform",
  broadcast: "by index",
  shuffle: "by index",
  shuffleXor: "varying",
  shuffleUp: "varying",
  shuffleDown: "varying",
  inclusiveSum: "varying",
  exclusiveSum: "varying",
});

/** Whether the second operand is the index of the lane to read. */
export const readsByIndex = (op: SubgroupOp): boolean =>
  rowOf(results, op, "subgroup operation") === "by index";

export function subgroupPattern(op: SubgroupOp, operands: readonly LanePattern[]): LanePattern {
  const result = rowOf(results, op, "subgroup operation");
  switch (result) {
    case "uniform":
      return uniform(false);
    case "varying":
      return VARYING;
    case "by index":
      return operands[1]?.kind === "uniform" ? uniform(false) : VARYING;
    default:
      return assertNever(result, "pattern of a subgroup operation");
  }
}
