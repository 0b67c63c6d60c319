/**
 * What is known of the counters of `for` loops when a kernel is built. A loop runs over whole numbers: it ends where the
 * next one would be outside the counter's type. Most loops cannot get there, and then no target needs a guard against it.
 */

import type { BuiltinName } from "../ir/builtins.ts";
import type { ForNode, KernelIR, Node, OpNode } from "../ir/nodes.ts";
import type { Value } from "../ir/types.ts";
import { visitNodes } from "../ir/walk.ts";

/** What a target has to guard a loop against. */
export interface LoopGuards {
  /** The counter plus the step may be outside the counter's type. */
  readonly passesEnd: boolean;
  /** The step may be 0. */
  readonly standsStill: boolean;
}

/** The smallest and the largest whole number that a value can be. */
type Range = readonly [least: number, greatest: number];

const U32: Range = [0, 2 ** 32 - 1];
const I32: Range = [-(2 ** 31), 2 ** 31 - 1];

const known = new WeakMap<KernelIR, ReadonlyMap<ForNode, LoopGuards>>();

/** The guards that a loop of a kernel needs. */
export function loopGuards(ir: KernelIR, node: ForNode): LoopGuards {
  let guards = known.get(ir);
  if (guards === undefined) known.set(ir, (guards = findGuards(ir)));
  return guards.get(node) as LoopGuards;
}

function findGuards(ir: KernelIR): ReadonlyMap<ForNode, LoopGuards> {
  const guards = new Map<ForNode, LoopGuards>();
  const ranges: (Range | undefined)[] = [];
  const rangeOf = (value: Value): Range => ranges[value.id] ?? rangeOfType(value);
  visitNodes(ir.body, (node) => {
    switch (node.kind) {
      case "const":
        if (typeof node.value === "number") ranges[node.result.id] = [node.value, node.value];
        return;
      case "builtin":
        ranges[node.result.id] = rangeOfBuiltin(node.builtin, ir);
        return;
      case "op":
        ranges[node.result.id] = rangeOfOperation(node, rangeOf);
        return;
      case "for": {
        const [from, to, step] = [rangeOf(node.from), rangeOf(node.to), rangeOf(node.step)];
        const type = rangeOfType(node.induction);
        const isUp = node.direction === "up";
        ranges[node.induction.id] = isUp
          ? [from[0], Math.max(from[0], to[1] - 1)]
          : [Math.min(from[1], to[0] + 1), from[1]];
        const furthest = isUp ? to[1] - 1 + step[1] : to[0] + 1 + step[0];
        guards.set(node, {
          passesEnd: furthest > type[1] || furthest < type[0],
          standsStill: step[0] <= 0 && step[1] >= 0,
        });
        return;
      }
      default:
        return;
    }
  });
  return guards;
}

const rangeOfType = ({ type }: Value): Range => (type === "u32" ? U32 : I32);

function rangeOfBuiltin(builtin: BuiltinName, { workgroupSize, subgroupSize }: KernelIR): Range {
  const invocations = workgroupSize[0] * workgroupSize[1] * workgroupSize[2];
  switch (builtin) {
    case "localId.x":
      return [0, workgroupSize[0] - 1];
    case "localId.y":
      return [0, workgroupSize[1] - 1];
    case "localId.z":
      return [0, workgroupSize[2] - 1];
    case "localIndex":
      return [0, invocations - 1];
    case "subgroupId":
      return [0, Math.ceil(invocations / subgroupSize) - 1];
    case "lane":
      return [0, subgroupSize - 1];
    case "numWorkgroups.x":
    case "numWorkgroups.y":
    case "numWorkgroups.z":
      return [1, U32[1]];
    default:
      return U32;
  }
}

/** The range of an operation's result; that of its type where it may wrap, or nothing is known. */
function rangeOfOperation(node: OpNode, rangeOf: (value: Value) => Range): Range {
  const whole = rangeOfType(node.result);
  if (node.operands.some(({ type }) => type !== "u32" && type !== "i32" && type !== "bool")) return whole;
  const [a, b, c] = node.operands.map(rangeOf) as [Range, Range, Range];
  const fitting = (range: Range): Range => (range[0] < whole[0] || range[1] > whole[1] ? whole : range);
  const divisor = b?.[0] === b?.[1] && (b?.[0] ?? 0) > 0 ? b[0] : null;
  switch (node.op) {
    case "add":
      return fitting([a[0] + b[0], a[1] + b[1]]);
    case "sub":
      return fitting([a[0] - b[1], a[1] - b[0]]);
    case "mul": {
      const products = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
      return fitting([Math.min(...products), Math.max(...products)]);
    }
    case "min":
      return [Math.min(a[0], b[0]), Math.min(a[1], b[1])];
    case "max":
      return [Math.max(a[0], b[0]), Math.max(a[1], b[1])];
    case "select":
      return [Math.min(b[0], c[0]), Math.max(b[1], c[1])];
    case "divTrunc":
      return divisor === null ? whole : [Math.trunc(a[0] / divisor), Math.trunc(a[1] / divisor)];
    case "divFloor":
      return divisor === null ? whole : [Math.floor(a[0] / divisor), Math.floor(a[1] / divisor)];
    case "modFloor":
      return divisor === null ? whole : [0, divisor - 1];
    case "remTrunc":
      return divisor === null ? whole : [a[0] < 0 ? 1 - divisor : 0, divisor - 1];
    case "and":
      return a[0] >= 0 && b[0] >= 0 ? [0, Math.min(a[1], b[1])] : whole;
    case "shr":
      return b[0] === b[1]
        ? [Math.floor(a[0] / 2 ** (b[0] % 32)), Math.floor(a[1] / 2 ** (b[0] % 32))]
        : whole;
    case "toI32":
    case "toU32":
      return fitting(node.operands[0]?.type === "bool" ? [0, 1] : a);
    default:
      return whole;
  }
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
