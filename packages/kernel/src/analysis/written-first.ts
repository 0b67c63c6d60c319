/** Which buffers a kernel uses as scratch: it writes them before it reads them, so that their contents do not matter. */

import type { KernelIR } from "../ir/nodes.ts";
import type { Memory } from "../ir/types.ts";
import { memoriesOf, visitNodes } from "../ir/walk.ts";

/** Buffers that the kernel also reads, and whose first access in program order is a store. */
export function writtenFirst(ir: KernelIR): ReadonlySet<Memory> {
  const first = new Map<Memory, boolean>();
  const read = new Set<Memory>();
  visitNodes(ir.body, (node) => {
    for (const { memory, access } of memoriesOf(node)) {
      if (memory.space !== "global") continue;
      if (!first.has(memory)) first.set(memory, node.kind === "store");
      if (access !== "write") read.add(memory);
    }
  });
  return new Set([...read].filter((memory) => first.get(memory)));
}
