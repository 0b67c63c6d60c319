/** How a kernel touches each memory, which decides what a launch has to check. */

import { visitNodes } from "@evolver/kernel";
import type { KernelIR, Memory } from "@evolver/kernel";

interface MemoryUse {
  reads: boolean;
  writes: boolean;
}

export interface Accesses {
  readonly memories: ReadonlyMap<Memory, MemoryUse>;
  /** Whether something other than barriers of the workgroup orders accesses. */
  readonly ordering: boolean;
  /** Where asynchronous copies go. */
  readonly copied: ReadonlySet<Memory>;
  /** Buffers that the kernel writes and that asynchronous copies read. */
  readonly sources: ReadonlySet<Memory>;
}

export function accessesOf(ir: KernelIR): Accesses {
  const memories = new Map<Memory, MemoryUse>();
  const copied = new Set<Memory>();
  const from = new Set<Memory>();
  let ordering = false;
  const use = (memory: Memory): MemoryUse => {
    let known = memories.get(memory);
    if (known === undefined) memories.set(memory, (known = { reads: false, writes: false }));
    return known;
  };
  visitNodes(ir.body, (node) => {
    switch (node.kind) {
      case "load":
      case "uniformLoad":
        use(node.memory).reads = true;
        break;
      case "store":
        use(node.memory).writes = true;
        break;
      case "atomic":
        use(node.memory);
        if (node.order !== "relaxed") ordering = true;
        break;
      case "barrier":
        if (node.scope === "subgroup") ordering = true;
        break;
      case "asyncCopy":
        use(node.from).reads = true;
        use(node.to).writes = true;
        copied.add(node.to);
        from.add(node.from);
        break;
      case "arrive":
      case "awaitPhase":
        ordering = true;
        break;
    }
  });
  const sources = new Set([...from].filter((memory) => memories.get(memory)?.writes === true));
  return { memories, ordering, copied, sources };
}
