/** The verifier's rules about operands, results and memory. Scopes are in verify.test.ts. */

import { verify } from "@evolver/kernel";
import type { KernelIR, Node, ScalarType } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { draft } from "./support/draft.ts";
import { errorOf, refuses, type Write } from "./support/refuses.ts";

const loadOf =
  (count: number, type: ScalarType = "f32"): Write =>
  (d) =>
    d.emit({
      kind: "load",
      memory: d.buffer("x"),
      index: d.const("u32", 0),
      results: Array.from({ length: count }, () => d.value(type)),
    });

describe("types", () => {
  refuses([
    [
      "operands that do not fit",
      (d) => void d.op("add", [d.const("u32", 1), d.const("f32", 1)], "u32"),
      /op add does not take \(u32, f32\)/,
    ],
    [
      "a result of the wrong type",
      (d) => void d.op("lt", [d.const("u32", 1), d.const("u32", 2)], "u32"),
      /op lt of \(u32, u32\) gives bool, not u32/,
    ],
    [
      "an unknown operation, even one that every object has",
      (d) => void d.op("toString" as "add", [d.const("u32", 1)], "u32"),
      /is an unknown operation/,
    ],
    ["a load of width 3", loadOf(3), /load of x has width 3/],
    ["a load of 8 elements of four bytes", loadOf(8), /has width 8, but the elements are f32/],
    [
      "f16 beside f32",
      (d) => void d.op("add", [d.const("f16", 1), d.const("f32", 1)], "f16"),
      /op add does not take \(f16, f32\)/,
    ],
    [
      "bits of bf16",
      (d) => void d.op("bitcastU32", [d.const("bf16", 1)], "u32"),
      /op bitcastU32 does not take \(bf16\)/,
    ],
    [
      "f16 from an integer",
      (d) => void d.op("toF16", [d.const("u32", 1)], "f16"),
      /op toF16 does not take \(u32\)/,
    ],
    [
      "an exponential of f16",
      (d) => void d.op("exp", [d.const("f16", 1)], "f16"),
      /op exp does not take \(f16\)/,
    ],
    ["a constant with more bits than f16", (d) => void d.const("f16", 1.0001), /is not an exact f16 value/],
    ["a constant beyond f16", (d) => void d.const("f16", 65536), /is not an exact f16 value/],
    ["a constant with more bits than bf16", (d) => void d.const("bf16", 257), /is not an exact bf16 value/],
    [
      "atomic shared memory of f16",
      (d) => void d.sharedMemory("tile", "f16", true),
      /atomic shared tile has elements of type f16/,
    ],
    ["a load of width 0", loadOf(0), /load of x has width 0/],
    ["a load of another type than the elements", loadOf(1, "u32"), /moves u32, but the elements are f32/],
    [
      "a store of another type than the elements",
      (d) => {
        const zero = d.const("u32", 0);
        d.emit({ kind: "store", memory: d.buffer("x"), index: zero, values: [zero] });
      },
      /store to x moves u32/,
    ],
    [
      "an f32 index",
      (d) =>
        d.emit({ kind: "load", memory: d.buffer("x"), index: d.const("f32", 0), results: [d.value("f32")] }),
      /has an index of type f32/,
    ],
    [
      "a variable that starts with another type",
      (d) => d.emit({ kind: "var", variable: d.variable("u32"), init: d.const("f32", 0) }),
      /starts with f32, but the variable is u32/,
    ],
    [
      "a variable of type index",
      (d) => d.emit({ kind: "var", variable: d.variable("index" as "u32"), init: null }),
      /cannot be of type index/,
    ],
    [
      "a set of another type",
      (d) => {
        const v = d.variable("u32");
        d.emit({ kind: "var", variable: v, init: null });
        d.emit({ kind: "varSet", variable: v, value: d.const("f32", 0) });
      },
      /sets f32, but the variable is u32/,
    ],
    [
      "a get of another type",
      (d) => {
        const v = d.variable("u32");
        d.emit({ kind: "var", variable: v, init: null });
        d.emit({ kind: "varGet", variable: v, result: d.value("f32") });
      },
      /gives f32, but the variable is u32/,
    ],
    ["an if on an integer", (d) => d.if(d.const("u32", 1), () => {}), /condition of type u32, not bool/],
    [
      "a while on an integer",
      (d) => {
        const one = d.const("u32", 1);
        d.while(
          () => one,
          () => {},
        );
      },
      /test of type u32, not bool/,
    ],
    [
      "a for over f32",
      (d) => d.for(d.const("f32", 8), () => {}),
      /needs induction, from, to and step of one/,
    ],
    [
      "a for over two types",
      (d) => d.for(d.const("u32", 8), () => {}, { from: d.const("i32", 0) }),
      /one integer type, and has \(u32, i32, u32, u32\)/,
    ],
    [
      "an f32 constant that is not exact",
      (d) => void d.const("f32", 0.1),
      /const 0.1 is not an exact f32 value/,
    ],
    ["an i32 constant out of range", (d) => void d.const("i32", 2147483648), /is not an exact i32 value/],
    ["an i32 constant of -0", (d) => void d.const("i32", -0), /is not an exact i32 value/],
    ["a negative u32 constant", (d) => void d.const("u32", -1), /const -1 is not an exact u32 value/],
    ["a fractional index constant", (d) => void d.const("index", 0.5), /is not an exact index value/],
    [
      "a bool constant that is a number",
      (d) => void d.const("bool", 1),
      /const 1 is not an exact bool value/,
    ],
    [
      "a u32 constant that is a bool",
      (d) => void d.const("u32", true),
      /const true is not an exact u32 value/,
    ],
    [
      "a parameter read as another type",
      (d) => {
        d.params.push({ kind: "scalar", name: "n", type: "u32", lengthOf: null });
        d.emit({ kind: "param", name: "n", result: d.value("f32") });
      },
      /param n gives f32, but the parameter is u32/,
    ],
    [
      "a parameter that does not exist",
      (d) => d.emit({ kind: "param", name: "n", result: d.value("f32") }),
      /param n reads a parameter that is not a scalar/,
    ],
    ["an unknown built-in", (d) => void d.builtin("localId.w" as "lane"), /builtin localId.w is unknown/],
    [
      "a built-in that is not u32",
      (d) => d.emit({ kind: "builtin", builtin: "lane", result: d.value("i32") }),
      /gives i32, not u32/,
    ],
    ["an unknown kind", (d) => d.emit({ kind: "goto" } as never), /unknown kind "goto"/],
  ]);
});

