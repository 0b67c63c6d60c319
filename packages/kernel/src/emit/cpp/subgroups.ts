/** The cells of CUDA C++ and HIP C++ in the table of subgroup operations. */

import type { BarrierNode, Node, SubgroupNode } from "../../ir/nodes.ts";
import type { Uniformity } from "../../analysis/index.ts";
import type { Code } from "../core/code.ts";
import { call, infix, simple, type Expression, type Operand } from "../core/expression.ts";
import type { SubgroupCall, SubgroupCell } from "../core/subgroups.ts";

export interface CppSubgroupCall extends SubgroupCall {
  /** What stands before the operands of each exchange: the lanes that take part, where the target wants to know. */
  readonly lanes: readonly Expression[];
}

type Cell = SubgroupCell<CppSubgroupCall>;

/** A function of the target. */
export const called =
  (name: string): Cell =>
  ({ lanes, operands }) => [call(name, ...lanes, ...operands)];

/** A function of the target that takes a lane, for the first one. */
export const ofFirstLane =
  (name: string): Cell =>
  ({ lanes, operands }) => [call(name, ...lanes, ...operands, simple("0"))];

/** A function of the target that gives an int for a bool. */
export const voted =
  (name: string): Cell =>
  ({ lanes, operands }) => [infix("!=", call(name, ...lanes, ...operands), simple("0"))];

/** A helper that combines the lanes' values. */
export const reduced =
  (name: string): Cell =>
  ({ code, operands }) => [call(code.helper(name), ...operands)];

/** A helper that adds the lanes' values. Sums of i32 wrap, which is undefined for C++'s int. */
function sumBy(name: string, { code, operands }: CppSubgroupCall, lane: readonly Expression[]): Expression {
  const [value] = operands as [Operand];
  if (value.type !== "i32") return call(code.helper(name), value, ...lane);
  return call("int", call(code.helper(name), call("unsigned", value), ...lane));
}

export const summed =
  (name: string): Cell =>
  (given) => [sumBy(name, given, [])];

/** The same for a helper that has to know the lane. */
export const scanned =
  (name: string): Cell =>
  (given) => [sumBy(name, given, [given.code.lane()])];

/** HIP's ballot has 64 bits, whatever the width. */
export const hipBallot: Cell = ({ code, node, operands }) => {
  const ballot = call("__ballot", ...operands);
  if (node.results.length === 1) return [call("unsigned", ballot)];
  const votes = code.names.take("votes");
  code.line(`const unsigned long long ${votes} = ${ballot.text};`);
  return [call("unsigned", simple(votes)), call("unsigned", infix(">>", simple(votes), simple("32")))];
};

/** Notes operations and barriers of subgroups that only the simulator can vouch for. */
export function notePartedLanes(
  code: Code,
  node: SubgroupNode | BarrierNode,
  flow: (node: Node) => Uniformity,
): void {
  if (code.ir.uniformity === "static" || flow(node) !== "lane") return;
  const [name, what] = node.kind === "barrier" ? ["barrier", "a barrier"] : [node.op, "an operation"];
  code.note(
    `subgroup ${name} in flow that is not proved uniform`,
    `${what} that all ${code.ir.subgroupSize} lanes must reach`,
    true,
  );
}
