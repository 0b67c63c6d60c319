/** What a kernel uses, how often and where: what decides which values become names, and what arrays are made of. */

import type { ArriveNode, Block, KernelIR, Node, WhileNode } from "../../ir/nodes.ts";
import { isHalf, type HalfType, type Memory, type Value } from "../../ir/types.ts";
import {
  blocksOf,
  isRemovable,
  memoriesOf,
  operandsAtEndOf,
  operandsOnEntry,
  resultsOf,
  variablesOf,
  visitNodes,
} from "../../ir/walk.ts";

export interface Uses {
  count(value: Value): number;
  /** The block of the last use. */
  block(value: Value): Block | null;
}

/** Counts uses by nodes that are emitted: backwards, so that uses by nodes whose own values are never used do not count. */
export function countUses(ir: KernelIR): Uses {
  const counts = new Uint32Array(ir.valueCount);
  const blocks: (Block | null)[] = Array.from({ length: ir.valueCount }, () => null);
  const use = (value: Value, block: Block): void => {
    counts[value.id] = (counts[value.id] ?? 0) + 1;
    blocks[value.id] ??= block;
  };
  const isUsed = ({ id }: Value): boolean => (counts[id] ?? 0) > 0;
  const visit = (block: Block): void => {
    for (let k = block.nodes.length - 1; k >= 0; k--) {
      const node = block.nodes[k] as Node;
      if (isRemovable(node) && !resultsOf(node).some(isUsed)) continue;
      const inside = blocksOf(node);
      for (let i = inside.length - 1; i >= 0; i--) {
        const inner = inside[i] as Block;
        for (const operand of operandsAtEndOf(node, inner)) use(operand, inner);
        visit(inner);
      }
      for (const operand of operandsOnEntry(node)) use(operand, block);
    }
  };
  visit(ir.body);
  return { count: ({ id }) => counts[id] ?? 0, block: ({ id }) => blocks[id] ?? null };
}

/** Buffers in the order of the parameters, then shared memory. */
export function declaredMemories(ir: KernelIR): Memory[] {
  const buffers = ir.params.flatMap((param) => (param.kind === "buffer" ? [param.memory] : []));
  return [...buffers, ...ir.shared];
}

/** How many consecutive elements a node accesses at once. */
function widthOf(node: Node): number {
  if (node.kind === "load") return node.results.length;
  if (node.kind === "store") return node.values.length;
  return node.kind === "asyncCopy" ? node.width : 1;
}

/** What all of a kernel together uses. */
export interface Survey {
  /** The two-byte types that it touches, and those of them that its lanes exchange. */
  readonly halfTypes: ReadonlySet<HalfType>;
  readonly exchangedHalfTypes: ReadonlySet<HalfType>;
  /** The narrowest access to each memory. */
  readonly accessWidths: ReadonlyMap<Memory, number>;
  /** Memory that is stored to one element at a time. */
  readonly singlyStored: ReadonlySet<Memory>;
  readonly hasSubgroupOperations: boolean;
}

const surveys = new WeakMap<KernelIR, Survey>();

export function surveyOf(ir: KernelIR): Survey {
  let survey = surveys.get(ir);
  if (survey === undefined) surveys.set(ir, (survey = makeSurvey(ir)));
  return survey;
}

function makeSurvey(ir: KernelIR): Survey {
  const halfTypes = new Set<HalfType>();
  const exchangedHalfTypes = new Set<HalfType>();
  const accessWidths = new Map<Memory, number>();
  const singlyStored = new Set<Memory>();
  let hasSubgroupOperations = false;
  for (const { element } of declaredMemories(ir)) if (isHalf(element)) halfTypes.add(element);
  visitNodes(ir.body, (node) => {
    const isExchange = node.kind === "subgroup";
    hasSubgroupOperations ||= isExchange;
    for (const { type } of resultsOf(node)) {
      if (!isHalf(type)) continue;
      halfTypes.add(type);
      if (isExchange) exchangedHalfTypes.add(type);
    }
    for (const { variable } of variablesOf(node)) if (isHalf(variable.type)) halfTypes.add(variable.type);
    for (const { memory, access } of memoriesOf(node)) {
      const width = widthOf(node);
      accessWidths.set(memory, Math.min(accessWidths.get(memory) ?? Infinity, width));
      if (access !== "read" && width === 1) singlyStored.add(memory);
    }
  });
  return { halfTypes, exchangedHalfTypes, accessWidths, singlyStored, hasSubgroupOperations };
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
  // An atomic load counts: it may have seen what others stored, and passes that on.
  const stores = (node: Node): boolean =>
    node.kind === "atomic" ||
    (node.kind !== "asyncCopy" && memoriesOf(node).some(({ access }) => access !== "read"));
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
