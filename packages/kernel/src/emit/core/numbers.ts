/** What the lowering report says of numbers: where a target promises less than the language's one rounding per operation. */

import { ops, type OpName } from "../../ir/ops.ts";
import { isFloat, type ScalarType } from "../../ir/types.ts";
import { describeBound, numericBounds, ROUNDED_ONCE, type Bound } from "../bounds.ts";
import { emitTargets, type EmitTarget } from "../targets.ts";
import type { Note } from "./result.ts";

export function noteNumbers(target: EmitTarget, op: OpName, result: ScalarType, note: Note): void {
  if (!isFloat(result) || ops[op].flops === 0) return;
  const { arithmetic } = emitTargets[target];
  if (arithmetic !== null) note("arithmetic of floats", arithmetic, false, "numbers");
  if (!Object.hasOwn(numericBounds, op)) return;
  const bound: Bound = numericBounds[op as keyof typeof numericBounds][target];
  if (bound.ulps > ROUNDED_ONCE) note(`${op} of f32`, `within ${describeBound(bound)}`, false, "numbers");
}