describe("memory", () => {
  refuses([
    [
      "memory that is not declared",
      (d) => {
        const memory = { ...d.buffer("x") };
        d.emit({ kind: "load", memory, index: d.const("u32", 0), results: [d.value("f32")] });
      },
      /touches memory x, which the kernel does not declare/,
    ],
    [
      "a write to a read-only buffer",
      (d) => {
        const values = [d.const("f32", 1)];
        d.emit({ kind: "store", memory: d.buffer("x", "read"), index: d.const("u32", 0), values });
      },
      /store to x is against the buffer's access, read/,
    ],
    [
      "a read of a write-only buffer",
      (d) => {
        const results = [d.value("f32")];
        d.emit({ kind: "load", memory: d.buffer("x", "write"), index: d.const("u32", 0), results });
      },
      /load of x is against the buffer's access, write/,
    ],
    [
      "a plain load of atomic memory",
      (d) => {
        const memory = d.buffer("x", "read_write", true);
        d.emit({ kind: "load", memory, index: d.const("u32", 0), results: [d.value("f32")] });
      },
      /load of x is not atomic, but the memory is/,
    ],
    [
      "a uniform load of atomic memory",
      (d) => {
        const memory = d.sharedMemory("flag", "u32", true);
        d.emit({ kind: "uniformLoad", memory, index: d.const("u32", 0), result: d.value("u32") });
      },
      /uniformLoad of flag is not atomic/,
    ],
    [
      "a uniform load of another type",
      (d) => {
        const memory = d.sharedMemory("tile");
        d.emit({ kind: "uniformLoad", memory, index: d.const("u32", 0), result: d.value("u32") });
      },
      /gives u32, but the elements are f32/,
    ],
    [
      "a uniform load of a buffer",
      (d) => {
        const memory = d.buffer("x") as never;
        d.emit({ kind: "uniformLoad", memory, index: d.const("u32", 0), result: d.value("f32") });
      },
      /reads memory that is not shared/,
    ],
    [
      "a uniform load in a role",
      (d) => {
        const memory = d.sharedMemory("tile");
        const index = d.const("u32", 0);
        const body = d.block(() => d.emit({ kind: "uniformLoad", memory, index, result: d.value("f32") }));
        d.emit({ kind: "roles", roles: [{ name: "all", first: 0, count: 2, body }] });
      },
      /stands in a role, which only some subgroups run/,
    ],
  ]);
});

