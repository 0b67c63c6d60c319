/** WGSL's cells in the table of subgroup operations, and what becomes of subgroup barriers. */

import { EvolverError } from "@evolver/base";
import type { BarrierNode } from "../../ir/nodes.ts";
import { isHalf } from "../../ir/types.ts";
import type { Code } from "../core/code.ts";
import { call, infix, simple, type InfixOperator, type Operand } from "../core/expression.ts";
import { flowOf } from "../core/uniformity.ts";
import { ofType } from "../core/helpers.ts";
import type { SubgroupCall, SubgroupCell } from "../core/subgroups.ts";

export interface WgslSubgroupCall extends SubgroupCall {
  /** Whether f32 reductions follow the order of the IR, for the same bits everywhere. */
  readonly isExact: boolean;
}

type Cell = SubgroupCell<WgslSubgroupCall>;

/** Whether the order of a reduction is spelt out. */
const isOrdered = ({ isExact, operands }: WgslSubgroupCall): boolean => {
  const [value] = operands as [Operand];
  return (isExact && value.type === "f32") || isHalf(value.type);
};

/** A function of WGSL. */
export const called =
  (name: string): Cell =>
  ({ operands }) => [call(name, ...operands)];

/** A reduction: a helper of the operand's type where the order matters, else a function of WGSL. */
export const reduced =
  (exact: string, builtin: string): Cell =>
  (given) => {
    const [value] = given.operands as [Operand];
    const name = isOrdered(given) ? given.code.helper(ofType(exact, value.type)) : builtin;
    return [call(name, value)];
  };

/** The smallest or the largest; of numbers that are exact in a shorter type it is so too. */
export const selected =
  (name: string): Cell =>
  (given) => {
    const [value] = given.operands as [Operand];
    const exact = ofType(name, value.type === "f16" ? "f16" : "f32");
    return [call(isOrdered(given) ? given.code.helper(exact) : name, value)];
  };

/** A sum over the lanes up to each. */
export const scanned =
  (exact: string, builtin: string): Cell =>
  (given) => {
    const { code } = given;
    const [value] = given.operands as [Operand];
    if (!isOrdered(given)) return [call(builtin, value)];
    return [call(code.helper(ofType(exact, value.type)), value, code.lane())];
  };

/** The built-in wants a lane that is known when the shader is compiled. */
export const broadcast: Cell = ({ operands }) => {
  const [value, lane] = operands as [Operand, Operand];
  return [call(lane.constant === null ? "subgroupShuffle" : "subgroupBroadcast", value, lane)];
};

/** The built-in wants an offset that is the same for the subgroup; a literal surely is. */
export const relative =
  (builtin: string, operator: InfixOperator): Cell =>
  ({ code, operands }) => {
    const [value, offset] = operands as [Operand, Operand];
    return offset.constant === null
      ? [call("subgroupShuffle", value, infix(operator, code.lane(), offset))]
      : [call(builtin, value, offset)];
  };

/** A vector of words. */
export const ballot: Cell = ({ code, node, operands }) => {
  const votes = code.names.take("votes");
  code.line(`let ${votes} = ${call("subgroupBallot", ...operands).text};`);
  return node.results.map((_, k) => simple(`${votes}.${"xyzw"[k]}`));
};

/**
 * Refuses subgroup barriers that cannot be barriers of the workgroup, for WGSL has no others.
 *
 * @throws EvolverError UNSUPPORTED_SUBGROUP_BARRIER, from the function that it gives
 */
export function subgroupBarrierCheck({ ir }: Code): (node: BarrierNode) => void {
  const flow = flowOf(ir);
  return (node) => {
    if (flow(node) === "workgroup") return;
    throw new EvolverError(
      "UNSUPPORTED_SUBGROUP_BARRIER",
      `kernel "${ir.name}" has a subgroup barrier that not all of the workgroup reach, and WGSL has no such barrier`,
      {
        where: [node.site.location],
        hint: "move it to control flow that is uniform for the workgroup: there it becomes a barrier of the workgroup",
      },
    );
  };
}
