/** What a kernel uses, how often and where: what decides which values become names, and what arrays are made of. */

import type { ArriveNode, Block, KernelIR, Node, WhileNode } from "../../ir/nodes.ts";
import type { Memory, Value } from "../../ir/types.ts";
import { isHalf, type HalfType } from "../../ir/types.ts";
import { blocksOf, resultsOf, visitNodes } from "../../ir/walk.ts";

export interface Uses {
  count(value: Value): number;
  /** The block of the last use. */
  block(value: Value): Block | null;
}

/** The values that a node reads where it stands; the test of a `while` belongs to its condition block instead. */
function operandsOf(node: Node): readonly Value[] {
  switch (node.kind) {
    case "op":
    case "subgroup":
      return node.operands;
    case "load":
    case "uniformLoad":
      return [node.index];
    case "store":
      return [node.index, ...node.values];
    case "atomic":
      return [node.index, ...node.operands];
    case "var":
      return node.init === null ? [] : [node.init];
    case "varSet":
      return [node.value];
    case "if":
      return [node.condition];
    case "for":
      return [node.from, node.to, node.step];
    case "asyncCopy":
      return [node.toIndex, node.fromIndex, ...(node.active === null ? [] : [node.active])];
    case "arrive":
      return [node.index];
    case "awaitPhase":
      return [node.index, node.parity];
    default:
      return [];
  }
}

/** Whether a node does nothing but give values; if nobody wants them it may be left out. */
const isPure = ({ kind }: Node): boolean =>
  kind === "op" || kind === "load" || kind === "varGet" || kind === "subgroup";

/** Counts the uses by what is kept: backwards, so that nodes whose values nobody wants count for nothing. */
export function countUses(ir: KernelIR): Uses {
  const counts = new Uint32Array(ir.valueCount);
  const blocks: (Block | null)[] = Array.from({ length: ir.valueCount }, () => null);
  const use = (value: Value, block: Block): void => {
    counts[value.id] = (counts[value.id] ?? 0) + 1;
    blocks[value.id] ??= block;
  };
  const visit = (block: Block): void => {
    for (const node of block.nodes.toReversed()) {
      if (isPure(node) && !resultsOf(node).some(({ id }) => (counts[id] ?? 0) > 0)) continue;
      for (const inner of blocksOf(node).toReversed()) {
        if (node.kind === "while" && inner === node.condition) use(node.test, inner);
        visit(inner);
      }
      for (const operand of operandsOf(node)) use(operand, block);
    }
  };
  visit(ir.body);
  return { count: ({ id }) => counts[id] ?? 0, block: ({ id }) => blocks[id] ?? null };
}

/** Buffers in the order of the parameters, then shared memory. */
export function memoriesOf(ir: KernelIR): Memory[] {
  const buffers = ir.params.flatMap((param) => (param.kind === "buffer" ? [param.memory] : []));
  return [...buffers, ...ir.shared];
}

/** Memory that is stored to one element at a time. */
export function singlyStored(ir: KernelIR): ReadonlySet<Memory> {
  const memories = new Set<Memory>();
  visitNodes(ir.body, (node) => {
    if (node.kind === "store" && node.values.length === 1) memories.add(node.memory);
  });
  return memories;
}

/** The two-byte types that a kernel touches, and those of them that its lanes exchange. */
export function halfTypesOf(ir: KernelIR): {
  readonly all: ReadonlySet<HalfType>;
  readonly exchanged: ReadonlySet<HalfType>;
} {
  const all = new Set<HalfType>();
  const exchanged = new Set<HalfType>();
  for (const { element } of memoriesOf(ir)) if (isHalf(element)) all.add(element);
  visitNodes(ir.body, (node) => {
    for (const { type } of resultsOf(node)) {
      if (!isHalf(type)) continue;
      all.add(type);
      if (node.kind === "subgroup") exchanged.add(type);
    }
    if (node.kind === "var" && isHalf(node.variable.type)) all.add(node.variable.type);
  });
  return { all, exchanged };
}

/** Whether a loop may be waiting for what other invocations do. */
export function hasAtomic(node: WhileNode): boolean {
  let found = false;
  const look = (inner: Node): void => {
    if (inner.kind === "atomic") found = true;
  };
  visitNodes(node.condition, look);
  visitNodes(node.body, look);
  return found;
}

/**
 * Whether an invocation may have stored to memory, since the last barrier of the workgroup at the outermost level, when it
 * gets to this arrival; what other roles store does not count.
 */
export function storesBefore(ir: KernelIR, arrival: ArriveNode): boolean {
  const has = (block: Block, wanted: (node: Node) => boolean): boolean => {
    let found = false;
    visitNodes(block, (node) => (found ||= wanted(node)));
    return found;
  };
  const stores = (node: Node): boolean => node.kind === "store" || node.kind === "atomic";
  let before = false;
  for (const node of ir.body.nodes) {
    const here: Block = { nodes: [node] };
    if (has(here, (inner) => inner === arrival)) {
      const own = blocksOf(node).filter((block) => has(block, (inner) => inner === arrival));
      return before || (node.kind === "roles" ? own : [here]).some((block) => has(block, stores));
    }
    if (node.kind === "barrier" && node.scope === "workgroup") before = false;
    else before ||= has(here, stores);
  }
  return before;
}

/** The narrowest access to each memory that is accessed as numbers. */
export function accessWidths(ir: KernelIR): Map<Memory, number> {
  const widths = new Map<Memory, number>();
  const see = (memory: Memory, width: number): void => {
    widths.set(memory, Math.min(widths.get(memory) ?? width, width));
  };
  visitNodes(ir.body, (node) => {
    if (node.kind === "load") see(node.memory, node.results.length);
    else if (node.kind === "store") see(node.memory, node.values.length);
    else if (node.kind === "uniformLoad") see(node.memory, 1);
    else if (node.kind === "asyncCopy") {
      see(node.from, node.width);
      see(node.to, node.width);
    }
  });
  return widths;
}
