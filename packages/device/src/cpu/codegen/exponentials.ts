/**
 * Exponentials of all lanes, two chunks of four at a time. A processor waits for one step of an exponential before it can begin
 * the next, and several at once fill the time.
 */

import type { Node, OpName, OpNode } from "@evolver/kernel";
import { exponentialOfTwo, type Exponential } from "../operations/mathematics.ts";
import type { Emitter } from "./emitter.ts";

const exponentials: Partial<Record<OpName, Exponential>> = { exp: "exp", exp2: "exp2", exp2Flushed: "exp2" };

/** Whether a node is an exponential of as many lanes as are taken at a time. */
export function isExponential(e: Emitter, node: Node): node is OpNode {
  return (
    node.kind === "op" &&
    exponentials[node.op] !== undefined &&
    node.operands[0]?.type === "f32" &&
    e.pattern(node.result).kind === "varying" &&
    (e.range.end - e.range.first) % 2 === 0
  );
}

export function emitExponential(e: Emitter, { op, operands: [value], result }: OpNode): void {
  const pair = exponentialOfTwo(e.helpers, exponentials[op] as Exponential);
  const into = e.vectorLocals();
  for (let k = e.range.first; k < e.range.end; k += 2) {
    for (const chunk of [k, k + 1]) e.pushLanes(value as NonNullable<typeof value>, chunk);
    e.f.call(pair);
    for (const chunk of [k + 1, k]) e.f.set(into[chunk] as number);
  }
  e.lanes.set(result.id, into);
  e.spill(result);
}
