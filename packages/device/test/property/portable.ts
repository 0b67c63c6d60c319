/**
 * Makes of a random program one whose results WebGPU promises to the bit. WGSL lets an implementation
 *
 * - round division, square roots, fma and transcendental functions more than once: they become sums and products;
 * - reorder sums and products, and fuse a product with a sum (SwiftShader makes x·y + x·z into x·(y + z), and (x − y) + y into
 *   x): each result of such an operation goes through a maximum, past which nothing is reordered;
 * - take it that there are no NaN and infinities, and ignore the sign of zeros: these constants go, and bitcasts of
 *   f32, which would show signs of zeros, bits of NaN, and numbers below the normal range, become conversions;
 * - refuse subgroup operations in flow that is not uniform: there they become assignments.
 */

import type { Expression, Program, Statement, Type } from "./generate.ts";

const UNARY: Readonly<Record<string, string>> = {
  sqrt: "abs",
  rsqrt: "neg",
  exp: "floor",
  exp2: "ceil",
  tanh: "trunc",
};

export function portable(program: Program): Program {
  return { ...program, body: statements(program.body, false) };
}

function statements(list: readonly Statement[], divergent: boolean): readonly Statement[] {
  return list.map((item) => statement(item, divergent));
}

function statement(item: Statement, divergent: boolean): Statement {
  switch (item.kind) {
    case "set":
      return { ...item, value: expression(item.value, item.type) };
    case "if":
      return {
        ...item,
        condition: expression(item.condition, "bool"),
        then: statements(item.then, true),
        else: statements(item.else, true),
      };
    case "for":
      return {
        ...item,
        from: item.from === null ? null : expression(item.from, "i32"),
        count: typeof item.count === "number" ? item.count : expression(item.count, "i32"),
        body: statements(item.body, true),
      };
    case "while":
      return { ...item, condition: expression(item.condition, "bool"), body: statements(item.body, true) };
    case "leave":
      return { ...item, condition: expression(item.condition, "bool") };
    case "own":
      return { ...item, value: expression(item.value, "f32") };
    case "atomic":
      return { ...item, at: expression(item.at, "u32"), value: expression(item.value, "u32") };
    case "subgroup": {
      const value = expression(item.value, item.type);
      if (divergent) return { kind: "set", type: item.type, index: 1, value, mix: true };
      return { ...item, value, condition: expression(item.condition, "bool") };
    }
    case "exchange":
    case "shuffle":
      return { ...item, value: expression(item.value, item.type), by: expression(item.by, "u32") };
    case "uniformFor":
      return { ...item, body: statements(item.body, divergent) };
    case "uniformIf":
      return { ...item, then: statements(item.then, divergent), else: statements(item.else, divergent) };
    case "roles":
      return {
        ...item,
        first: statements(item.first, divergent),
        second: statements(item.second, divergent),
      };
  }
}

function expression(item: Expression, type: Type): Expression {
  switch (item.kind) {
    case "constant":
      if (type !== "f32" && type !== "f16" && type !== "bf16") return item;
      return Number.isFinite(item.value) && item.value !== 0 ? item : { kind: "constant", value: 1.25 };
    case "variable":
    case "builtin":
      return item;
    case "load":
      return { ...item, at: expression(item.at, "u32") };
    case "unary":
      return unary(item, type);
    case "binary":
      return inOrder({
        ...item,
        op: item.op === "div" ? "mul" : item.op,
        a: expression(item.a, item.from),
        b: expression(
          item.b,
          (item.op === "shl" || item.op === "shr") && item.from === "i32" ? "u32" : item.from,
        ),
      });
    case "fma":
      return inOrder({
        kind: "binary",
        op: "sub",
        from: item.type,
        a: expression(item.a, item.type),
        b: {
          kind: "binary",
          op: "max",
          from: item.type,
          a: expression(item.b, item.type),
          b: expression(item.c, item.type),
        },
      });
    case "select":
      return {
        kind: "select",
        condition: expression(item.condition, "bool"),
        a: expression(item.a, type),
        b: expression(item.b, type),
      };
  }
}

const REORDERED: ReadonlySet<string> = new Set(["add", "sub", "mul"]);
/** Below all finite sums and products that matter, and a number of each floating-point type. */
const LEAST = -60_000;

function inOrder(item: Expression & { kind: "binary" }): Expression {
  const isFloat = item.from === "f32" || item.from === "f16" || item.from === "bf16";
  if (!isFloat || !REORDERED.has(item.op)) return item;
  return { kind: "binary", op: "max", from: item.from, a: item, b: { kind: "constant", value: LEAST } };
}

function unary(item: Expression & { kind: "unary" }, type: Type): Expression {
  const a = expression(item.a, item.from);
  const involvesFloat = item.from === "f32" || type === "f32";
  if (item.op === "bitcast" && involvesFloat)
    return {
      kind: "unary",
      op: type === "f32" ? "toF32" : type === "i32" ? "toI32" : "toU32",
      from: item.from,
      a,
    };
  return { ...item, op: UNARY[item.op] ?? item.op, a };
}
