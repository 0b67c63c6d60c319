/** Every pure operation on the cpu device, on lanes and on values that all lanes share, against its meaning in ops.ts. */

import { Random } from "@evolver/base";
import { allScalarTypes, math, ops, unknownSite as site } from "@evolver/kernel";
import type { GlobalMemory, KernelIR, Node, NumericType, OpName, ScalarType, Value } from "@evolver/kernel";
import { afterAll, describe, expect, test } from "vitest";
import { fromBF16Bits, fromF16Bits, openCpu, toBF16Bits, toF16Bits } from "@evolver/device";
import type { AnyTypedArray, DeviceBuffer, TypedArrayOf } from "@evolver/device";

type Stored = NumericType;

const device = openCpu({ workers: 1, subgroup: 8 });
afterAll(() => device.close());

const INTERESTING: Record<ScalarType, number[]> = {
  f16: [
    0,
    -0,
    1,
    -1,
    0.5,
    1.5,
    -2.5,
    3.75,
    2 ** -24,
    -(2 ** -24),
    2 ** -14,
    1023 * 2 ** -24,
    65504,
    -65504,
    1 + 2 ** -10,
    Infinity,
    -Infinity,
    NaN,
    0.333251953125,
    2049 / 2048 - 2 ** -11,
    300,
    1025,
  ].map(math.roundF16),
  bf16: [
    0,
    -0,
    1,
    -1,
    0.5,
    1.5,
    -2.5,
    3.75,
    2 ** -133,
    -(2 ** -133),
    2 ** -126,
    127 * 2 ** -133,
    3.38e38,
    -3.38e38,
    1 + 2 ** -7,
    Infinity,
    -Infinity,
    NaN,
    0.333984375,
    129 / 128,
    300,
    2 ** -70,
    3 * 2 ** 70,
  ].map(math.roundBF16),
  f32: [
    0,
    -0,
    1,
    -1,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.7,
    -3.7,
    1e-40,
    -1e-45,
    3.4e38,
    -3.4e38,
    Infinity,
    -Infinity,
    NaN,
    8388608.5,
    8388607.5,
    2147483648,
    -2147483648,
    4294967296,
    1e10,
    88.7,
    -87.3,
    -103.9,
    127.5,
    -149.2,
    16777217,
  ].map(Math.fround),
  i32: [
    0, 1, -1, 2, -2, 3, 7, -7, 31, 32, 33, 255, 65536, -65536, 0x7fffffff, -0x80000000, 1234567, -7654321,
  ],
  u32: [0, 1, 2, 3, 7, 31, 32, 33, 255, 65535, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 1234567],
  bool: [0, 1],
  index: [0, 1, 5, 1000, 65536],
};

/** All combinations of interesting values for up to two operands, a mixture for three. */
function operandRows(types: readonly ScalarType[]): number[][] {
  const lists = types.map((type) => INTERESTING[type]);
  const [a = [], b = [0], c] = lists;
  const rows = a.flatMap((x) => b.map((y) => [x, y].slice(0, types.length)));
  if (c === undefined) return rows;
  return rows.flatMap((row, i) => [0, 1, 2].map((j) => [...row, c[(i * 7 + j * 5) % c.length] as number]));
}

const stored = (type: ScalarType): Stored => (type === "bool" ? "i32" : type === "index" ? "u32" : type);

/** A kernel that applies one operation: to lane i's elements, or to element 0 with one launch per row. */
function operationKernel(
  op: OpName,
  types: readonly ScalarType[],
  result: ScalarType,
  shared: boolean,
): KernelIR {
  const nodes: Node[] = [];
  let values = 0;
  const value = (type: ScalarType): Value => ({ id: values++, type });
  const apply = (name: OpName, operands: Value[], type: ScalarType): Value => {
    const made = value(type);
    nodes.push({ kind: "op", op: name, operands, result: made, site });
    return made;
  };
  const index = value("u32");
  nodes.push({ kind: "builtin", builtin: shared ? "workgroupIndex" : "globalId.x", result: index, site });
  const memories = types.map((type, i): GlobalMemory => ({
    space: "global",
    name: `x${i}`,
    element: stored(type),
    access: "read",
    atomic: false,
  }));
  const out: GlobalMemory = {
    space: "global",
    name: "out",
    element: stored(result),
    access: "write",
    atomic: false,
  };
  const operands = memories.map((memory, i) => {
    const loaded = value(memory.element);
    nodes.push({ kind: "load", memory, index, results: [loaded], site });
    const type = types[i] as ScalarType;
    if (type === "bool") return apply("toBool", [loaded], "bool");
    return type === "index" ? apply("toIndex", [loaded], "index") : loaded;
  });
  let made = apply(op, operands, result);
  if (result === "bool") made = apply("toI32", [made], "i32");
  if (result === "index") return operationKernelOfIndex(nodes, memories, made, index, values, out);
  nodes.push({ kind: "store", memory: out, index, values: [made], site });
  return kernel(nodes, [...memories, out], values);
}

/** An index can only be looked at by using it: element `index` of a table that holds its own indices. */
function operationKernelOfIndex(
  nodes: Node[],
  memories: GlobalMemory[],
  made: Value,
  index: Value,
  values: number,
  out: GlobalMemory,
): KernelIR {
  const table: GlobalMemory = {
    space: "global",
    name: "table",
    element: "u32",
    access: "read",
    atomic: false,
  };
  const found: Value = { id: values, type: "u32" };
  nodes.push({ kind: "load", memory: table, index: made, results: [found], site });
  nodes.push({ kind: "store", memory: out, index, values: [found], site });
  return kernel(nodes, [...memories, table, out], values + 1);
}

