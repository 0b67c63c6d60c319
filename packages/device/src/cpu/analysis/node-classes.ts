/**
 * What each kind of node is to this compiler. A new kind is classed here; code that handles a class then has to handle
 * the kind, or the compiler names the place.
 */

import type { Node, NodeKind } from "@evolver/kernel";
import { rowOf } from "../rows.ts";

/**
 * - `straight`: no control flow, and nothing that lanes see of each other; several are vectorised together.
 * - `lanes`: lanes act one after another or read each other; written on its own.
 * - `control`: decides which of the nodes inside it run.
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
  if: "control",
  for: "control",
  while: "control",
  roles: "control",
  break: "exit",
  continue: "exit",
  barrier: "barrier",
  uniformLoad: "barrier",
  asyncCopy: "lowered",
  commitCopies: "lowered",
  awaitCopies: "lowered",
  arrive: "refused",
  awaitPhase: "refused",
} as const satisfies Record<NodeKind, string>;

export type NodeClass = (typeof classes)[NodeKind];

/** The nodes of a class. */
export type NodeOf<C extends NodeClass> = {
  [K in NodeKind]: (typeof classes)[K] extends C ? Extract<Node, { readonly kind: K }> : never;
}[NodeKind];

const classOf = (node: Node): NodeClass => rowOf(classes, node.kind, "node kind");

const isOf =
  <C extends NodeClass>(name: C) =>
  (node: Node): node is NodeOf<C> =>
    classOf(node) === name;

export const isStraight = isOf("straight");
export const isControl = isOf("control");
export const isExit = isOf("exit");
export const isBarrier = isOf("barrier");
export const isLowered = isOf("lowered");

export type StraightNode = NodeOf<"straight">;
/** What has to be written node by node. */
export type SeparateNode = NodeOf<"lanes" | "control" | "exit">;

/** Narrows a node that is in a barrier-free region and not straight. */
export function assertSeparate(node: Node): asserts node is SeparateNode {
  const found = classOf(node);
  if (found !== "lanes" && found !== "control" && found !== "exit")
    throw new Error(`${node.kind} cannot stand inside a barrier-free region`);
}
