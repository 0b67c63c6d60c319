/** The shape of a target's table of pure operations: one row each, complete by type. */

import type { OpName } from "../../ir/ops.ts";
import type { ScalarType } from "../../ir/types.ts";
import type { Expression, Operand } from "./expression.ts";
import type { RequestHelper } from "./helpers.ts";
import type { Note } from "./result.ts";

/** What a row may ask of the code that is written. */
interface OperationContext {
  /** The type of the result. */
  readonly result: ScalarType;
  /** Asks for a helper function of the target's language, and gives its name. */
  readonly helper: RequestHelper;
  readonly note: Note;
}

export type Operation = (operands: readonly Operand[], context: OperationContext) => Expression;

export type OperationTable = Readonly<Record<OpName, Operation>>;
