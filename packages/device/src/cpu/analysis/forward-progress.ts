/**
 * Whether a kernel needs subgroups that make progress side by side. Compiled kernels run a barrier-free region for one
 * subgroup to its end before the next subgroup starts, so one that waits for another would wait forever.
 */

import { atomicOps, blocksOf, visitNodes } from "@evolver/kernel";
import type { AtomicOp, KernelIR, Memory, Node } from "@evolver/kernel";
import { rowOf } from "../lookup.ts";
import { isBarrier, isLoop, leavesLoop, type NodeOf } from "./node-classes.ts";

/** Whether an atomic operation may be how a loop sees that another subgroup has written. */
const mayObserve: Readonly<Record<AtomicOp, boolean>> = Object.freeze({
  load: true,
  exchange: true,
  compareExchange: true,
  store: false,
  add: false,
  min: false,
  max: false,
  and: false,
  or: false,
  xor: false,
});

/** Why a kernel needs subgroups that run side by side, as words that follow "the kernel has"; null where it does not. */
export function whyConcurrent(ir: KernelIR): string | null {
  const [x, y, z] = ir.workgroupSize;
  let reason: string | null = null;
  visitNodes(ir.body, (node) => {
    if (isLoop(node) && containsBarrier(node) && node.body.nodes.some(leavesInRole))
      reason = "a role that leaves a loop with barriers";
  });
  if (reason !== null || x * y * z <= ir.subgroupSize) return reason;
  visitNodes(ir.body, (node) => {
    if (node.kind === "roles" && containsBarrier(node)) reason = "a barrier inside the body of a role";
  });
  const writers = writersOf(ir);
  visitNodes(ir.body, (node) => {
    if (reason === null && isLoop(node)) reason = whyWaits(node, writers);
  });
  return reason;
}

function containsBarrier(node: Node): boolean {
  let found = false;
  visitNodes({ nodes: [node] }, (inner) => (found ||= isBarrier(inner)));
  return found;
}

/** Whether a role in the node leaves the loop around it: which subgroups go on is then for each to say. */
function leavesInRole(node: Node): boolean {
  if (!leavesLoop(node)) return false;
  return node.kind === "roles" || blocksOf(node).some(({ nodes }) => nodes.some(leavesInRole));
}

/** The atomic operations that write each memory. */
function writersOf(ir: KernelIR): Map<Memory, Set<Node>> {
  const writers = new Map<Memory, Set<Node>>();
  visitNodes(ir.body, (node) => {
    if (node.kind !== "atomic" || rowOf(atomicOps, node.op, "atomic operation").access === "read") return;
    const list = writers.get(node.memory) ?? new Set();
    writers.set(node.memory, list.add(node));
  });
  return writers;
}

/** Why a loop may run until another subgroup does something. */
function whyWaits(loop: NodeOf<"loop">, writers: ReadonlyMap<Memory, ReadonlySet<Node>>): string | null {
  if (containsBarrier(loop)) return null;
  const inside = new Set<Node>();
  let mayWait = loop.kind === "while";
  visitNodes({ nodes: [loop] }, (node) => {
    inside.add(node);
    mayWait ||= node.kind === "break";
  });
  if (!mayWait) return null;
  let reason: string | null = null;
  for (const node of inside) {
    if (node.kind !== "atomic" || !rowOf(mayObserve, node.op, "atomic operation")) continue;
    // A loop that is the only one to write what it waits for is a retry loop and ends by itself.
    for (const writer of writers.get(node.memory) ?? [])
      if (!inside.has(writer))
        reason = `a loop that waits for another subgroup to write "${node.memory.name}"`;
  }
  return reason;
}
