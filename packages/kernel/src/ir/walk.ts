/** Small helpers over IR nodes that printers, checkers and analyses share. They assume nothing about validity. */

import type { Block, KernelIR, Node } from "./nodes.ts";
import type { Value } from "./types.ts";

/** The values that a node defines; a loop's induction value counts. */
export function resultsOf(node: Node): readonly Value[] {
  switch (node.kind) {
    case "const":
    case "param":
    case "builtin":
    case "op":
    case "varGet":
    case "uniformLoad":
      return [node.result];
    case "load":
    case "subgroup":
      return node.results;
    case "atomic":
      return node.result === null ? [] : [node.result];
    case "for":
      return [node.induction];
    default:
      return [];
  }
}

/** The blocks nested directly in a node, in the order in which they stand. */
export function blocksOf(node: Node): readonly Block[] {
  switch (node.kind) {
    case "if":
      return [node.then, node.else];
    case "for":
      return [node.body];
    case "while":
      return [node.condition, node.body];
    case "roles":
      return node.roles.map((role) => role.body);
    default:
      return [];
  }
}

/** Calls `visit` for each node in program order, outer nodes before those nested in them. */
export function visitNodes(block: Block, visit: (node: Node) => void): void {
  for (const node of block.nodes) {
    visit(node);
    for (const inner of blocksOf(node)) visitNodes(inner, visit);
  }
}

/** The node that defines a value, or undefined. Slow (a walk): for messages only. */
export function findDefinition(ir: KernelIR, id: number): Node | undefined {
  let found: Node | undefined;
  visitNodes(ir.body, (node) => {
    if (found === undefined && resultsOf(node).some((value) => value.id === id)) found = node;
  });
  return found;
}

/** A short name of a node for messages: "op add", "load of x", "if". */
export function describeNode(node: Node): string {
  switch (node.kind) {
    case "op":
    case "subgroup":
      return `${node.kind} ${node.op}`;
    case "builtin":
      return `builtin ${node.builtin}`;
    case "param":
      return `param ${node.name}`;
    case "const":
      return `const ${String(node.value)}`;
    case "load":
    case "uniformLoad":
      return `${node.kind} of ${node.memory.name}`;
    case "store":
      return `store to ${node.memory.name}`;
    case "atomic":
      return `atomic ${node.op} on ${node.memory.name}`;
    case "barrier":
      return node.scope === "subgroup" ? "subgroup barrier" : "barrier";
    case "asyncCopy":
      return `${node.kind} from ${node.from.name} to ${node.to.name}`;
    case "arrive":
      return `arrive at ${node.barrier.name}`;
    case "awaitPhase":
      return `awaitPhase of ${node.barrier.name}`;
    case "var":
    case "varGet":
    case "varSet":
      return `${node.kind} of ${node.variable.name}`;
    default:
      return node.kind;
  }
}
