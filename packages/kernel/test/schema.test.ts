/** What the rows of the schema say of each kind of node, through the functions that are derived from them. */

import {
  blocksOf,
  buffer,
  f32,
  isRemovable,
  kernel,
  memoriesOf,
  operandsAtEndOf,
  operandsOf,
  operandsOnEntry,
  phaseBarriersOf,
  resultsOf,
  u32,
  variablesOf,
  visitNodes,
} from "@evolver/kernel";
import type { Node, NodeKind } from "@evolver/kernel";
import { expect, test } from "vitest";
import { everyKind } from "./support/every-kind.ts";

const ir = everyKind.build({ subgroup: 32 });

function nodesOf<K extends NodeKind>(kind: K): Extract<Node, { kind: K }>[] {
  const found: Node[] = [];
  visitNodes(ir.body, (node) => void (node.kind === kind && found.push(node)));
  return found as Extract<Node, { kind: K }>[];
}

const first = <K extends NodeKind>(kind: K): Extract<Node, { kind: K }> => {
  const [node] = nodesOf(kind);
  if (node === undefined) throw new Error(`the example has no ${kind}`);
  return node;
};

test("operands are the values that a node itself uses", () => {
  const store = first("store");
  expect(operandsOf(store)).toEqual([store.index, ...store.values]);
  const copy = first("asyncCopy");
  expect(operandsOf(copy)).toEqual([copy.fromIndex, copy.toIndex, copy.active]);
  const loop = first("for");
  expect(operandsOf(loop)).toEqual([loop.from, loop.to, loop.step]);
  const wait = first("awaitPhase");
  expect(operandsOf(wait)).toEqual([wait.index, wait.parity]);
  expect(operandsOf(first("const"))).toEqual([]);
  expect(operandsOf(first("roles"))).toEqual([]);
  const declared = nodesOf("var");
  expect(declared.map((node) => operandsOf(node).length)).toEqual(declared.map(({ init }) => (init ? 1 : 0)));
});

test("the test of a while is used at the end of its condition", () => {
  const loop = first("while");
  expect(operandsOf(loop)).toEqual([loop.test]);
  expect(operandsOnEntry(loop)).toEqual([]);
  expect(operandsAtEndOf(loop, loop.condition)).toEqual([loop.test]);
  expect(operandsAtEndOf(loop, loop.body)).toEqual([]);
});

test("results are the values that a node defines", () => {
  for (const kind of ["const", "op", "varGet", "uniformLoad"] as const)
    expect(resultsOf(first(kind))).toEqual([first(kind).result]);
  for (const kind of ["load", "subgroup"] as const) expect(resultsOf(first(kind))).toBe(first(kind).results);
  expect(resultsOf(first("for"))).toEqual([first("for").induction]);
  const atomics = nodesOf("atomic");
  expect(atomics.map((node) => resultsOf(node))).toEqual(
    atomics.map(({ result }) => (result === null ? [] : [result])),
  );
});

test("blocks stand in program order, those of roles too", () => {
  const branch = first("if");
  expect(blocksOf(branch)).toEqual([branch.then, branch.else]);
  const loop = first("while");
  expect(blocksOf(loop)).toEqual([loop.condition, loop.body]);
  const roles = first("roles");
  expect(blocksOf(roles)).toEqual(roles.roles.map(({ body }) => body));
  expect(blocksOf(first("store"))).toEqual([]);
});

test("memories are told with what is done to them", () => {
  const touched = (node: Node): string[] => memoriesOf(node).map((one) => `${one.access} ${one.memory.name}`);
  expect(touched(first("load"))).toEqual(["read x"]);
  expect(touched(first("store"))).toEqual(["write y"]);
  expect(touched(first("asyncCopy"))).toEqual(["read x", "write tile"]);
  expect(nodesOf("atomic").map((node) => [node.op, ...touched(node)])).toEqual([
    ["store", "write counter"],
    ["load", "read counter"],
    ["add", "read_write counter"],
  ]);
  expect(touched(first("op"))).toEqual([]);
});

test("phase barriers and variables are known", () => {
  expect(phaseBarriersOf(first("arrive")).map(({ name }) => name)).toEqual(["ready"]);
  expect(phaseBarriersOf(first("barrier"))).toEqual([]);
  expect(variablesOf(first("var"))).toEqual([{ variable: first("var").variable, does: "declare" }]);
  expect(variablesOf(first("varGet"))).toEqual([{ variable: first("varGet").variable, does: "read" }]);
  expect(variablesOf(first("varSet"))).toEqual([{ variable: first("varSet").variable, does: "write" }]);
});

test("what does nothing but give values may be left out", () => {
  const removable = new Set<NodeKind>();
  visitNodes(ir.body, (node) => void (isRemovable(node) && removable.add(node.kind)));
  expect([...removable].toSorted()).toEqual([
    "builtin",
    "const",
    "load",
    "op",
    "param",
    "subgroup",
    "varGet",
  ]);
});

test("nodes are visited in program order, outer ones first", () => {
  const nested = kernel(
    "nested",
    { params: { n: u32, y: buffer(f32, "read_write") }, workgroup: [32] },
    ({ n, y }, gpu) => {
      gpu.if(n.lt(4), () => gpu.for({ from: 0, to: n }, (i) => y.set(i, 1)));
      y.set(n, 2);
    },
  ).build({ subgroup: 32 });
  const kinds: NodeKind[] = [];
  visitNodes(nested.body, ({ kind }) => void kinds.push(kind));
  expect(kinds.filter((kind) => !["const", "param", "op"].includes(kind))).toEqual([
    "if",
    "for",
    "store",
    "store",
  ]);
});
