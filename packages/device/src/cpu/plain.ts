/**
 * A kernel without asynchronous copies and subgroup barriers, as stretches are compiled from it: a copy is a load and a
 * store at once, with nothing to wait for, and lanes of a subgroup are never out of step where another could see it.
 */

import type { AsyncCopyNode, Block, KernelIR, Node, Role, Value } from "@evolver/kernel";
import { visitNodes } from "@evolver/kernel";

/** The kernel itself where it has none of these. */
export function plainly(ir: KernelIR): KernelIR {
  let isPlain = true;
  visitNodes(ir.body, (node) => (isPlain &&= !isDropped(node) && node.kind !== "asyncCopy"));
  if (isPlain) return ir;
  const rewriter = new Rewriter(ir);
  const { nodes } = rewriter.block(ir.body);
  return { ...ir, body: { nodes: [...rewriter.zeros, ...nodes] }, valueCount: rewriter.valueCount };
}

const isDropped = (node: Node): boolean =>
  node.kind === "commitCopies" ||
  node.kind === "awaitCopies" ||
  (node.kind === "barrier" && node.scope === "subgroup");

class Rewriter {
  readonly zeros: Node[] = [];
  valueCount: number;

  constructor(ir: KernelIR) {
    this.valueCount = ir.valueCount;
  }

  block(block: Block): Block {
    return { nodes: block.nodes.flatMap((node) => (isDropped(node) ? [] : this.#node(node))) };
  }

  #node(node: Node): Node[] {
    switch (node.kind) {
      case "asyncCopy":
        return this.#copy(node);
      case "if":
        return [{ ...node, then: this.block(node.then), else: this.block(node.else) }];
      case "for":
        return [{ ...node, body: this.block(node.body) }];
      case "while":
        return [{ ...node, condition: this.block(node.condition), body: this.block(node.body) }];
      case "roles":
        return [
          { ...node, roles: node.roles.map((role): Role => ({ ...role, body: this.block(role.body) })) },
        ];
      default:
        return [node];
    }
  }

  #copy({ from, fromIndex, to, toIndex, width, active, site }: AsyncCopyNode): Node[] {
    const results = Array.from({ length: width }, () => this.#value(from.element));
    const store = (values: readonly Value[]): Node => ({
      kind: "store",
      memory: to,
      index: toIndex,
      values,
      site,
    });
    const move: Node[] = [{ kind: "load", memory: from, index: fromIndex, results, site }, store(results)];
    if (active === null) return move;
    const zero = this.#value(to.element);
    this.zeros.push({ kind: "const", result: zero, value: 0, site });
    const otherwise = [store(Array.from({ length: width }, () => zero))];
    return [{ kind: "if", condition: active, then: { nodes: move }, else: { nodes: otherwise }, site }];
  }

  #value(type: Value["type"]): Value {
    return { id: this.valueCount++, type };
  }
}
