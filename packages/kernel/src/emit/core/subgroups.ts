/** The shape of the table of subgroup operations: what its cells are given. The table itself is emit/subgroups.ts. */

import type { SubgroupNode } from "../../ir/nodes.ts";
import type { Code } from "./code.ts";
import type { Expression, Operand } from "./expression.ts";

export interface SubgroupCall {
  readonly code: Code;
  readonly node: SubgroupNode;
  readonly operands: readonly Operand[];
}

/** Gives the expression of each result, after whatever statements it needs. */
export type SubgroupCell<Call extends SubgroupCall> = (call: Call) => readonly Expression[];
