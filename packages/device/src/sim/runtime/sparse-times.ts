/**
 * What an invocation knows of other workgroups, as an immutable map from a workgroup to the times of its invocations: a
 * tree of which versions share all branches that they have in common. A chain of workgroups in which each learns what the
 * one before knew (look-back) then takes memory in proportion to its length, and joining two versions takes time in
 * proportion to where they differ.
 */

import { covers, raise } from "./times.ts";
import type { Times } from "./times.ts";

const BITS = 4;
const FAN = 1 << BITS;

interface Branch {
  readonly children: readonly (Branch | Times | null)[];
}

type Tree = Branch | Times | null;

export interface SparseTimes {
  /** Levels of branches above the times: workgroups below FAN to the power of it fit. */
  readonly depth: number;
  readonly root: Tree;
}

export const NO_TIMES: SparseTimes = { depth: 0, root: null };

const EMPTY: readonly null[] = Array.from({ length: FAN }, () => null);

/** The times of a workgroup, or null where nothing is known of it. */
export function timesOf({ depth, root }: SparseTimes, workgroup: number): Times | null {
  if (depth < 8 && workgroup >>> (depth * BITS) !== 0) return null;
  let tree = root;
  for (let level = depth - 1; level >= 0 && tree !== null; level--)
    tree = (tree as Branch).children[(workgroup >>> (level * BITS)) & (FAN - 1)] ?? null;
  return tree as Times | null;
}

/** With the times of one workgroup joined in. */
export function withTimes(map: SparseTimes, workgroup: number, times: Times): SparseTimes {
  let { depth, root } = map;
  while (depth < 8 && workgroup >>> (depth * BITS) !== 0) ({ depth, root } = deeper({ depth, root }));
  const changed = insert(root, depth, workgroup, times);
  return changed === map.root ? map : { depth, root: changed };
}

/** What either knows. Returns one of the two where it holds the other. */
export function joinTimes(a: SparseTimes, b: SparseTimes): SparseTimes {
  if (a.root === b.root || b.root === null) return a;
  if (a.root === null) return b;
  let [left, right] = [a, b];
  while (left.depth < right.depth) left = deeper(left);
  while (right.depth < left.depth) right = deeper(right);
  const root = join(left.root, right.root, left.depth);
  if (root === a.root) return a;
  if (root === b.root) return b;
  return { depth: left.depth, root };
}

/** The same with one more level, so that larger workgroups fit. */
function deeper({ depth, root }: SparseTimes): SparseTimes {
  if (root === null) return { depth: depth + 1, root: null };
  return { depth: depth + 1, root: { children: [root, ...EMPTY.slice(1)] } };
}

function insert(tree: Tree, level: number, workgroup: number, times: Times): Tree {
  if (level === 0) return tree === null ? times : joinedTimes(tree as Times, times);
  const before = tree === null ? EMPTY : (tree as Branch).children;
  const at = (workgroup >>> ((level - 1) * BITS)) & (FAN - 1);
  const child = insert(before[at] ?? null, level - 1, workgroup, times);
  if (tree !== null && child === before[at]) return tree;
  const children = before.slice();
  children[at] = child;
  return { children };
}

function join(a: Tree, b: Tree, level: number): Tree {
  if (a === b || b === null) return a;
  if (a === null) return b;
  if (level === 0) return joinedTimes(a as Times, b as Times);
  const left = (a as Branch).children;
  const right = (b as Branch).children;
  const children = left.map((child, i) => join(child, right[i] ?? null, level - 1));
  if (children.every((child, i) => child === left[i])) return a;
  if (children.every((child, i) => child === right[i])) return b;
  return { children };
}

function joinedTimes(a: Times, b: Times): Times {
  if (a === b || covers(a, b)) return a;
  if (covers(b, a)) return b;
  const joined = a.slice();
  raise(joined, b);
  return joined;
}
