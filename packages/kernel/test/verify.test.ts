/** The verifier's rules about definitions, scopes, control flow and the header. Types are in verify-types.test.ts. */

import { verify } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { draft } from "./support/draft.ts";
import { errorOf, refuses, type Write } from "./support/refuses.ts";

test("accepts a kernel that uses everything", () => {
  const ir = draft((d) => {
    const x = d.buffer("x", "read");
    const y = d.buffer("y");
    const w = d.buffer("w", "write");
    const counters = d.buffer("counters", "read_write", true);
    const tile = d.sharedMemory("tile");
    const n = d.param("n", "u32");
    const lane = d.builtin("lane");
    const two = d.const("f32", 2);
    const bits = [d.const("f32", NaN), d.const("f32", -Infinity), d.const("f32", -0), d.const("f32", 0)];
    const minus = d.const("i32", -1);
    const ten = d.const("i32", 10);
    const offset = d.op("toIndex", [lane], "index");
    const loaded = [d.value("f32"), d.value("f32"), d.value("f32"), d.value("f32")];
    d.emit({ kind: "load", memory: x, index: offset, results: loaded });
    const v = d.variable("f32");
    d.emit({ kind: "var", variable: v, init: two });
    d.for(n, (i) => {
      d.if(d.op("lt", [i, lane], "bool"), () => d.emit({ kind: "continue" }));
      d.emit({ kind: "varSet", variable: v, value: bits[0]! });
    });
    d.for(minus, () => d.emit({ kind: "break" }), { from: ten, step: minus, direction: "down", unroll: 2 });
    d.while(
      () => d.op("lt", [n, lane], "bool"),
      () => d.emit({ kind: "break" }),
    );
    const read = d.value("f32");
    d.emit({ kind: "varGet", variable: v, result: read });
    d.emit({ kind: "store", memory: w, index: lane, values: [read, two] });
    d.emit({ kind: "store", memory: y, index: lane, values: loaded });
    d.emit({ kind: "barrier", scope: "workgroup" });
    d.emit({ kind: "uniformLoad", memory: tile, index: n, result: d.value("f32") });
    const common = { kind: "atomic", memory: counters, index: lane } as const;
    d.emit({ ...common, op: "add", operands: [two], result: d.value("f32"), order: "acq_rel" });
    d.emit({ ...common, op: "store", operands: [two], result: null, order: "release" });
    d.emit({ ...common, op: "load", operands: [], result: d.value("f32"), order: "acquire" });
    d.emit({ kind: "subgroup", op: "sum", operands: [two], results: [d.value("f32")] });
    d.emit({ kind: "subgroup", op: "shuffleXor", operands: [two, n], results: [d.value("f32")] });
    d.emit({ kind: "comment", text: "two roles" });
    const role = (name: string, first: number) => ({ name, first, count: 1, body: d.block(() => {}) });
    d.emit({ kind: "roles", roles: [role("producer", 0), role("consumer", 1)] });
  });
  expect(() => verify(ir)).not.toThrow();
});

