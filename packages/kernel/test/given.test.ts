/** What callers without types give: JavaScript, and TypeScript under `as never`. */

import { describe, expect, test } from "vitest";
import {
  abs,
  bool,
  buffer,
  dot,
  EvolverError,
  f32,
  fma,
  kernel,
  max,
  select,
  struct,
  u32,
  type Gpu,
} from "@evolver/kernel";

const params = { x: buffer(f32), y: buffer(f32, "write"), n: u32 };

/** The body's arguments without their types. */
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = Record<"x" | "y" | "n" | "z", any>;

type Taking = (...given: unknown[]) => void;

function errorOf(run: () => unknown): EvolverError {
  try {
    run();
  } catch (error) {
    if (error instanceof EvolverError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

const built = (body: (params: Untyped, gpu: Gpu) => void): EvolverError =>
  errorOf(() => kernel("given", { params, workgroup: [64] }, body as never).build({ subgroup: 32 }));

/** What stands for a run-time value in plain JavaScript, and what it is called. */
const NO_VALUES: readonly (readonly [called: string, given: unknown])[] = [
  ["a JavaScript number", 1],
  ["a JavaScript boolean", true],
  ["a JavaScript string", "x"],
  ["a JavaScript bigint", 1n],
  ["a JavaScript function", () => 1],
  ["a JavaScript array", [1]],
  ["a JavaScript object", {}],
  ["JavaScript's undefined", undefined],
  ["JavaScript's null", null],
];

describe.each(NO_VALUES)("%s where only a run-time value will do", (called, given) => {
  const operations = [
    ...["sum", "min", "max", "any", "all", "ballot", "broadcastFirst", "inclusiveSum", "exclusiveSum"],
    ...["broadcast", "shuffle", "shuffleXor", "shuffleUp", "shuffleDown"],
  ];
  test.each(operations)("subgroup.%s says so, at its line", (name) => {
    const error = built((_, gpu) => (gpu.subgroup as unknown as Record<string, Taking>)[name]!(given, 0));
    expect(error.code).toBe("NOT_A_VALUE");
    expect(error.what).toBe(`${called} stands where a run-time value is wanted`);
    expect(error.where[0]?.file).toBe(import.meta.filename);
  });

  const rest: Readonly<Record<string, (params: Untyped, gpu: Gpu) => unknown>> = {
    abs: () => abs(given as never),
    "a condition": ({ x }) => select(given as never, x.get(0), 1),
    dot: () => dot(given as never, given as never),
    bitcast: ({ n }) => n.bitcast(given),
    "bitcast to bool": ({ n }) => n.bitcast(bool),
    "a condition of a loop": (_, gpu) => gpu.while(given as never, undefined as never),
    "a body of copies": (_, gpu) => gpu.unroll(2, undefined as never),
    roles: (_, gpu) => gpu.roles(given as never),
  };
  test.each(Object.keys(rest))("%s is refused with a code, at its line", (name) => {
    const error = built((params, gpu) => void rest[name]!(params, gpu));
    expect(error.code).toMatch(/^(NOT_A_|NO_RUNTIME_OPERAND|INVALID_ROLES)/);
    expect(error.where[0]?.file).toBe(import.meta.filename);
  });
});

describe("in a body", () => {
  test.each<[string, string, RegExp, (params: Untyped, gpu: Gpu) => void]>([
    [
      "a variable as a value",
      "NOT_A_VALUE",
      /a variable stands where an f32 is wanted[^]*acc\.get\(\)/,
      ({ y }, gpu) => y.set(0, gpu.var(f32, 0)),
    ],
    [
      "a variable in fma",
      "NOT_A_VALUE",
      /a variable stands/,
      ({ x, y }, gpu) => y.set(0, fma(x.get(0), 2, gpu.var(f32, 0) as never)),
    ],
    ["a buffer as a value", "NOT_A_VALUE", /a buffer stands/, ({ x, y }) => y.set(0, x)],
    [
      "an index of three axes",
      "NOT_A_VALUE",
      /a u32 is wanted[^]*\.x, \.y or \.z/,
      ({ y }, gpu) => y.set(gpu.globalId, 1),
    ],
    ["a float as an index", "TYPE_MISMATCH", /an index of "y" is an f32/, ({ x, y }) => y.set(x.get(0), 1)],
    ["a negative index", "INVALID_INDEX", /-1 is not an index of "y"[^]*getOr/, ({ y }) => y.set(-1, 1)],
    ["no value to write", "INVALID_INDEX", /and after them a value/, ({ y }) => y.set(0)],
    [
      "a scalar as a vector",
      "NOT_A_VALUE",
      /an f32 stands where a vector is wanted/,
      ({ x, y }) => y.setVec(0, x.get(0)),
    ],
    [
      "statements instead of a function",
      "NOT_A_FUNCTION",
      /gpu\.if takes a function, not JavaScript's undefined/,
      ({ y, n }, gpu) => gpu.if(n.gt(0), y.set(0, 1) as never),
    ],
    [
      "a loop without a range",
      "INVALID_LOOP",
      /takes \{ from, to \}/,
      ({ n, y }, gpu) => gpu.for(n, ((i: never) => y.set(i, 1)) as never),
    ],
    [
      "a loop without a body",
      "NOT_A_FUNCTION",
      /gpu\.for takes a function/,
      ({ n }, gpu) => gpu.for({ from: 0, to: n }, undefined as never),
    ],
    ["the name of a type", "NOT_A_TYPE", /write f32, not "f32"/, (_, gpu) => void gpu.var("f32" as never, 0)],
    [
      "shared memory without a length",
      "INVALID_LAYOUT",
      /\[8, 32\]/,
      (_, gpu) => void gpu.shared(f32, undefined as never),
    ],
    ["a view without strides", "INVALID_VIEW", /needs strides/, ({ x, y }) => y.set(0, x.view({}).get(0))],
    ["only numbers", "NO_RUNTIME_OPERAND", /run-time value/, ({ y }) => y.set(0, max(1 as never, 2))],
    ["a division of integers", "BODY_THREW", /divTrunc or divFloor/, ({ y, n }) => y.set(0, n.div(2))],
    ["a trace without a label", "INVALID_TRACE", /a label first, not a u32/, ({ n }, gpu) => gpu.trace(n)],
  ])("%s", (_, code, message, body) => {
    const error = built(body);
    expect(error.message).toMatch(message);
    expect(error.code).toBe(code);
    expect(error.where[0]?.file).toContain("given.test.ts");
  });
});

describe("in a definition", () => {
  test.each<[string, RegExp, () => unknown]>([
    ["no options", /kernel "k" has no params/, () => kernel("k", undefined as never, () => {})],
    [
      "a parameter by the name of its type",
      /parameter "x" is a JavaScript string, not a type or a buffer/,
      () => kernel("k", { params: { x: "f32" as never }, workgroup: [64] }, () => {}),
    ],
    [
      "a struct without a buffer",
      /which stands in a buffer/,
      () => kernel("k", { params: { x: struct({ a: f32 }) as never }, workgroup: [64] }, () => {}),
    ],
    [
      "a number for the workgroup",
      /a JavaScript number, not a list such as \[64\]/,
      () => kernel("k", { params, workgroup: 64 as never }, () => {}),
    ],
    ["no body", /has no body/, () => kernel("k", { params, workgroup: [64] }, undefined as never)],
    ["a buffer of a name", /buffer\(\) takes a type first/, () => buffer("f32" as never)],
  ])("%s", (_, message, act) => expect(errorOf(act).message).toMatch(message));
});

test("a number may stand first, and shared memory may be given by its extents", () => {
  const { shared } = kernel("first", { params, workgroup: [64] }, ({ x, y, n }, gpu) => {
    const tile = gpu.shared(f32, [2, 32]);
    tile.set(0, gpu.lane, max(0, x.get(0)));
    gpu.barrier();
    y.set(gpu.localIndex, select(n.gt(3), tile.get(0, 1), 2));
  }).build({ subgroup: 32 });
  expect(shared[0]).toMatchObject({ name: "tile", length: 64 });
});
