/** Rows that several targets' tables of operations have: an operator, a function of the language, a helper function. */

import { call, infix, type InfixOperator, type Operand } from "./expression.ts";
import type { Operation } from "./operation-table.ts";

/** The operands of a row that has two. */
export type Pair = readonly [Operand, Operand];

/** a + b */
export const operator =
  (text: InfixOperator): Operation =>
  (operands) => {
    const [a, b] = operands as Pair;
    return infix(text, a, b);
  };

/** A function that the language has under this name. */
export const named =
  (name: string): Operation =>
  (operands) =>
    call(name, ...operands);

/** One that is written into the file. */
export const helped =
  (name: string): Operation =>
  (operands, { helper }) =>
    call(helper(name), ...operands);
