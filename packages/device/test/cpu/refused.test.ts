/** IR that is written by hand and holds what no table has a row or a cell for is refused, and never compiled to something else. */

import { unknownSite as site } from "@evolver/kernel";
import type { GlobalMemory, KernelIR, Node, ScalarType, Value } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { compileKernel } from "@evolver/device/internal";
import { lowerCopies } from "@evolver/device/internal";

const memory: GlobalMemory = {
  space: "global",
  name: "out",
  element: "f32",
  access: "read_write",
  atomic: false,
};
const value = (id: number, type: ScalarType): Value => ({ id, type });
const lane: Node = { kind: "builtin", builtin: "lane", result: value(0, "u32"), site };

/** Compiles a kernel of these nodes after one that gives value 0, the lane. */
function compile(nodes: readonly unknown[]): void {
  const ir: KernelIR = {
    name: "unheard_of",
    params: [{ kind: "buffer", name: memory.name, memory }],
    shared: [],
    phaseBarriers: [],
    workgroupSize: [8, 1, 1],
    subgroupSize: 8,
    uniformity: "static",
    body: { nodes: [lane, ...(nodes as Node[])] },
    valueCount: 10,
    variableCount: 0,
    site,
  };
  compileKernel(lowerCopies(ir), { fusedMultiplyAdd: true, maximumPages: 100 });
}

const load = { kind: "load", memory, index: lane.result, results: [value(1, "f32")], site };
const uniformLoad = { ...load, index: value(3, "u32") };
const zero = { kind: "const", result: value(3, "u32"), value: 0, site };
const store = { kind: "store", memory, index: lane.result, values: [value(2, "f32")], site };

const operation = (op: string, operand: Value, result: ScalarType = "f32") => ({
  kind: "op",
  op,
  operands: [operand],
  result: value(2, result),
  site,
});

describe("operations", () => {
  test.each(["erf", "toString", ""])("there is none called %j", (op) => {
    const message = `the cpu device has no operation ${JSON.stringify(op)}`;
    expect(() => compile([load, operation(op, value(1, "f32")), store])).toThrow(message);
    expect(() => compile([zero, uniformLoad, operation(op, value(1, "f32")), store])).toThrow(message);
  });

  test.each(["exp", "sin", "popcount"])("%s of f16 is none", (op) => {
    const halves: GlobalMemory = { ...memory, element: "f16" };
    const half = value(1, "f16");
    const of = (index: Value) => ({ ...load, memory: halves, index, results: [half] });
    const kernels = [[of(lane.result)], [zero, of(value(3, "u32"))]];
    for (const nodes of kernels)
      expect(() => compile([...nodes, operation(op, half), store])).toThrow(
        `the cpu device has no operation ${op} of f16`,
      );
  });

  test("sin of i32 is none, on lanes and on uniform values", () => {
    const refusal = "the cpu device has no operation sin of i32";
    const words: GlobalMemory = { ...memory, element: "i32" };
    const word = value(1, "i32");
    const of = (index: Value) => ({ ...load, memory: words, index, results: [word] });
    expect(() => compile([of(lane.result), operation("sin", word), store])).toThrow(refusal);
    expect(() => compile([zero, of(value(3, "u32")), operation("sin", word), store])).toThrow(refusal);
  });
});

test("subgroup operations", () => {
  const node = {
    kind: "subgroup",
    op: "median",
    operands: [value(1, "f32")],
    results: [value(2, "f32")],
    site,
  };
  expect(() => compile([load, node, store])).toThrow('the cpu device has no subgroup operation "median"');
});

describe("atomic operations", () => {
  const atomic = (op: string, element: "f32" | "f16") => ({
    kind: "atomic",
    op,
    memory: { ...memory, element, atomic: true },
    index: lane.result,
    operands: [value(1, element)],
    result: value(2, element),
    order: "relaxed",
    site,
  });

  test.each([
    ["nand", "f32", 'no atomic operation "nand"'],
    ["min", "f32", "no atomic operation min of f32"],
    ["add", "f16", "no atomic operation add of f16"],
  ] as const)("%s of %s", (op, element, message) => {
    const source = { ...load, memory: { ...memory, element }, results: [value(1, element)] };
    expect(() => compile([source, atomic(op, element)])).toThrow(message);
  });
});

test("built-in indices", () => {
  const node = { kind: "builtin", builtin: "localId.w", result: value(2, "u32"), site };
  expect(() => compile([node, { ...store, values: [value(2, "u32")] }])).toThrow(
    'the cpu device has no builtin "localId.w"',
  );
});

test("kinds of nodes", () => {
  expect(() => compile([{ kind: "teleport", site }])).toThrow('the cpu device has no node kind "teleport"');
});

test("waiting for phases is refused where it gets so far", () => {
  const barrier = { name: "b", count: 1, arrivals: 8, bytes: null };
  const arrive = { kind: "arrive", barrier, index: lane.result, after: "now", site };
  expect(() => compile([arrive])).toThrow("arrive is lowered or refused before it is analysed");
});
