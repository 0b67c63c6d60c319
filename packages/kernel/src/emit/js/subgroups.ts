/**
 * JavaScript's cells in the table of subgroup operations. A lane stops with a request, [place, operation, value, source];
 * the scheduler in helpers.ts gives it the result.
 */

import type { Expression, InfixOperator, Operand } from "../core/expression.ts";
import { infix, simple } from "../core/expression.ts";
import { ofType } from "../core/helpers.ts";
import type { SubgroupCall, SubgroupCell } from "../core/subgroups.ts";

export interface JsSubgroupCall extends SubgroupCall {
  /** The number of the place where the lanes stop: see places.ts. */
  readonly place: number;
}

type Cell = SubgroupCell<JsSubgroupCall>;

function request(
  { code, operands, place }: JsSubgroupCall,
  operation: string,
  source?: Expression,
): Expression {
  const [value] = operands as [Operand];
  const parts = [String(place), code.helper(operation), value.text];
  if (source !== undefined) parts.push(source.text);
  return { text: `yield [${parts.join(", ")}]`, precedence: Infinity };
}

/** An operation that is the same for all types. */
export const untyped =
  (name: string): Cell =>
  (given) => [request(given, name)];

/** An operation that rounds or wraps to the type of its operand. */
export const typed =
  (name: string): Cell =>
  (given) => {
    const [value] = given.operands as [Operand];
    return [request(given, ofType(name, value.type))];
  };

/** The value of another lane: the one that the second operand names, or that it gives together with the lane's own number. */
export const gathered =
  (operator: InfixOperator | null): Cell =>
  (given) => {
    const [, second] = given.operands as [Operand, Operand];
    const source = operator === null ? second : infix(operator, given.code.lane(), second);
    return [request(given, "gather", source)];
  };

export const ballot: Cell = (given) => {
  const words = given.code.bind(request(given, "ballot"), "u32", "votes");
  return given.node.results.map((_, k) => simple(`${words.text}[${k}]`));
};
