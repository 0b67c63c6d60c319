/** A kernel without its traces, for devices that show none: what only they use is then used by nothing. */

import type { Block, KernelIR, Node, TraceNode } from "./nodes.ts";
import { visitNodes } from "./walk.ts";

/** The traces of a kernel, in program order. */
export function tracesOf(ir: KernelIR): readonly TraceNode[] {
  const traces: TraceNode[] = [];
  visitNodes(ir.body, (node) => {
    if (node.kind === "trace") traces.push(node);
  });
  return traces;
}

/** The kernel without them: the same object if it has none. */
export const withoutTraces = (ir: KernelIR): KernelIR =>
  tracesOf(ir).length === 0 ? ir : Object.freeze({ ...ir, body: blockWithout(ir.body) });

const blockWithout = ({ nodes }: Block): Block =>
  Object.freeze({ nodes: Object.freeze(nodes.filter(({ kind }) => kind !== "trace").map(nodeWithout)) });

function nodeWithout(node: Node): Node {
  if (node.kind === "if") return { ...node, then: blockWithout(node.then), else: blockWithout(node.else) };
  if (node.kind === "for") return { ...node, body: blockWithout(node.body) };
  if (node.kind === "while")
    return { ...node, condition: blockWithout(node.condition), body: blockWithout(node.body) };
  if (node.kind !== "roles") return node;
  return { ...node, roles: node.roles.map((role) => ({ ...role, body: blockWithout(role.body) })) };
}
