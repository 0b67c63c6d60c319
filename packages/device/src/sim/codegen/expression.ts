/** Pure operations as JavaScript: the meaning is that of ops.ts, with the commonest ones written out for speed. */

import { isFloat, ops, scalarTypes } from "@evolver/kernel";
import type { OpNode, ScalarType } from "@evolver/kernel";

/** A literal of a type, as generated code writes it. */
export function literal(value: number | boolean, type: ScalarType): string {
  const number = Number(scalarTypes[type].literal(value) ?? value);
  if (Object.is(number, -0)) return "(-0)";
  return number < 0 ? `(${number})` : String(number);
}

/** Statements that declare `target` as the result of the operation on operand expressions without side effects. */
export function operation(target: string, node: OpNode, operands: readonly string[]): string {
  const [a, b, c] = operands;
  const type = node.operands[0]?.type ?? "f32";
  if (node.op === "fma" && type === "f32") {
    // The sum in double precision rounds to the right f32 unless it lies halfway between two: then sum + rest is one.
    const [product, sum, rounded, rest] = ["product", "sum", "rounded", "rest"].map(
      (part) => `${target}_${part}`,
    );
    return (
      `const ${product} = ${a} * ${b}, ${sum} = ${product} + ${c}, ${rounded} = fround(${sum}), ${rest} = ${sum} - ${rounded};\n` +
      `const ${target} = ${rest} !== 0 && fround(${sum} + ${rest}) === ${sum} + ${rest} ? m.fma(${a}, ${b}, ${c}) : ${rounded};`
    );
  }
  if (isFloat(type) && (node.op === "min" || node.op === "max"))
    return `const ${target} = ${a} ${node.op === "min" ? "<" : ">"} ${b} || ${b} !== ${b} ? ${a} : ${b};`;
  return `const ${target} = ${ops[node.op].js(operands, type, node.result.type)};`;
}