function kernel(nodes: Node[], memories: GlobalMemory[], valueCount: number): KernelIR {
  return {
    name: "operation",
    params: memories.map((memory) => ({ kind: "buffer", name: memory.name, memory })),
    shared: [],
    phaseBarriers: [],
    workgroupSize: [8, 1, 1],
    subgroupSize: 8,
    uniformity: "static",
    body: { nodes },
    valueCount,
    variableCount: 0,
    site,
  };
}

/** What a buffer of a type holds of these numbers, and back. */
const encode: Record<Stored, (numbers: number[]) => AnyTypedArray> = {
  f32: (numbers) => Float32Array.from(numbers),
  i32: (numbers) => Int32Array.from(numbers),
  u32: (numbers) => Uint32Array.from(numbers),
  f16: toF16Bits,
  bf16: toBF16Bits,
};
const decode = (element: Stored, held: AnyTypedArray): number[] =>
  Array.from(
    element === "f16"
      ? fromF16Bits(held as Uint16Array)
      : element === "bf16"
        ? fromBF16Bits(held as Uint16Array)
        : held,
  );

async function run(
  op: OpName,
  types: readonly ScalarType[],
  result: ScalarType,
  rows: number[][],
  shared: boolean,
): Promise<number[]> {
  const groups = shared ? rows.length : Math.ceil(rows.length / 8);
  const length = shared ? rows.length : groups * 8;
  const program = await device.compile(operationKernel(op, types, result, shared));
  const args: Record<string, DeviceBuffer> = {};
  types.forEach((type, i) => {
    const column = Array.from({ length }, (_, row) => rows[row]?.[i] ?? 0);
    const element = stored(type);
    args[`x${i}`] = device.createBuffer(element, encode[element](column) as TypedArrayOf<Stored>);
  });
  if (result === "index")
    args.table = device.createBuffer(
      "u32",
      Uint32Array.from({ length: 70000 }, (_, i) => i),
    );
  const out = device.createBuffer(stored(result), length);
  await program.run({ workgroups: groups, args: { ...args, out } as never });
  const read = decode(stored(result), await out.read()).slice(0, rows.length);
  for (const buffer of [...Object.values(args), out]) buffer.destroy();
  return read;
}

function oracle(op: OpName, types: readonly ScalarType[], result: ScalarType): (row: number[]) => number {
  const names = types.map((_, i) => `x${i}`);
  const expression = ops[op].js(names, types[0] as ScalarType, result);
  const evaluate = new Function("m", "fround", ...names, `return ${expression};`);
  return (row) => evaluate(math, Math.fround, ...row) as number;
}

const TYPES = allScalarTypes;
const overloads = (Object.keys(ops) as OpName[]).flatMap((op) =>
  [
    ...TYPES.map((a) => [a]),
    ...TYPES.flatMap((a) => TYPES.map((b) => [a, b])),
    ...TYPES.map((a) => [a, a, a]),
    ...TYPES.map((a): ScalarType[] => ["bool", a, a]),
  ]
    .map((types) => ({ op, types, result: ops[op].signature(types) }))
    .filter((overload) => overload.result !== null)
    .filter(({ types }, i, all) => all.findIndex((other) => other.types.join() === types.join()) === i),
);

describe.each(overloads)("$op of $types", ({ op, types, result }) => {
  // Indices beyond the table are no matter here; their arithmetic is.
  const rows = operandRows(types).filter((row) => {
    if (result !== "index") return true;
    const made = oracle(op, types, "index")(row);
    return made >= 0 && made < 70000;
  });

  test.each([
    ["on lanes", false],
    ["on a value all lanes share", true],
  ])("%s", async (_, shared) => {
    const expected = rows.map(oracle(op, types, result as ScalarType));
    const got = await run(op, types, result as ScalarType, rows, shared);
    for (const [i, row] of rows.entries()) expect(got[i], `${op}(${row.join(", ")})`).toBe(expected[i]);
  });
});

test("fma rounds once on values that two roundings get wrong", async () => {
  const rows: number[][] = [];
  const numbers = new Random(1);
  const random = (): number => Math.fround((numbers.uniform() - 0.5) * 2 ** numbers.below(40));
  for (let i = 0; i < 20000; i++) {
    const [a, b] = [random(), random()];
    rows.push([a, b, i % 2 === 0 ? random() : Math.fround(-a * b)]);
  }
  const got = await run("fma", ["f32", "f32", "f32"], "f32", rows, false);
  const expected = rows.map(([a, b, c]) => math.fma(a as number, b as number, c as number));
  const twice = rows.map(([a, b, c]) =>
    Math.fround(Math.fround((a as number) * (b as number)) + (c as number)),
  );
  expect(expected.filter((value, i) => value !== twice[i]).length).toBeGreaterThan(1000);
  expect(got).toEqual(expected);
});

test.each(["exp", "exp2"] as const)("%s has the bits of mathematics.ts over its whole range", async (op) => {
  const rows = Array.from({ length: 40000 }, (_, i) => [Math.fround(-160 + (i / 40000) * 300)]);
  const got = await run(op, ["f32"], "f32", rows, false);
  expect(got).toEqual(rows.map(([x]) => math[op](x as number)));
});
