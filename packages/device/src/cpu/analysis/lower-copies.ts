/**
 * Lowers asynchronous copies to loads and stores, and removes nodes that have no effect where a subgroup runs in lockstep:
 * waits for copies, which are complete at once, and barriers of a subgroup, whose lanes never see each other out of step.
 */

import { assertNever } from "@evolver/base";
import type { AsyncCopyNode, Block, KernelIR, Node, Role, Value } from "@evolver/kernel";
import { visitNodes } from "@evolver/kernel";
import { isControl, isLowered, type ControlNode, type NodeOf } from "./node-classes.ts";

/** The kernel itself where there is nothing to do. */
export function lowerCopies(ir: KernelIR): KernelIR {
  let isLow = true;
  visitNodes(ir.body, (node) => (isLow &&= !isLowered(node) && !isSubgroupBarrier(node)));
  if (isLow) return ir;
  const lowering = new Lowering(ir);
  const { nodes } = lowering.block(ir.body);
  return { ...ir, body: { nodes: [...lowering.zeros, ...nodes] }, valueCount: lowering.valueCount };
}

const isSubgroupBarrier = (node: Node): boolean => node.kind === "barrier" && node.scope === "subgroup";

class Lowering {
  /** Constants for the front of the kernel: what inactive copies write. */
  readonly zeros: Node[] = [];
  valueCount: number;

  constructor(ir: KernelIR) {
    this.valueCount = ir.valueCount;
  }

  block(block: Block): Block {
    return { nodes: block.nodes.flatMap((node) => this.#node(node)) };
  }

  #node(node: Node): Node[] {
    if (isLowered(node)) return this.#lowered(node);
    if (isControl(node)) return [this.#control(node)];
    return isSubgroupBarrier(node) ? [] : [node];
  }

  #lowered(node: NodeOf<"lowered">): Node[] {
    switch (node.kind) {
      case "asyncCopy":
        return this.#copy(node);
      case "commitCopies":
      case "awaitCopies":
      case "trace":
        return [];
      default:
        return assertNever(node, "node to lower");
    }
  }

  #control(node: ControlNode): Node {
    switch (node.kind) {
      case "if":
        return { ...node, then: this.block(node.then), else: this.block(node.else) };
      case "for":
        return { ...node, body: this.block(node.body) };
      case "while":
        return { ...node, condition: this.block(node.condition), body: this.block(node.body) };
      case "roles":
        return {
          ...node,
          roles: node.roles.map((role): Role => ({ ...role, body: this.block(role.body) })),
        };
      default:
        return assertNever(node, "control node");
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
