/**
 * Constants that WGSL must not see: it would compute with them while compiling, and refuse what wraps or divides by 0.
 * They become names.
 */

import type { OpName } from "../../ir/ops.ts";
import type { Code } from "../core/code.ts";
import type { Operand } from "../core/expression.ts";
import type { Operation, OperationTable } from "../core/operation-table.ts";

const DIVISIONS: ReadonlySet<OpName> = new Set(["divTrunc", "divFloor", "remTrunc", "modFloor"]);

export function hidingConstants(code: Code, operations: OperationTable): OperationTable {
  const hidden = (operand: Operand): Operand => ({
    ...operand,
    ...code.bind({ ...operand, simple: false }, operand.type, "literal"),
    constant: null,
  });
  const hiding = ([op, operation]: [string, Operation]): [string, Operation] => [
    op,
    (operands, context) => {
      const [first, second, ...rest] = operands as [Operand, Operand?];
      const left = operands.every(({ constant }) => constant !== null) ? hidden(first) : first;
      if (second === undefined) return operation([left], context);
      const right = DIVISIONS.has(op as OpName) && second.constant === 0 ? hidden(second) : second;
      return operation([left, right, ...rest], context);
    },
  ];
  return Object.fromEntries(Object.entries(operations).map(hiding)) as Record<OpName, Operation>;
}
