/** How a kernel touches each memory, which decides what a launch has to check. */

import { assertNever } from "@evolver/base";
import { memoriesOf, visitNodes, writtenFirst } from "@evolver/kernel";
import type { KernelIR, Memory, Node } from "@evolver/kernel";

interface MemoryUse {
  reads: boolean;
  writes: boolean;
}

export interface Accesses {
  readonly memories: ReadonlyMap<Memory, MemoryUse>;
  /** Whether something other than barriers of the workgroup orders accesses. */
  readonly ordering: boolean;
  /** Whether there are atomic operations. */
  readonly atomics: boolean;
  /** Whether workgroups can tell each other something without a race: by atomic operations on buffers. */
  readonly communicating: boolean;
  /** Where asynchronous copies go. */
  readonly copied: ReadonlySet<Memory>;
  /** Buffers that the kernel writes and that asynchronous copies read. */
  readonly sources: ReadonlySet<Memory>;
  /** Buffers that the kernel writes before it reads them. */
  readonly scratch: ReadonlySet<Memory>;
}

export function accessesOf(ir: KernelIR): Accesses {
  const memories = new Map<Memory, MemoryUse>();
  const copied = new Set<Memory>();
  const from = new Set<Memory>();
  let ordering = false;
  let atomics = false;
  let communicating = false;
  const use = (memory: Memory): MemoryUse => {
    let known = memories.get(memory);
    if (known === undefined) memories.set(memory, (known = { reads: false, writes: false }));
    return known;
  };
  visitNodes(ir.body, (node) => {
    for (const { memory, access } of memoriesOf(node)) {
      const found = use(memory);
      // Atomic operations do not race.
      if (node.kind === "atomic") {
        atomics = true;
        if (memory.space === "global") communicating = true;
        continue;
      }
      if (access !== "write") found.reads = true;
      if (access !== "read") found.writes = true;
    }
    if (node.kind === "asyncCopy") {
      copied.add(node.to);
      from.add(node.from);
    }
    if (orders(node)) ordering = true;
  });
  const sources = new Set([...from].filter((memory) => memories.get(memory)?.writes === true));
  return { memories, ordering, atomics, communicating, copied, sources, scratch: writtenFirst(ir) };
}

/** Whether a node orders accesses of some invocations of a workgroup, and not of all of them. */
function orders(node: Node): boolean {
  switch (node.kind) {
    case "atomic":
      return node.order !== "relaxed";
    case "barrier":
      return node.scope === "subgroup";
    case "arrive":
    case "awaitPhase":
      return true;
    case "const":
    case "param":
    case "builtin":
    case "op":
    case "load":
    case "store":
    case "uniformLoad":
    case "var":
    case "varGet":
    case "varSet":
    case "if":
    case "for":
    case "while":
    case "break":
    case "continue":
    case "roles":
    case "asyncCopy":
    case "commitCopies":
    case "awaitCopies":
    case "subgroup":
    case "comment":
    case "trace":
      return false;
    default:
      return assertNever(node, "node kind");
  }
}
