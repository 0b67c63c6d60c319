/**
 * Which node defines a value and which ones use it, as code is generated for them: of an index only the part that is not
 * constant is used, since constant offsets go into the instructions that access memory.
 */

import { operandsOf, resultsOf, visitNodes } from "@evolver/kernel";
import type { KernelIR, Node, Value } from "@evolver/kernel";
import type { Divergence } from "./divergence.ts";

/** An index as a value plus a constant. */
export interface ResolvedIndex {
  readonly root: Value;
  /** In elements, not negative, below `MAX_FOLDED`. */
  readonly offset: number;
}

/** Constant offsets below this are folded into instructions; so many elements before a buffer must be addressable. */
export const MAX_FOLDED = 16384;

export class Dataflow {
  readonly users = new Map<number, Node[]>();
  readonly definitions = new Map<number, Node>();
  readonly #divergence: Divergence;
  readonly #resolved = new Map<number, ResolvedIndex>();

  constructor(ir: KernelIR, divergence: Divergence) {
    this.#divergence = divergence;
    visitNodes(ir.body, (node) => {
      for (const value of resultsOf(node)) this.definitions.set(value.id, node);
    });
    visitNodes(ir.body, (node) => {
      for (const value of this.operandsOf(node)) {
        const list = this.users.get(value.id);
        if (list === undefined) this.users.set(value.id, [node]);
        else list.push(node);
      }
    });
  }

  /** The operands of a node, with the root of a memory index in its place. */
  operandsOf(node: Node): readonly Value[] {
    const operands = operandsOf(node);
    if (!("index" in node)) return operands;
    // The same value may be stored too, so only the first place, that of the index, is replaced.
    return operands.with(operands.indexOf(node.index), this.resolve(node.index).root);
  }

  /** Takes constant terms out of an index. */
  resolve(index: Value): ResolvedIndex {
    const known = this.#resolved.get(index.id);
    if (known !== undefined) return known;
    let root = index;
    let offset = 0;
    for (;;) {
      const node = this.definitions.get(root.id);
      if (node?.kind !== "op") break;
      const [a, b] = node.operands as [Value, Value];
      if (node.op === "toIndex") {
        root = a;
        continue;
      }
      if (node.op !== "add") break;
      const [term, other] = this.#divergence.pattern(b).constant === undefined ? [a, b] : [b, a];
      const { constant } = this.#divergence.pattern(term);
      if (constant === undefined || constant < 0 || offset + constant >= MAX_FOLDED) break;
      offset += constant;
      root = other;
    }
    const resolved = { root, offset };
    this.#resolved.set(index.id, resolved);
    return resolved;
  }
}
