/**
 * Whether a kernel needs subgroups that make progress side by side. Compiled kernels run a barrier-free region for one
 * subgroup to its end before the next subgroup starts, so one that waits for another would wait forever.
 */

import { atomicOps, visitNodes } from "@evolver/kernel";
import type { AtomicOp, KernelIR, Memory, Node } from "@evolver/kernel";
import { rowOf } from "../rows.ts";
import { isBarrier } from "./node-classes.ts";

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
  if (x * y * z <= ir.subgroupSize) return null;
  let reason: string | null = null;
  visitNodes(ir.body, (node) => {
    if (node.kind !== "roles" || reason !== null) return;
    visitNodes({ nodes: [node] }, (inner) => {
      if (isBarrier(inner)) reason = "a barrier inside the body of a role";
    });
  });
  const writers = writersOf(ir);
  visitNodes(ir.body, (loop) => {
    if (reason === null && (loop.kind === "while" || loop.kind === "for")) reason = whyWaits(loop, writers);
  });
  return reason;
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
function whyWaits(
  loop: Node & { readonly kind: "for" | "while" },
  writers: ReadonlyMap<Memory, ReadonlySet<Node>>,
): string | null {
  const inside = new Set<Node>();
  let hasBarrier = false;
  let mayWait = loop.kind === "while";
  visitNodes({ nodes: [loop] }, (node) => {
    inside.add(node);
    hasBarrier ||= isBarrier(node);
    mayWait ||= node.kind === "break";
  });
  if (hasBarrier || !mayWait) return null;
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
