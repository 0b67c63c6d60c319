/**
 * Exponentials of all lanes, several chunks of four at a time. A processor waits for one step of an exponential before it can begin
 * the next, and several at once fill the time.
 */

import type { Node, OpName, OpNode } from "@evolver/kernel";
import { exponentialsOf, type Exponential } from "../operations/mathematics.ts";
import type { Emitter } from "./emitter.ts";

const exponentials: Partial<Record<OpName, Exponential>> = { exp: "exp", exp2: "exp2", exp2Flushed: "exp2" };

/** Vectors that are taken at a time, where there are so many. */
const AT_ONCE = 4;

/** Whether a node is an exponential of more lanes than one vector has. */
export function isExponential(e: Emitter, node: Node): node is OpNode {
  return (
    node.kind === "op" &&
    exponentials[node.op] !== undefined &&
    node.operands[0]?.type === "f32" &&
    e.pattern(node.result).kind === "varying" &&
    e.range.end - e.range.first > 1
  );
}

export function emitExponential(e: Emitter, { op, operands: [value], result }: OpNode): void {
  const { first, end } = e.range;
  // Both are powers of two.
  const count = Math.min(AT_ONCE, end - first);
  const helper = exponentialsOf(e.helpers, exponentials[op] as Exponential, count);
  const into = e.vectorLocals();
  for (let start = first; start < end; start += count) {
    const chunks = Array.from({ length: count }, (_, k) => start + k);
    for (const chunk of chunks) e.pushLanes(value as NonNullable<typeof value>, chunk);
    e.f.call(helper);
    for (const chunk of chunks.toReversed()) e.f.set(into[chunk] as number);
  }
  e.lanes.set(result.id, into);
  e.spill(result);
}