const atomic =
  (change: Partial<Node & { kind: "atomic" }>, element: "f32" | "u32" = "u32", isAtomic = true): Write =>
  (d) => {
    const memory = d.sharedMemory("counters", element, isAtomic);
    const one = d.const(element, 1);
    const result = change.result === null ? null : d.value(change.result?.type ?? element);
    const operands = change.operands?.map(() => one) ?? [one];
    const common = {
      kind: "atomic",
      op: "add",
      memory,
      index: d.const("i32", 0),
      order: "relaxed",
    } as const;
    d.emit({ ...common, ...change, operands, result });
  };
const value = { id: 0, type: "u32" } as const;

describe("atomics", () => {
  refuses([
    ["on plain memory", atomic({}, "u32", false), /atomic add on counters is atomic, but the memory is not/],
    ["without the operand", atomic({ operands: [] }), /has 0 operands, not 1/],
    ["a compareExchange of one operand", atomic({ op: "compareExchange" }), /has 1 operands, not 2/],
    ["a min of f32", atomic({ op: "min" }, "f32"), /atomic min on counters does not exist for f32/],
    ["a store with a result", atomic({ op: "store" }), /has a result, which a store does not give/],
    ["an add without result", atomic({ result: null }), /has no result/],
    ["a result of another type", atomic({ result: { id: 0, type: "f32" } }), /gives f32/],
    ["an unknown operation", atomic({ op: "sub" as "add" }), /is an unknown operation/],
    ["an unknown order", atomic({ order: "seq_cst" as "relaxed" }), /has order "seq_cst"/],
    ["a load that releases", atomic({ op: "load", operands: [], order: "release" }), /cannot be release/],
    ["a store that acquires", atomic({ op: "store", result: null, order: "acquire" }), /cannot be acquire/],
    [
      "an operand of another type",
      (d) => {
        const memory = d.sharedMemory("counters", "u32", true);
        const operands = [d.const("f32", 1)];
        const common = { kind: "atomic", op: "add", memory, index: d.const("u32", 0) } as const;
        d.emit({ ...common, operands, result: d.value("u32"), order: "relaxed" });
      },
      /takes f32, but the elements are u32/,
    ],
    [
      "an index of type bool",
      (d) => {
        const memory = d.sharedMemory("counters", "u32", true);
        const common = { kind: "atomic", op: "load", memory, operands: [], order: "relaxed" } as const;
        d.emit({ ...common, index: d.const("bool", true), result: { ...value, id: d.value("u32").id } });
      },
      /has an index of type bool/,
    ],
  ]);
});

const subgroup =
  (op: string, operands: readonly ScalarType[], results: readonly ScalarType[]): Write =>
  (d) => {
    const given = operands.map((type, i) => d.const(type, type === "bool" ? i === 0 : i + 1));
    d.emit({
      kind: "subgroup",
      op: op as "sum",
      operands: given,
      results: results.map((type) => d.value(type)),
    });
  };

describe("subgroup operations", () => {
  refuses([
    ["no operand", subgroup("sum", [], ["f32"]), /does not take \(\)/],
    ["a sum of bool", subgroup("sum", ["bool"], ["bool"]), /subgroup sum does not take \(bool\)/],
    ["a sum of two", subgroup("sum", ["f32", "f32"], ["f32"]), /does not take \(f32, f32\)/],
    ["a sum of another type", subgroup("sum", ["f32"], ["u32"]), /gives \(f32\), not \(u32\)/],
    ["any of u32", subgroup("any", ["u32"], ["bool"]), /any does not take \(u32\)/],
    ["a ballot of u32", subgroup("ballot", ["u32"], ["u32"]), /ballot does not take \(u32\)/],
    [
      "a ballot with two words at width 32",
      subgroup("ballot", ["bool"], ["u32", "u32"]),
      /gives \(u32\), not/,
    ],
    ["a shuffle by i32", subgroup("shuffle", ["f32", "i32"], ["f32"]), /does not take \(f32, i32\)/],
    ["a shuffle of bool", subgroup("shuffle", ["bool", "u32"], ["bool"]), /does not take \(bool, u32\)/],
    ["an unknown operation", subgroup("product", ["f32"], ["f32"]), /or is unknown/],
  ]);

  test("a ballot has as many words as its subgroup needs", () => {
    const ballot = (words: number): KernelIR =>
      draft(
        subgroup(
          "ballot",
          ["bool"],
          Array.from({ length: words }, () => "u32" as const),
        ),
        {
          subgroupSize: 128,
          workgroupSize: [128, 1, 1],
        },
      );
    expect(() => verify(ballot(4))).not.toThrow();
    expect(errorOf(ballot(1)).message).toMatch(/gives \(u32, u32, u32, u32\), not \(u32\)/);
  });
});
