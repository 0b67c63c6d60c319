/** Which accesses to memory may be vectorised together. */

import { assertNever } from "@evolver/base";
import type { LoadNode, Memory, StoreNode, Value } from "@evolver/kernel";
import type { StraightNode } from "../analysis/node-classes.ts";
import type { Emitter } from "./emitter.ts";

interface Access {
  readonly index: Value;
  readonly width: number;
}

/**
 * The accesses of a straight-line sequence so far. Four lanes run the whole sequence before the next four start, so two
 * accesses to the same element from different lanes must not be in one sequence, unless both only read.
 */
export class Hazards {
  readonly #e: Emitter;
  readonly #loads = new Map<Memory, Access[]>();
  readonly #stores = new Map<Memory, Access[]>();

  constructor(e: Emitter) {
    this.#e = e;
  }

  /** Adds a node; false (and nothing added) where it must start a new sequence. */
  add(node: StraightNode): boolean {
    switch (node.kind) {
      case "load":
      case "store":
        return this.#addAccess(node);
      case "const":
      case "param":
      case "builtin":
      case "op":
      case "var":
      case "varGet":
      case "varSet":
      case "comment":
        return true;
      default:
        return assertNever(node, "straight node");
    }
  }

  #addAccess(node: LoadNode | StoreNode): boolean {
    const { memory, index } = node;
    const access = { index, width: node.kind === "store" ? node.values.length : node.results.length };
    const sameElements = (other: Access): boolean =>
      other.index === index && other.width === access.width && this.#isPerLane(index);
    // Loads move past nothing but loads, and stores of lanes past other stores of lanes too.
    if (node.kind === "load") {
      if (!(this.#stores.get(memory) ?? []).every(sameElements)) return false;
    } else {
      if (!(this.#loads.get(memory) ?? []).every(sameElements)) return false;
      const stores = this.#stores.get(memory) ?? [];
      const arePerLane = this.#isPerLane(index) && stores.every((other) => this.#isPerLane(other.index));
      if (stores.length > 0 && !arePerLane) return false;
    }
    const lists = node.kind === "load" ? this.#loads : this.#stores;
    const list = lists.get(memory);
    if (list === undefined) lists.set(memory, [access]);
    else list.push(access);
    return true;
  }

  /** Whether lanes have elements of their own. */
  #isPerLane(index: Value): boolean {
    return this.#e.pattern(index).kind !== "uniform";
  }
}
