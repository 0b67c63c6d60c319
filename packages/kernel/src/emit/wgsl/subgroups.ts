/** WGSL's expression for each subgroup operation, and what becomes of subgroup barriers. */

import { analyseUniformity, type UniformityAnalysis } from "../../analysis/index.ts";
import { EvolverError } from "@evolver/base";
import type { BarrierNode, KernelIR } from "../../ir/nodes.ts";
import type { SubgroupOp } from "../../ir/subgroup.ts";
import { isHalf } from "../../ir/types.ts";
import { call, infix, type Expression, type Operand } from "../core/expression.ts";

interface SubgroupContext {
  /** Whether f32 reductions follow the order of the IR, for the same bits everywhere. */
  readonly isExact: boolean;
  helper(name: string): string;
  /** The built-in index of the lane. */
  lane(): Expression;
}

/**
 * Refuses subgroup barriers that cannot be barriers of the workgroup, for WGSL has no others.
 *
 * @throws EvolverError UNSUPPORTED_SUBGROUP_BARRIER, from the function that it gives
 */
export function subgroupBarrierCheck(ir: KernelIR): (node: BarrierNode) => void {
  let uniformity: UniformityAnalysis | null = null;
  return (node) => {
    uniformity ??= analyseUniformity(ir);
    if (uniformity.flowOf(node) === "workgroup") return;
    throw new EvolverError(
      "UNSUPPORTED_SUBGROUP_BARRIER",
      `kernel "${ir.name}" has a subgroup barrier that not all of the workgroup reach, and WGSL has none such`,
      {
        where: [node.site.location],
        hint: "move it to where the flow is the same for the workgroup: there it becomes a barrier of the workgroup",
      },
    );
  };
}

/** One call; that of a ballot is a vector of words. */
export function subgroupCall(
  op: SubgroupOp,
  operands: readonly Operand[],
  { isExact, helper, lane }: SubgroupContext,
): Expression {
  const [value, second] = operands as [Operand, Operand];
  const orders = (isExact && value.type === "f32") || isHalf(value.type);
  // The smallest and the largest of numbers that are exact in a shorter type are so too.
  const type = value.type.toUpperCase();
  const reduce = (exact: string, builtin: string): Expression =>
    call(orders ? helper(exact) : builtin, value);
  const scan = (exact: string, builtin: string): Expression =>
    orders ? call(helper(exact), value, lane()) : call(builtin, value);
  /** The built-in wants an offset that is the same for the subgroup; a literal surely is. */
  const relative = (builtin: string, operator: string): Expression =>
    second.constant === null
      ? call("subgroupShuffle", value, infix(operator, lane(), second))
      : call(builtin, value, second);
  switch (op) {
    case "sum":
      return reduce(`subgroupSum${type}`, "subgroupAdd");
    case "min":
      return reduce(`subgroupMin${value.type === "f16" ? "F16" : "F32"}`, "subgroupMin");
    case "max":
      return reduce(`subgroupMax${value.type === "f16" ? "F16" : "F32"}`, "subgroupMax");
    case "inclusiveSum":
      return scan(`inclusiveSum${type}`, "subgroupInclusiveAdd");
    case "exclusiveSum":
      return scan(`exclusiveSum${type}`, "subgroupExclusiveAdd");
    case "any":
      return call("subgroupAny", value);
    case "all":
      return call("subgroupAll", value);
    case "ballot":
      return call("subgroupBallot", value);
    case "broadcastFirst":
      return call("subgroupBroadcastFirst", value);
    case "broadcast":
      return call(second.constant === null ? "subgroupShuffle" : "subgroupBroadcast", value, second);
    case "shuffle":
      return call("subgroupShuffle", value, second);
    case "shuffleXor":
      return relative("subgroupShuffleXor", "^");
    case "shuffleUp":
      return relative("subgroupShuffleUp", "-");
    case "shuffleDown":
      return relative("subgroupShuffleDown", "+");
  }
}
