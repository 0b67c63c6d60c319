/**
 * The places of a kernel where a lane can stop, with numbers in the order in which lanes must continue, so that the subgroup
 * comes together again: lanes at a smaller number go first. The order is program order, with a loop's next iteration after
 * all of its body, and its exit after that. The scheduler that uses the numbers is in helpers.ts.
 */

import type { KernelIR, Node } from "../../ir/nodes.ts";
import { rowOf } from "../../ir/schema.ts";
import { blocksOf } from "../../ir/walk.ts";
import { hasAtomic } from "../core/uses.ts";

export class Places {
  /** Whether there is a place where an invocation suspends until others get somewhere. */
  readonly any: boolean;
  readonly #numbers = new Map<Node, number>();
  readonly #turns = new Map<Node, number>();
  readonly #meeting = new Set<Node>();
  readonly #spinning = new Set<Node>();

  constructor(ir: KernelIR) {
    let next = 0;
    let any = false;
    // Where control flow is proved uniform for each subgroup, its lanes never part between subgroup operations.
    const mayPart = ir.uniformity === "dynamic";
    const visit = (node: Node): boolean => {
      const convergence = rowOf(node).convergence(node);
      const meets = convergence === "subgroup";
      let holds = meets;
      for (const block of blocksOf(node)) for (const inner of block.nodes) holds = visit(inner) || holds;
      if (node.kind === "while" && hasAtomic(node)) this.#spinning.add(node);
      if (meets) this.#numbers.set(node, next++);
      else if (blocksOf(node).length > 0) {
        this.#turns.set(node, next++);
        this.#numbers.set(node, next++);
        if (mayPart && holds) this.#meeting.add(node);
      }
      any ||= holds || this.#spinning.has(node) || convergence === "workgroup";
      return holds;
    };
    for (const node of ir.body.nodes) visit(node);
    this.any = any;
  }

  /** Of a subgroup operation or barrier. */
  of(node: Node): number {
    return this.#numbers.get(node) as number;
  }

  /** Of what follows a loop, a branch or roles. */
  exit(node: Node): number {
    return this.#numbers.get(node) as number;
  }

  /** Of the next turn of a loop. */
  turn(node: Node): number {
    return this.#turns.get(node) as number;
  }

  /** Whether the lanes of a subgroup meet at each turn and at the end. */
  meetsAt(node: Node): boolean {
    return this.#meeting.has(node);
  }

  /** Whether it is a loop that may be waiting for what other invocations do. */
  spins(node: Node): boolean {
    return this.#spinning.has(node);
  }
}
