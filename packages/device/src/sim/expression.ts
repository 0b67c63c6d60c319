/** Pure operations as JavaScript: the meaning is that of ops.ts, with the commonest ones written out for speed. */

import { isFloat, ops } from "@evolver/kernel";
import type { OpNode, ScalarType } from "@evolver/kernel";

/** A literal of a type, as generated code writes it. */
export function literal(value: number | boolean, type: ScalarType): string {
  const number = type === "f32" ? Math.fround(Number(value)) : Number(value);
  if (Object.is(number, -0)) return "(-0)";
  return number < 0 ? `(${number})` : String(number);
}

/** Statements that declare `target` as the result of the operation on operand expressions without side effects. */
export function operation(target: string, node: OpNode, operands: readonly string[]): string {
  const [a, b, c] = operands;
  const type = node.operands[0]?.type ?? "f32";
  if (node.op === "fma" && type === "f32")
    // The sum in double precision rounds to the right f32 unless it falls halfway between two: then s + d is one.
    return (
      `const p${target}=${a}*${b},s${target}=p${target}+${c},r${target}=fround(s${target}),d${target}=s${target}-r${target},` +
      `${target}=d${target}!==0&&fround(s${target}+d${target})===s${target}+d${target}?m.fma(${a},${b},${c}):r${target};`
    );
  if (isFloat(type) && (node.op === "min" || node.op === "max"))
    return `const ${target}=${a}${node.op === "min" ? "<" : ">"}${b}||${b}!==${b}?${a}:${b};`;
  return `const ${target}=${ops[node.op].js(operands, type, node.result.type)};`;
}

/** Integer operations that have no result for a divisor of 0. */
export function divides(node: OpNode): boolean {
  return /^(div|rem|mod)(Trunc|Floor)$/.test(node.op);
}
