/** WGSL's expression for each atomic operation. */

import type { AtomicNode } from "../../ir/nodes.ts";
import { call, simple, type Expression, type Operand } from "../core/expression.ts";

interface AtomicContext {
  readonly isUsed: boolean;
  helper(name: string): string;
  /** Makes an entry for what WGSL lacks. */
  note(request: string, became: string): void;
}

export function atomicCall(
  { op, memory, order }: AtomicNode,
  element: Expression,
  operands: readonly Operand[],
  { isUsed, helper, note }: AtomicContext,
): Expression {
  const space = memory.space === "shared" ? "Workgroup" : "Storage";
  const address = simple(`&${element.text}`);
  if (order !== "relaxed")
    note(
      `atomic ${op} of ${memory.name} that orders other accesses (${order})`,
      "a relaxed one: WGSL has no other",
    );
  if (op === "compareExchange")
    return call(helper(`compareExchange${space}${memory.element.toUpperCase()}`), address, ...operands);
  const name = `atomic${op[0]?.toUpperCase()}${op.slice(1)}`;
  if (memory.element !== "f32") return call(name, address, ...operands);
  if (op === "add") {
    note(`atomic add of f32 to ${memory.name}`, "a loop of compare-exchange");
    return call(helper(`atomicAddF32${space}`), address, ...operands);
  }
  const bits = operands.map((operand) => call("bitcast<u32>", operand));
  const result = call(name, address, ...bits);
  return op !== "store" && isUsed ? call("bitcast<f32>", result) : result;
}
