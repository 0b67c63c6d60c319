/**
 * What decides how a loop goes on: the variables that an iteration leaves to the next one and that reach its test, a branch,
 * or what it does to memory. Where they and memory come back to what they were, the loop has no end. A variable that only
 * counts, such as the number of polls, changes nothing of that.
 */

import { blocksOf, isRemovable, memoriesOf, operandsOf, resultsOf, visitNodes } from "@evolver/kernel";
import type { Block, Node, Value, Variable, WhileNode } from "@evolver/kernel";

export interface LoopState {
  readonly variables: readonly Variable[];
  /** Whether what it reads of memory decides, so that others may end it. */
  readonly looks: boolean;
  /** Whether what atomic operations return does. */
  readonly polls: boolean;
}

export function loopStateOf(loop: WhileNode): LoopState {
  const { values, variables: deciding } = whatDecides(loop);
  const own = new Set<number>();
  const set = new Map<number, Variable>();
  let looks = false;
  let polls = false;
  for (const block of blocksOf(loop))
    visitNodes(block, (node) => {
      if (memoriesOf(node).length > 0 && resultsOf(node).some(({ id }) => values.has(id))) {
        looks = true;
        if (node.kind === "atomic") polls = true;
      }
      if (node.kind === "var") own.add(node.variable.id);
      if (node.kind === "varSet") set.set(node.variable.id, node.variable);
    });
  const variables = [...set.values()].filter(({ id }) => deciding.has(id) && !own.has(id));
  return { variables, looks, polls };
}

interface Deciding {
  readonly values: ReadonlySet<number>;
  readonly variables: ReadonlySet<number>;
}

/** The ids of the values and variables that reach a decision or memory. */
function whatDecides(loop: WhileNode): Deciding {
  const values = new Set<number>([loop.test.id]);
  const variables = new Set<number>();
  const need = (needed: readonly Value[]): void => {
    for (const { id } of needed) values.add(id);
  };
  /** Returns whether the block does anything that counts. */
  const visit = (block: Block): boolean => {
    let acts = false;
    for (const node of block.nodes) {
      const inner = blocksOf(node).map(visit).includes(true);
      if (inner || actsItself(node, variables)) {
        need(operandsOf(node));
        acts = true;
      }
      if (resultsOf(node).some(({ id }) => values.has(id))) {
        need(operandsOf(node));
        if (node.kind === "varGet") variables.add(node.variable.id);
      }
      if (node.kind === "var" && variables.has(node.variable.id)) need(operandsOf(node));
    }
    return acts;
  };
  for (let before = -1, now = 0; now !== before; now = values.size + variables.size) {
    before = now;
    blocksOf(loop).forEach(visit);
  }
  return { values, variables };
}

/** Whether a node acts by itself, whatever the blocks within it do. */
function actsItself(node: Node, variables: ReadonlySet<number>): boolean {
  if (node.kind === "varSet") return variables.has(node.variable.id);
  return ACTS[node.kind] ?? !isRemovable(node);
}

/** Kinds of nodes whose acting is not told by whether a node without uses can be removed. */
const ACTS: { readonly [kind in Node["kind"]]?: boolean } = {
  while: true,
  var: false,
  if: false,
  for: false,
  roles: false,
  comment: false,
  trace: false,
};