describe("definitions and scopes", () => {
  refuses([
    [
      "a value defined twice",
      (d) => {
        const one = d.const("u32", 1);
        d.emit({ kind: "op", op: "add", operands: [one, one], result: one });
      },
      /op add defines value 0 again/,
    ],
    [
      "a value used before its definition",
      (d) => {
        const later = d.value("u32");
        d.op("not", [later], "u32");
        d.emit({ kind: "op", op: "not", operands: [d.const("u32", 1)], result: later });
      },
      /op not uses value 0 \(operand\) before its definition/,
    ],
    [
      "a value that nothing defines",
      (d) => void d.op("not", [d.value("u32")], "u32"),
      /that nothing defines/,
    ],
    [
      "a value that is used nowhere and defined nowhere",
      (d) => void d.value("f32"),
      /value 0 of 1 is defined nowhere/,
    ],
    [
      "a value id out of range",
      (d) => d.emit({ kind: "op", op: "not", operands: [d.const("u32", 1)], result: { id: 7, type: "u32" } }),
      /defines value 7, but ids run from 0 to 0/,
    ],
    [
      "a value used outside its block",
      (d) => {
        let inner = d.const("bool", true);
        d.if(inner, () => {
          inner = d.op("not", [inner], "bool");
        });
        d.op("not", [inner], "bool");
      },
      /op not uses value 1 \(operand\) outside its block/,
    ],
    [
      "an induction value used after its loop",
      (d) => {
        const n = d.const("u32", 8);
        d.for(n, () => {}, { induction: { id: 1, type: "u32" }, from: n, step: n });
        d.value("u32");
        d.op("not", [{ id: 1, type: "u32" }], "u32");
      },
      /outside its block/,
    ],
    [
      "a value of a while's condition used in its body",
      (d) => {
        let on = d.const("bool", true);
        d.while(
          () => (on = d.op("not", [on], "bool")),
          () => void d.op("not", [on], "bool"),
        );
      },
      /outside its block/,
    ],
    [
      "a value taken for another type",
      (d) => void d.op("not", [{ id: d.const("i32", 1).id, type: "u32" }], "u32"),
      /takes value 0 \(operand\) for u32/,
    ],
    [
      "a variable used before its declaration",
      (d) => d.emit({ kind: "varGet", variable: d.variable(), result: d.value("f32") }),
      /varGet of v0 uses variable 0 before its declaration/,
    ],
    [
      "a variable used outside its block",
      (d) => {
        const v = d.variable();
        d.if(d.const("bool", true), () => d.emit({ kind: "var", variable: v, init: null }));
        d.emit({ kind: "varGet", variable: v, result: d.value("f32") });
      },
      /uses a variable outside the block that declares it/,
    ],
    [
      "a variable declared twice",
      (d) => {
        const v = d.variable();
        d.emit({ kind: "var", variable: v, init: null });
        d.emit({ kind: "var", variable: v, init: null });
      },
      /declares variable 0 again/,
    ],
    ["a variable declared nowhere", (d) => void d.variable(), /variable 0 of 1 is declared nowhere/],
    [
      "a variable taken for another type",
      (d) => {
        const v = d.variable("f32");
        d.emit({ kind: "var", variable: v, init: null });
        d.emit({ kind: "varGet", variable: { ...v, type: "u32" }, result: d.value("u32") });
      },
      /takes the variable for u32/,
    ],
    [
      "a variable with a name that is not an identifier",
      (d) => d.emit({ kind: "var", variable: d.variable("f32", "a b"), init: null }),
      /name that is not an identifier/,
    ],
    [
      "a constant inside a block",
      (d) => {
        const on = d.const("bool", true);
        d.if(on, () => d.emit({ kind: "const", result: d.value("u32"), value: 1 }));
      },
      /const 1 does not stand at the front/,
    ],
    [
      "a built-in after other nodes",
      (d) => {
        d.emit({ kind: "barrier", scope: "workgroup" });
        d.emit({ kind: "builtin", builtin: "lane", result: d.value("u32") });
      },
      /builtin lane does not stand at the front/,
    ],
    ["a constant that stands twice", (d) => void [d.const("u32", 1), d.const("u32", 1)], /stands twice/],
  ]);

  test("names both lines", () => {
    const error = errorOf(
      draft((d) => {
        let inner = d.const("bool", true);
        d.if(inner, () => {
          inner = d.op("not", [inner], "bool");
        });
        d.op("not", [inner], "bool");
      }),
    );
    expect(error.where.map(({ line }) => line)).toEqual([4, 3]);
    expect(error.message).toContain("/draft.ts:3:1 (defined here)");
  });
});

const role = (name: string, first: number, count: number) => ({ name, first, count, body: { nodes: [] } });
const roles =
  (...list: ReturnType<typeof role>[]): Write =>
  (d) =>
    d.emit({ kind: "roles", roles: list });

