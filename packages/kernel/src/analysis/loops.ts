/**
 * What is known of the counters of `for` loops when a kernel is built. A loop runs over whole numbers: it ends where the
 * next one would be outside the counter's type. Most loops cannot get there, and then no target needs a guard against it.
 */

import type { ForNode, KernelIR, Node } from "../ir/nodes.ts";
import type { Value } from "../ir/types.ts";
import { visitNodes } from "../ir/walk.ts";
import { findRanges, rangeOfType } from "./ranges.ts";

/** What a target has to guard a loop against. */
export interface LoopGuards {
  /** The counter plus the step may be outside the counter's type. */
  readonly passesEnd: boolean;
  /** The step may be 0. */
  readonly standsStill: boolean;
}

const known = new WeakMap<KernelIR, ReadonlyMap<ForNode, LoopGuards>>();

/** The guards that a loop of a kernel needs. */
export function loopGuards(ir: KernelIR, node: ForNode): LoopGuards {
  let guards = known.get(ir);
  if (guards === undefined) known.set(ir, (guards = findGuards(ir)));
  return guards.get(node) as LoopGuards;
}

function findGuards(ir: KernelIR): ReadonlyMap<ForNode, LoopGuards> {
  const guards = new Map<ForNode, LoopGuards>();
  const rangeOf = findRanges(ir);
  visitNodes(ir.body, (node) => {
    if (node.kind !== "for") return;
    const [to, step] = [rangeOf(node.to), rangeOf(node.step)];
    const [least, greatest] = rangeOfType(node.induction.type);
    const furthest = node.direction === "up" ? to[1] - 1 + step[1] : to[0] + 1 + step[0];
    guards.set(node, {
      passesEnd: furthest > greatest || furthest < least,
      standsStill: step[0] <= 0 && step[1] >= 0,
    });
  });
  return guards;
}

/** A parameter that is the step of a loop, which 0 is an error for. */
export interface StepParameter {
  readonly name: string;
  readonly loop: ForNode;
}

const steps = new WeakMap<KernelIR, readonly StepParameter[]>();

/** The scalar parameters for which a loop that each invocation reaches has a step of 0 where they are 0. */
export function stepParameters(ir: KernelIR): readonly StepParameter[] {
  let parameters = steps.get(ir);
  if (parameters === undefined) steps.set(ir, (parameters = findStepParameters(ir)));
  return parameters;
}

function findStepParameters(ir: KernelIR): readonly StepParameter[] {
  const definitions = new Map<number, Node>();
  const found = new Map<string, StepParameter>();
  const look = (value: Value, loop: ForNode): void => {
    const node = definitions.get(value.id);
    if (node?.kind === "param") {
      if (!found.has(node.name)) found.set(node.name, { name: node.name, loop });
    } else if (node?.kind === "op" && KEEPS_ZERO.has(node.op)) {
      const [first, ...others] = node.operands as [Value, ...Value[]];
      if (node.op === "select") for (const side of others) look(side, loop);
      else look(first, loop);
    }
  };
  // A loop deeper inside may never be reached.
  for (const node of ir.body.nodes)
    if (node.kind === "param" || node.kind === "op") definitions.set(node.result.id, node);
    else if (node.kind === "for") look(node.step, node);
  return [...found.values()];
}

/** Operations that give 0 for 0: of one integer, or either of two that are the same but for their sign. */
const KEEPS_ZERO: ReadonlySet<string> = new Set([
  "select",
  "neg",
  "abs",
  "toU32",
  "toI32",
  "bitcastU32",
  "bitcastI32",
]);
