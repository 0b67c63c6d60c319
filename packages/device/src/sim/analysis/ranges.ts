/**
 * Between which numbers integers of a kernel lie, as far as that is seen at once: constants, indices of the invocation,
 * counters of loops with constant ends, and arithmetic on these. Checks that cannot fail are then left out.
 */

import { visitNodes } from "@evolver/kernel";
import type { IndexLimit, BuiltinName, KernelIR, Node, OpNode, ScalarType, Value } from "@evolver/kernel";

/** Both ends are reached at most. */
interface Range {
  readonly from: number;
  readonly to: number;
}

const LIMITS: Partial<Readonly<Record<ScalarType, Range>>> = {
  u32: { from: 0, to: 2 ** 32 - 1 },
  i32: { from: -(2 ** 31), to: 2 ** 31 - 1 },
  index: { from: -Infinity, to: Infinity },
  bool: { from: 0, to: 1 },
};

/** By value id; undefined where nothing is known. */
function findRanges(ir: KernelIR): (value: Value | number) => Range | undefined {
  const ranges = new Map<number, Range>();
  const of = (value: Value | number): Range | undefined =>
    typeof value === "number" ? { from: value, to: value } : (ranges.get(value.id) ?? LIMITS[value.type]);
  visitNodes(ir.body, (node) => {
    if (node.kind === "const" && typeof node.value === "number")
      set(node.result, { from: node.value, to: node.value });
    else if (node.kind === "builtin") set(node.result, builtinRange(node.builtin, ir));
    else if (node.kind === "for") {
      const [from, to] = [of(node.from), of(node.to)];
      if (from && to)
        set(
          node.induction,
          node.direction === "up" ? { from: from.from, to: to.to - 1 } : { from: to.from + 1, to: from.to },
        );
    } else if (node.kind === "op") {
      const operands = node.operands.map(of);
      if (operands.every((range) => range !== undefined)) set(node.result, opRange(node, operands));
    }
  });
  function set({ id, type }: Value, range: Range | undefined): void {
    const limits = LIMITS[type];
    // What wraps may be anything.
    if (range && limits && range.from >= limits.from && range.to <= limits.to && range.from <= range.to)
      ranges.set(id, range);
  }
  return of;
}

/** The limits of nodes that may be violated. */
export function openLimits(ir: KernelIR): ReadonlyMap<Node, readonly IndexLimit[]> {
  const rangeOf = findRanges(ir);
  const open = new Map<Node, readonly IndexLimit[]>();
  visitNodes(ir.body, (node) => {
    const left = (node.limits ?? []).filter(({ index, width, extent }) => {
      const [reached, limit] = [rangeOf(index), rangeOf(extent)];
      return !(reached && limit && reached.from >= 0 && reached.to + width <= limit.from);
    });
    if (left.length > 0) open.set(node, left);
  });
  return open;
}

function builtinRange(
  name: BuiltinName,
  { workgroupSize: [x, y, z], subgroupSize }: KernelIR,
): Range | undefined {
  const below = (count: number): Range => ({ from: 0, to: count - 1 });
  switch (name) {
    case "localId.x":
      return below(x);
    case "localId.y":
      return below(y);
    case "localId.z":
      return below(z);
    case "localIndex":
      return below(x * y * z);
    case "lane":
      return below(subgroupSize);
    case "subgroupId":
      return below(Math.ceil((x * y * z) / subgroupSize));
    default:
      return undefined;
  }
}

function opRange({ op }: OpNode, [a, b, c]: readonly Range[]): Range | undefined {
  if (a === undefined) return undefined;
  if (op === "toU32" || op === "toI32" || op === "toIndex") return a;
  if (b === undefined) return undefined;
  const isNatural = a.from >= 0 && b.from >= 0;
  const isConstant = b.from === b.to && b.from > 0;
  switch (op) {
    case "add":
      return { from: a.from + b.from, to: a.to + b.to };
    case "sub":
      return { from: a.from - b.to, to: a.to - b.from };
    case "mul":
      return isNatural ? { from: a.from * b.from, to: a.to * b.to } : undefined;
    case "min":
      return { from: Math.min(a.from, b.from), to: Math.min(a.to, b.to) };
    case "max":
      return { from: Math.max(a.from, b.from), to: Math.max(a.to, b.to) };
    case "and":
      return isNatural ? { from: 0, to: Math.min(a.to, b.to) } : undefined;
    case "or":
    case "xor":
      return isNatural ? { from: 0, to: 2 ** Math.ceil(Math.log2(Math.max(a.to, b.to) + 1)) - 1 } : undefined;
    case "divTrunc":
    case "divFloor":
      return isNatural && isConstant
        ? { from: Math.floor(a.from / b.from), to: Math.floor(a.to / b.from) }
        : undefined;
    case "remTrunc":
    case "modFloor":
      return isNatural && isConstant ? { from: 0, to: Math.min(a.to, b.from - 1) } : undefined;
    case "shl":
      return isNatural && b.to < 32 ? { from: a.from * 2 ** b.from, to: a.to * 2 ** b.to } : undefined;
    case "shr":
      return isNatural && b.to < 32
        ? { from: Math.floor(a.from / 2 ** b.to), to: Math.floor(a.to / 2 ** b.from) }
        : undefined;
    case "select":
      return c === undefined ? undefined : { from: Math.min(b.from, c.from), to: Math.max(b.to, c.to) };
    default:
      return undefined;
  }
}
