/**
 * Where values of a kernel live while it runs: how often and how late each is used, and slots of one number per lane in
 * the register file of a subgroup, which are given to other values after the last use.
 */

import { blocksOf, operandsAtEndOf, operandsOnEntry, resultsOf } from "@evolver/kernel";
import type { Block, KernelIR, Node, Value } from "@evolver/kernel";

export interface Uses {
  /** By value id. */
  readonly count: number[];
  /** By value id: the index, in the block that defines the value, of the node with its last use. */
  readonly last: number[];
}

/**
 * Counts uses, and finds the last one as seen from the defining block (a use inside a loop counts for the loop).
 *
 * @param more values that a node uses beside its operands
 */
export function findUses(ir: KernelIR, more: (node: Node) => readonly Value[]): Uses {
  const count = new Array<number>(ir.valueCount).fill(0);
  const last = new Array<number>(ir.valueCount).fill(-1);
  const depthOf = new Array<number>(ir.valueCount).fill(0);
  const path: number[] = [];

  const use = (value: Value): void => {
    count[value.id] = (count[value.id] as number) + 1;
    last[value.id] = path[depthOf[value.id] as number] as number;
  };
  const define = (value: Value): void => {
    depthOf[value.id] = path.length - 1;
    last[value.id] = path.at(-1) as number;
  };
  const walk = (block: Block, before?: Value, first = 0): number => {
    path.push(first);
    if (before) define(before);
    for (const node of block.nodes) {
      for (const value of operandsOnEntry(node)) use(value);
      for (const value of more(node)) use(value);
      if (node.kind === "for") {
        walk(node.body, node.induction);
      } else if (node.kind === "while") {
        // The condition's values are visible in the body, so both count as one block.
        const next = walk(node.condition);
        path.push(next);
        for (const value of operandsAtEndOf(node, node.condition)) use(value);
        path.pop();
        walk(node.body, undefined, next);
      } else {
        for (const result of resultsOf(node)) define(result);
        for (const inner of blocksOf(node)) walk(inner);
      }
      path[path.length - 1] = (path.at(-1) as number) + 1;
    }
    return path.pop() as number;
  };
  walk(ir.body);
  return { count, last };
}

/** Hands out slots; those of 4 bytes and those of 8 (`index`) are apart. */
export class Slots {
  #free: number[] = [];
  #count = 0;

  take(): number {
    return this.#free.pop() ?? this.#count++;
  }

  release(slot: number): void {
    this.#free.push(slot);
  }

  /** The most slots ever in use at once. */
  get count(): number {
    return this.#count;
  }
}
