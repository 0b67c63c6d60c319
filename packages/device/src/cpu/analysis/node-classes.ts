/**
 * What each kind of node is to this compiler. A new kind is classed here; code that handles a class then has to handle
 * the kind, or the compiler names the place.
 */

import { blocksOf, type Node, type NodeKind } from "@evolver/kernel";
import { rowOf } from "../lookup.ts";

/**
 * - `straight`: no control flow, and nothing that lanes see of each other; several are vectorised together.
 * - `lanes`: lanes act one after another or read each other; written on its own.
 * - `branch`: runs some of the blocks inside it, once.
 * - `loop`: runs the blocks inside it again and again.
 * - `exit`: leaves the rest of the innermost loop's body.
 * - `barrier`: ends a barrier-free region.
 * - `lowered`: lower-copies.ts has replaced it before anything else looks.
 * - `refused`: needs subgroups that wait for each other, so core/build.ts lets no kernel with it in.
 */
const classes = {
  const: "straight",
  param: "straight",
  builtin: "straight",
  op: "straight",
  load: "straight",
  store: "straight",
  var: "straight",
  varGet: "straight",
  varSet: "straight",
  comment: "straight",
  atomic: "lanes",
  subgroup: "lanes",
  if: "branch",
  roles: "branch",
  for: "loop",
  while: "loop",
  break: "exit",
  continue: "exit",
  barrier: "barrier",
  uniformLoad: "barrier",
  asyncCopy: "lowered",
  commitCopies: "lowered",
  awaitCopies: "lowered",
  trace: "lowered",
  arrive: "refused",
  awaitPhase: "refused",
} as const satisfies Record<NodeKind, string>;

type Classes = typeof classes;
type NodeClass = Classes[keyof Classes];

/** The nodes of a class. */
export type NodeOf<C extends NodeClass> = {
  [K in keyof Classes]: Classes[K] extends C ? Extract<Node, { readonly kind: K }> : never;
}[keyof Classes];

const isOf =
  <C extends NodeClass>(...wanted: readonly C[]) =>
  (node: Node): node is NodeOf<C> =>
    (wanted as readonly string[]).includes(rowOf<string, string>(classes, node.kind, "node kind"));

export const isStraight = isOf("straight");
const isBranch = isOf("branch");
export const isLoop = isOf("loop");
export const isControl = isOf("branch", "loop");
export const isExit = isOf("exit");
export const isBarrier = isOf("barrier");
export const isLowered = isOf("lowered");

export type StraightNode = NodeOf<"straight">;
export type ControlNode = NodeOf<"branch" | "loop">;

/** What can stand in a barrier-free region and is written node by node. */
export const isSeparate = isOf("lanes", "branch", "loop", "exit");

/** Whether a node is, or has inside, a break or continue of the loop around it. */
export function leavesLoop(node: Node): boolean {
  return isExit(node) || (isBranch(node) && blocksOf(node).some(({ nodes }) => nodes.some(leavesLoop)));
}
