/**
 * WGSL's row for each operation. Integer arithmetic wraps there, division by 0 and shifts behave as in the IR, as long
 * as the compiler does not see constants: the emitter names those that it must not see.
 */

import { isFloat } from "../../ir/types.ts";
import { helped, named, operator, type Pair } from "../core/common-operations.ts";
import {
  call,
  COMPARE,
  infix,
  parenthesised,
  prefix,
  simple,
  type Expression,
  type InfixOperator,
  type Operand,
} from "../core/expression.ts";
import type { Operation, OperationTable } from "../core/operation-table.ts";

/** Without a branch: SwiftShader's compiler takes exponential time over many branches in a row. */
export const chosen = (condition: Expression, value: Expression, otherwise: Expression): Expression =>
  call("select", otherwise, value, condition);

/** A comparison before other arguments could be read as a template list: `f(a < b, c > d)`. */
const argument = (operand: Expression): Expression =>
  operand.precedence >= COMPARE ? simple(parenthesised(operand)) : operand;

const floors =
  (plain: InfixOperator, helperName: string): Operation =>
  (operands, { result, helper }) => {
    const [a, b] = operands as Pair;
    return result === "u32" ? infix(plain, a, b) : call(helper(helperName), a, b);
  };

const extreme =
  (name: "min" | "max"): Operation =>
  (operands, { result, note }) => {
    if (isFloat(result))
      note(
        `${name} of floats`,
        `${name}(): WGSL lets it be either operand where one is NaN`,
        false,
        "numbers",
      );
    return call(name, ...operands);
  };

const shift =
  (text: InfixOperator): Operation =>
  (operands) => {
    const [a, b] = operands as Pair;
    return infix(text, a, typeof b.constant === "number" ? simple(`${b.constant % 32}u`) : b);
  };

const convert =
  (type: "i32" | "u32"): Operation =>
  ([operand], { helper }) => {
    const a = operand as Operand;
    if (a.type === type) return a;
    return a.type === "f32" ? call(helper(type === "i32" ? "f32ToI32" : "f32ToU32"), a) : call(type, a);
  };

const bitcast =
  (type: "f32" | "i32" | "u32"): Operation =>
  ([operand], { helper }) => {
    const a = operand as Operand;
    if (a.type === type) return a;
    if (a.type !== "f32") return call(`bitcast<${type}>`, a);
    const bits = call(helper("floatBits"), a);
    return type === "u32" ? bits : call("bitcast<i32>", bits);
  };

/** All operations except rounding to two-byte types, which is in half.ts. */
export const wgslOperations: Omit<OperationTable, "toF16" | "toBF16"> = {
  add: operator("+"),
  sub: operator("-"),
  mul: operator("*"),
  div: operator("/"),
  divTrunc: operator("/"),
  divFloor: floors("/", "divideFloor"),
  remTrunc: operator("%"),
  modFloor: floors("%", "moduloOf"),
  min: extreme("min"),
  max: extreme("max"),
  neg: ([a]) => prefix("-", a as Operand),
  abs: named("abs"),
  fma: (operands, { note }) => {
    note("fma", "fma(), which WGSL lets an implementation round twice", false, "numbers");
    return call("fma", ...operands);
  },
  select: ([condition, a, b]) =>
    call("select", argument(b as Operand), argument(a as Operand), condition as Operand),
  sqrt: named("sqrt"),
  rsqrt: named("inverseSqrt"),
  exp: helped("expF32"),
  exp2: helped("exp2F32"),
  exp2Flushed: helped("exp2F32"),
  log: helped("logF32"),
  log2: helped("log2F32"),
  sin: helped("sinF32"),
  cos: helped("cosF32"),
  tanh: helped("tanhF32"),
  floor: named("floor"),
  ceil: named("ceil"),
  round: named("round"),
  trunc: named("trunc"),
  eq: operator("=="),
  /** Compilers make `a != b` false where an operand is NaN. */
  ne: (operands) => {
    const [a, b] = operands as Pair;
    return isFloat(a.type) ? prefix("!", infix("==", a, b)) : infix("!=", a, b);
  },
  lt: operator("<"),
  le: operator("<="),
  gt: operator(">"),
  ge: operator(">="),
  // Of booleans too: && and || would be branches.
  and: operator("&"),
  or: operator("|"),
  xor: (operands, { result }) => {
    const [a, b] = operands as Pair;
    return infix(result === "bool" ? "!=" : "^", a, b);
  },
  not: ([a], { result }) => prefix(result === "bool" ? "!" : "~", a as Operand),
  shl: shift("<<"),
  shr: shift(">>"),
  popcount: named("countOneBits"),
  clz: named("countLeadingZeros"),
  toI32: convert("i32"),
  toU32: convert("u32"),
  toF32: ([operand], { helper }) => {
    const a = operand as Operand;
    if (a.type === "f32") return a;
    return call(a.type === "u32" ? helper("u32ToF32") : "f32", a);
  },
  toBool: ([operand]) => {
    const a = operand as Operand;
    if (a.type === "f32") return prefix("!", infix("==", a, simple("0.0f")));
    return a.type === "bool" ? a : infix("!=", a, simple(a.type === "i32" ? "0i" : "0u"));
  },
  toIndex: ([operand]) => {
    const a = operand as Operand;
    return a.type === "i32" ? call("u32", a) : a;
  },
  bitcastF32: bitcast("f32"),
  bitcastI32: bitcast("i32"),
  bitcastU32: bitcast("u32"),
};
