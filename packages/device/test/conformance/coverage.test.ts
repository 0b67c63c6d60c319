/** The cases that are named for an operation, a kind of node or a type have it in a kernel, and no type goes without. */

import {
  memoriesOf,
  ops,
  scalarTypes,
  subgroupOps,
  visitNodes,
  type Node,
  type ScalarType,
} from "@evolver/kernel";
import { afterAll, describe, expect, test } from "vitest";
import { cases } from "../../conformance/cases/index.ts";
import {
  atomicCases,
  builtinCases,
  elementCases,
  nodeCases,
  operationCases,
  subgroupCases,
} from "../../conformance/coverage.ts";
import { targetOf } from "../../conformance/run.ts";
import { openSim } from "@evolver/device";

const sim = openSim({ subgroup: 32 });
afterAll(() => sim.close());

/** What each case has in its kernels. */
const inCase = new Map<string, Set<string>>();
/** What some case has. */
const anywhere = new Set<string>();

const typesOf = (values: readonly { readonly type: ScalarType }[]): string =>
  values.map(({ type }) => type).join(", ");

function found(node: Node): string[] {
  const all = [`node ${node.kind}`, ...memoriesOf(node).map(({ memory }) => `element ${memory.element}`)];
  if (node.kind === "op") all.push(`op ${node.op}`, `op ${node.op}(${typesOf(node.operands)})`);
  if (node.kind === "subgroup")
    all.push(`subgroup ${node.op}`, `subgroup ${node.op}(${typesOf(node.operands)})`);
  if (node.kind === "atomic") all.push(`atomic ${node.op}`);
  if (node.kind === "builtin") all.push(`builtin ${node.builtin}`);
  return all;
}

for (const item of cases) {
  if (!("prepare" in item)) continue;
  const prepared = item.prepare(targetOf(sim));
  const has = new Set<string>();
  for (const { kernel } of [prepared].flat())
    visitNodes(kernel.build({ subgroup: 32, forwardProgress: true }).body, (node) => {
      for (const one of found(node)) has.add(one);
    });
  inCase.set(item.name, has);
  for (const one of has) anywhere.add(one);
}

describe.each([
  ["op", operationCases],
  ["subgroup", subgroupCases],
  ["atomic", atomicCases],
  ["builtin", builtinCases],
  ["node", nodeCases],
  ["element", elementCases],
] as const)("each %s", (what, covered) => {
  test.each(Object.entries<readonly string[]>(covered))("%s is in the cases named for it", (name, named) => {
    expect(named.length).toBeGreaterThan(0);
    for (const one of named) expect(inCase.get(one) ?? `no case "${one}"`).toContain(`${what} ${name}`);
  });
});

/** Lists of up to three types. */
function* signatures(): Generator<ScalarType[]> {
  const types = Object.keys(scalarTypes) as ScalarType[];
  for (const a of types) {
    yield [a];
    for (const b of types) {
      yield [a, b];
      for (const c of types) yield [a, b, c];
    }
  }
}

/** What no kernel of a user has: the front end leaves out conversions to the same type, and computes offsets by itself. */
const UNWRITABLE = [
  "toF32(f32)",
  "toI32(i32)",
  "toU32(u32)",
  "toF16(f16)",
  "toBF16(bf16)",
  "toBool(bool)",
  "eq(bool, bool)",
  "ne(bool, bool)",
  "select(bool, index, index)",
  "sub(index, index)",
];

/** What is the same code as a case of another type. */
const LIKE_OTHERS = [
  "bitcastF32(f32)",
  "bitcastI32(i32)",
  "bitcastU32(u32)",
  "toF16(bf16)",
  "toBF16(f16)",
  ...["f32", "i32", "f16", "bf16"].map((type) => `subgroup.shuffleDown(${type}, u32)`),
  ...["f32", "u32", "f16", "bf16"].map((type) => `subgroup.shuffleUp(${type}, u32)`),
];

test("every operation is in some case for all the types that it takes", () => {
  const missing: string[] = [];
  for (const types of signatures()) {
    const list = types.join(", ");
    for (const [op, row] of Object.entries(ops))
      if (row.signature(types) !== null && !anywhere.has(`op ${op}(${list})`)) missing.push(`${op}(${list})`);
    for (const [op, row] of Object.entries(subgroupOps))
      if (row.results(types, 32) !== null && !anywhere.has(`subgroup ${op}(${list})`))
        missing.push(`subgroup.${op}(${list})`);
  }
  expect(missing.toSorted()).toEqual([...UNWRITABLE, ...LIKE_OTHERS].toSorted());
});
