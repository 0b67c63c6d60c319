/** How a loop decides whether it goes on: by its counter, and, where that may pass the end of its type, by what is left. */

import { loopGuards, type ForNode, type Value } from "@evolver/kernel";
import { emitLanes, emitScalar } from "../operations/emit.ts";
import type { FunctionBuilder } from "../wasm/encoder.ts";
import { OP } from "../wasm/opcodes.ts";
import type { Emitter } from "./emitter.ts";

/** "scalar" with the answer on the stack, or a function that pushes the lanes that go on. */
export type LoopTest = ((chunk: number) => void) | "scalar";

const comparisonOf = ({ direction }: ForNode): "lt" | "gt" => (direction === "up" ? "lt" : "gt");

/** Writes the test of a loop's counter against its end. */
export function testCounter(e: Emitter, node: ForNode): LoopTest {
  if (e.divergence.divergentTests.has(node)) return testLanes(e, node);
  emitScalar(comparisonOf(node), e.operationSite([node.induction, node.to], 0));
  return "scalar";
}

/** The same for a counter that differs by lane. A lane with a step of 0, which is an error, has no turn. */
export function testLanes(e: Emitter, node: ForNode): (chunk: number) => void {
  const { standsStill } = loopGuards(e.ir, node);
  return (k) => {
    emitLanes(comparisonOf(node), e.operationSite([node.induction, node.to], k));
    if (!standsStill || e.pattern(node.step).kind === "uniform") return;
    e.pushLanes(node.step, k);
    e.f.i32x4([0, 0, 0, 0]).op(OP.i32x4Ne).op(OP.v128And);
  };
}

/** Writes the test whether the next turn is still to come; null where the counter cannot pass the end of its type. */
export function testRest(e: Emitter, node: ForNode): (() => LoopTest) | null {
  if (!loopGuards(e.ir, node).passesEnd) return null;
  const { induction, to, step, direction } = node;
  const isUp = direction === "up";
  const isVarying = e.pattern(induction).kind === "varying";
  if (isVarying || e.divergence.divergentTests.has(node))
    return () => (k) => {
      e.pushLanes(isUp ? to : induction, k);
      e.pushLanes(isUp ? induction : to, k);
      e.f.op(OP.i32x4Sub);
      e.pushLanes(step, k);
      if (!isUp) e.f.op(OP.i32x4Neg);
      e.f.op(OP.i32x4GtU);
    };
  const push = (value: Value) => () => e.pushScalar(value);
  return () => {
    pushRest(e.f, { direction, induction: push(induction), to: push(to), step: push(step) });
    return "scalar";
  };
}

/** The parts of a loop as numbers, each pushed by a function. */
interface Counter {
  readonly direction: ForNode["direction"];
  induction(): void;
  to(): void;
  step(): void;
}

/** Pushes whether more than a step is left, without a sign: then the next value is before the end, and in the type. */
export function pushRest(f: FunctionBuilder, { direction, induction, to, step }: Counter): void {
  const isUp = direction === "up";
  (isUp ? to : induction)();
  (isUp ? induction : to)();
  f.op(OP.i32Sub);
  if (!isUp) f.i32(0);
  step();
  if (!isUp) f.op(OP.i32Sub);
  f.op(OP.i32GtU);
}
