/**
 * Between which numbers the integers of a kernel lie, as far as that is seen when it is built: constants, indices of the
 * invocation, counters of loops, and arithmetic on these. What may wrap may be anything that its type holds.
 */

import type { BuiltinName } from "../ir/builtins.ts";
import type { KernelIR, OpNode } from "../ir/nodes.ts";
import type { OpName } from "../ir/ops.ts";
import type { ScalarType, Value } from "../ir/types.ts";
import { visitNodes } from "../ir/walk.ts";

/** The smallest and the largest whole number that a value can be. */
export type ValueRange = readonly [least: number, greatest: number];

const LIMITS: Readonly<Partial<Record<ScalarType, ValueRange>>> = {
  u32: [0, 2 ** 32 - 1],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  bool: [0, 1],
};

const UNLIMITED: ValueRange = [-Infinity, Infinity];

/** What a type holds. */
export const rangeOfType = (type: ScalarType): ValueRange => LIMITS[type] ?? UNLIMITED;

/** Finds the numbers that each value can be, from constants, loops and conditions. Gives a function that looks a value up. */
export function findRanges(ir: KernelIR): (value: Value) => ValueRange {
  const ranges = new Map<number, ValueRange>();
  const of = ({ id, type }: Value): ValueRange => ranges.get(id) ?? rangeOfType(type);
  const set = ({ id, type }: Value, range: ValueRange | null): void => {
    const [least, greatest] = rangeOfType(type);
    if (range !== null && range[0] >= least && range[1] <= greatest) ranges.set(id, range);
  };
  visitNodes(ir.body, (node) => {
    if (node.kind === "const" && typeof node.value === "number") set(node.result, [node.value, node.value]);
    else if (node.kind === "builtin") set(node.result, rangesOfBuiltins(ir)[node.builtin] ?? null);
    else if (node.kind === "op") set(node.result, rangeOfOperation(node, of));
    else if (node.kind === "for") {
      const [from, to] = [of(node.from), of(node.to)];
      // The counter is a whole number between the ends; where there is none, the loop has no turn.
      const isUp = node.direction === "up";
      set(
        node.induction,
        isUp ? [from[0], Math.max(from[0], to[1] - 1)] : [Math.min(from[1], to[0] + 1), from[1]],
      );
    }
  });
  return of;
}

function rangesOfBuiltins({
  workgroupSize: [x, y, z],
  subgroupSize,
}: KernelIR): Readonly<Partial<Record<BuiltinName, ValueRange>>> {
  const below = (count: number): ValueRange => [0, count - 1];
  const count: ValueRange = [1, 2 ** 32 - 1];
  return {
    "localId.x": below(x),
    "localId.y": below(y),
    "localId.z": below(z),
    localIndex: below(x * y * z),
    lane: below(subgroupSize),
    subgroupId: below(Math.ceil((x * y * z) / subgroupSize)),
    "numWorkgroups.x": count,
    "numWorkgroups.y": count,
    "numWorkgroups.z": count,
  };
}

/** Null where nothing is known. */
function rangeOfOperation({ op, operands }: OpNode, of: (value: Value) => ValueRange): ValueRange | null {
  const rule = RULES[op];
  if (rule === undefined || operands.some(({ type }) => !INTEGERS.has(type))) return null;
  return rule(...(operands.map(of) as [ValueRange, ValueRange, ValueRange]));
}

const INTEGERS: ReadonlySet<ScalarType> = new Set(["u32", "i32", "index", "bool"]);

type Rule = (a: ValueRange, b: ValueRange, c: ValueRange) => ValueRange | null;

const isNatural = ([least]: ValueRange): boolean => least >= 0;

/** Of two numbers that are not negative: below the power of two above both. */
const bits: Rule = (a, b) =>
  isNatural(a) && isNatural(b) ? [0, 2 ** Math.ceil(Math.log2(Math.max(a[1], b[1]) + 1)) - 1] : null;

/** By a divisor that is known. */
const divided =
  (round: (quotient: number) => number): Rule =>
  (a, [least, greatest]) =>
    least === greatest && least > 0 ? [round(a[0] / least), round(a[1] / least)] : null;

const same: Rule = (a) => a;

const RULES: Readonly<Partial<Record<OpName, Rule>>> = {
  toIndex: same,
  toI32: same,
  toU32: same,
  add: (a, b) => [a[0] + b[0], a[1] + b[1]],
  sub: (a, b) => [a[0] - b[1], a[1] - b[0]],
  mul: (a, b) => {
    const products = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
    return [Math.min(...products), Math.max(...products)];
  },
  min: (a, b) => [Math.min(a[0], b[0]), Math.min(a[1], b[1])],
  max: (a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1])],
  select: (_, b, c) => [Math.min(b[0], c[0]), Math.max(b[1], c[1])],
  divTrunc: divided(Math.trunc),
  divFloor: divided(Math.floor),
  modFloor: (a, [least, greatest]) => {
    if (least !== greatest || least <= 0) return null;
    return [0, isNatural(a) ? Math.min(a[1], least - 1) : least - 1];
  },
  remTrunc: (a, [least, greatest]) => {
    if (least !== greatest || least <= 0) return null;
    return [isNatural(a) ? 0 : 1 - least, Math.min(Math.max(a[1], 0), least - 1)];
  },
  and: (a, b) => (isNatural(a) && isNatural(b) ? [0, Math.min(a[1], b[1])] : null),
  or: bits,
  xor: bits,
  shl: (a, b) => (isNatural(a) && b[0] >= 0 && b[1] < 32 ? [a[0] * 2 ** b[0], a[1] * 2 ** b[1]] : null),
  shr: (a, b) => {
    if (b[0] < 0 || b[1] > 31) return null;
    if (b[0] !== b[1] && !isNatural(a)) return null;
    return [Math.floor(a[0] / 2 ** b[1]), Math.floor(a[1] / 2 ** b[0])];
  },
};
