/** WGSL's expression for an atomic operation: relaxed only, and of words only. */

import type { AtomicNode } from "../../ir/nodes.ts";
import { atomicFunctions } from "../atomics.ts";
import type { Code } from "../core/code.ts";
import { ofType } from "../core/helpers.ts";
import { call, simple, type Expression, type Operand } from "../core/expression.ts";

export function wgslAtomic(
  code: Code,
  { op, memory, order, result }: AtomicNode,
  index: Operand,
  operands: readonly Operand[],
): Expression {
  const space = memory.space === "shared" ? "Workgroup" : "Storage";
  const address = simple(`&${code.element(memory, index).text}`);
  if (order !== "relaxed")
    code.note(
      `atomic ${op} of ${memory.name} that orders other accesses (${order})`,
      "a relaxed one: WGSL has no other",
      true,
      "order",
    );
  const name = atomicFunctions[op].wgsl;
  if (op === "compareExchange")
    return call(code.helper(ofType(`${name}${space}`, memory.element)), address, ...operands);
  if (memory.element !== "f32") return call(name, address, ...operands);
  if (op === "add") {
    code.note(`atomic add of f32 to ${memory.name}`, "a loop of compare-exchange", true);
    return call(code.helper(`atomicAddF32${space}`), address, ...operands);
  }
  const bits = operands.map((operand) => call("bitcast<u32>", operand));
  const before = call(name, address, ...bits);
  return result !== null && code.isUsed(result) ? call("bitcast<f32>", before) : before;
}