describe("loops and roles", () => {
  refuses([
    ["a break outside every loop", (d) => d.emit({ kind: "break" }), /break stands outside every loop/],
    [
      "a continue in an if outside every loop",
      (d) => d.if(d.const("bool", true), () => d.emit({ kind: "continue" })),
      /continue stands outside every loop/,
    ],
    [
      "a break in the condition of a while",
      (d) => {
        const on = d.const("bool", true);
        d.while(
          () => {
            d.if(on, () => d.emit({ kind: "break" }));
            return on;
          },
          () => {},
        );
      },
      /stands in the condition of a while/,
    ],
    [
      "a break that is not last",
      (d) =>
        d.for(d.const("u32", 2), () => {
          d.emit({ kind: "break" });
          d.emit({ kind: "barrier", scope: "workgroup" });
        }),
      /break is not the last node of its block/,
    ],
    [
      "a for that counts up by -1",
      (d) => d.for(d.const("i32", 2), () => {}, { step: d.const("i32", -1) }),
      /counts up by -1/,
    ],
    [
      "a for that counts down by 1",
      (d) => d.for(d.const("i32", 2), () => {}, { direction: "down" }),
      /step must be a negative constant/,
    ],
    [
      "a for that counts down by a run-time step",
      (d) => d.for(d.const("i32", 2), () => {}, { direction: "down", step: d.param("s", "i32") }),
      /step must be a negative constant/,
    ],
    [
      "an unknown direction",
      (d) => d.for(d.const("i32", 2), () => {}, { direction: "in" as "up" }),
      /direction "in"/,
    ],
    ["a factor of 0 to unroll by", (d) => d.for(d.const("i32", 2), () => {}, { unroll: 0 }), /has unroll 0/],
    [
      "roles that overlap",
      roles(role("a", 0, 2), role("b", 1, 1)),
      /gives subgroup 1 to both role a and role b/,
    ],
    ["roles beyond the workgroup", roles(role("a", 1, 2)), /subgroups 1 to 2, but the workgroup has 2/],
    ["roles of no subgroup", roles(role("a", 0, 0)), /gives role a subgroups from 0, 0 of them/],
    ["roles that share a name", roles(role("a", 0, 1), role("a", 1, 1)), /two roles named "a"/],
  ]);
});

const nothing = (): void => {};

describe("the header", () => {
  refuses([
    [
      "a name that is not an identifier",
      nothing,
      /the name "my kernel" is not an identifier/,
      { name: "my kernel" },
    ],
    [
      "a parameter name that is not an identifier",
      (d) => void d.param("a-b", "f32"),
      /name "a-b" is not an identifier/,
    ],
    [
      "a name that stands for two things",
      (d) => void [d.buffer("x"), d.sharedMemory("x")],
      /"x" stands for two parameters or memories/,
    ],
    [
      "a buffer and its memory with different names",
      (d) => void d.params.push({ kind: "buffer", name: "x", memory: { ...d.buffer("y") } }),
      /parameter x and its memory y do not belong together/,
    ],
    ["a scalar of type bool", (d) => void d.param("on", "bool" as "u32"), /parameter on has type bool/],
    [
      "a buffer of bool",
      (d) => {
        const memory = { ...d.buffer("other"), name: "x", element: "bool" as "u32" };
        d.params.push({ kind: "buffer", name: "x", memory });
      },
      /buffer x has elements of type bool/,
    ],
    ["an unknown access", (d) => void d.buffer("x", "rw" as "read"), /buffer x has access rw/],
    ["an atomic buffer that is read-only", (d) => void d.buffer("x", "read", true), /x is not read_write/],
    [
      "shared memory of bool",
      (d) => void d.sharedMemory("s", "bool" as "u32"),
      /shared s has elements of type bool/,
    ],
    [
      "shared memory of no element",
      (d) => void d.shared.push({ space: "shared", name: "s", element: "f32", length: 0, atomic: false }),
      /shared s has length 0/,
    ],
    ["a subgroup of 24", nothing, /24 is not a power of two from 4 to 128/, { subgroupSize: 24 }],
    ["a subgroup of 2", nothing, /2 is not a power of two/, { subgroupSize: 2 }],
    ["a subgroup of 256", nothing, /256 is not a power of two/, { subgroupSize: 256 }],
    ["a workgroup of 0", nothing, /\[0, 1, 1\] is not three integers from 1/, { workgroupSize: [0, 1, 1] }],
    ["a workgroup of 2048", nothing, /has 2048 invocations/, { workgroupSize: [64, 32, 1] }],
    [
      "a subgroup operation where the last subgroup has fewer lanes",
      (d) =>
        void d.emit({
          kind: "subgroup",
          op: "sum",
          operands: [d.const("u32", 1)],
          results: [d.value("u32")],
        }),
      /wants full subgroups of 32, which a workgroup of 48 does not have/,
      { workgroupSize: [48, 1, 1] },
    ],
    ["an unknown uniformity mode", nothing, /mode is "loose"/, { uniformity: "loose" as "static" }],
    ["a count that is none", nothing, /-1 values/, { valueCount: -1 }],
  ]);
});
