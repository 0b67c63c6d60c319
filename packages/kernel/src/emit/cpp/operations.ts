/** The row of CUDA C++ and of HIP C++ for each operation. They differ only where noted. */

import { isHalf, type HalfType } from "../../ir/types.ts";
import {
  call,
  choice,
  infix,
  prefix,
  simple,
  type Expression,
  type InfixOperator,
  type Operand,
} from "../core/expression.ts";
import { named, operator, type Pair } from "../core/common-operations.ts";
import type { Operation, OperationTable } from "../core/operation-table.ts";
import { cppLiteral } from "./language.ts";

/** An i32 as unsigned: signed overflow is undefined in C++, and wraps in the IR. */
function asUnsigned(operand: Operand): Expression {
  if (typeof operand.constant === "number") return simple(`${operand.constant >>> 0}u`);
  return operand.unsigned ?? call("unsigned", operand);
}

const fromUnsigned = (unsigned: Expression): Expression => ({ ...call("int", unsigned), unsigned });

const wrapping = (text: InfixOperator, a: Operand, b: Operand): Expression =>
  fromUnsigned(infix(text, asUnsigned(a), asUnsigned(b)));

const arithmetic =
  (text: InfixOperator): Operation =>
  (operands, { result }) => {
    const [a, b] = operands as Pair;
    return result === "i32" ? wrapping(text, a, b) : infix(text, a, b);
  };

/** A function of floats whose result a shorter type rounds rightly, or holds exactly. */
const throughFloat =
  (name: string): Operation =>
  (operands, { result }) => {
    if (!isHalf(result)) return call(name, ...operands);
    return call(result, call(name, ...operands.map((operand) => call("float", operand))));
  };

const rounded =
  (type: HalfType): Operation =>
  ([operand]) => {
    const a = operand as Operand;
    if (a.type === type) return a;
    return call(type, a.type === "f32" ? a : call("float", a));
  };

/** Arithmetic of two-byte types that the target does in f32. */
const noted =
  (row: Operation, lacks: (type: HalfType) => boolean, what: string): Operation =>
  (operands, context) => {
    const { result } = context;
    if (isHalf(result) && lacks(result))
      context.note(`${what} of ${result}`, `f32, rounded to ${result}`, true);
    return row(operands, context);
  };
const isBF16 = (type: HalfType): boolean => type === "bf16";
const always = (): boolean => true;

/** Integer division by a positive literal needs no test of the divisor. */
const division =
  (text: "/" | "%", unsignedHelper: string, signedHelper: string, floors: boolean): Operation =>
  (operands, { result, helper }) => {
    const [a, b] = operands as Pair;
    const isSafe = typeof b.constant === "number" && b.constant > 0;
    if (isSafe && (result === "u32" || !floors)) return infix(text, a, b);
    return call(helper(result === "u32" ? unsignedHelper : signedHelper), a, b);
  };

const extreme =
  (float: string, integer: string): Operation =>
  (operands, { result, helper }) => {
    const [a, b] = operands as Pair;
    if (isHalf(result)) return call(integer, a, b);
    return call(result === "f32" ? float : helper(integer), a, b);
  };

const bitwise =
  (text: InfixOperator, logical: InfixOperator): Operation =>
  (operands, { result }) => {
    const [a, b] = operands as Pair;
    return infix(result === "bool" ? logical : text, a, b);
  };

/** A shift's amount modulo 32. */
function amount(b: Operand): Expression {
  if (typeof b.constant === "number") return simple(String(b.constant % 32));
  return infix("&", b, simple("31u"));
}

const toInteger =
  (type: "i32" | "u32", fromFloat: Operation): Operation =>
  (operands, context) => {
    const [a] = operands as [Operand];
    if (a.type === type) return a;
    if (a.type === "f32") return fromFloat(operands, context);
    if (type === "u32") return a.type === "i32" ? asUnsigned(a) : call("unsigned", a);
    return a.type === "u32" ? fromUnsigned(a) : call("int", a);
  };

const bitcast =
  (type: "f32" | "i32" | "u32"): Operation =>
  (operands, { helper }) => {
    const [a] = operands as [Operand];
    if (a.type === type) return a;
    if (type === "f32") return call(a.type === "i32" ? "__int_as_float" : "__uint_as_float", a);
    if (a.type !== "f32") return type === "u32" ? asUnsigned(a) : fromUnsigned(a);
    const bits = call(helper("floatBits"), a);
    return type === "u32" ? call("unsigned", bits) : bits;
  };

const counting =
  (name: string): Operation =>
  (operands, { result }) => {
    const [a] = operands as [Operand];
    const count = call(name, a);
    return result === "u32" ? call("unsigned", count) : count;
  };

const shared: Omit<OperationTable, "mul" | "toI32" | "toU32"> = {
  add: noted(arithmetic("+"), isBF16, "add"),
  sub: noted(arithmetic("-"), isBF16, "sub"),
  div: noted(operator("/"), always, "div"),
  divTrunc: division("/", "divide", "divide", false),
  divFloor: division("/", "divide", "divideFloor", true),
  remTrunc: division("%", "remainderOf", "remainderOf", false),
  modFloor: division("%", "remainderOf", "moduloOf", true),
  min: extreme("fminf", "smaller"),
  max: extreme("fmaxf", "larger"),
  neg: (operands, { result }) => {
    const [a] = operands as [Operand];
    return result === "i32" ? fromUnsigned(infix("-", simple("0u"), asUnsigned(a))) : prefix("-", a);
  },
  abs: (operands, { result, helper }) =>
    call(isHalf(result) ? "absoluteOf" : result === "i32" ? helper("absolute") : "fabsf", ...operands),
  fma: (operands, { result }) => call(isHalf(result) ? "fmaOf" : "fmaf", ...operands),
  select: ([condition, a, b]) => choice(condition as Operand, a as Operand, b as Operand),
  sqrt: noted(throughFloat("sqrtf"), always, "sqrt"),
  rsqrt: named("rsqrtf"),
  exp: named("expf"),
  exp2: named("exp2f"),
  exp2Flushed: named("exp2f"),
  log: named("logf"),
  log2: named("log2f"),
  sin: named("sinf"),
  cos: named("cosf"),
  tanh: named("tanhf"),
  floor: throughFloat("floorf"),
  ceil: throughFloat("ceilf"),
  round: throughFloat("rintf"),
  trunc: throughFloat("truncf"),
  eq: operator("=="),
  ne: operator("!="),
  lt: operator("<"),
  le: operator("<="),
  gt: operator(">"),
  ge: operator(">="),
  and: bitwise("&", "&&"),
  or: bitwise("|", "||"),
  xor: bitwise("^", "!="),
  not: ([a], { result }) => prefix(result === "bool" ? "!" : "~", a as Operand),
  shl: (operands, { result }) => {
    const [a, b] = operands as Pair;
    if (result === "u32") return infix("<<", a, amount(b));
    return fromUnsigned(infix("<<", asUnsigned(a), amount(b)));
  },
  shr: (operands) => {
    const [a, b] = operands as Pair;
    return infix(">>", a, amount(b));
  },
  popcount: counting("__popc"),
  clz: counting("__clz"),
  toF32: ([operand]) => {
    const a = operand as Operand;
    return a.type === "f32" ? a : call("float", a);
  },
  toF16: rounded("f16"),
  toBF16: rounded("bf16"),
  toBool: ([operand]) => {
    const a = operand as Operand;
    return a.type === "bool" ? a : infix("!=", a, cppLiteral(a.type, 0));
  },
  toIndex: ([a], { helper }) => call(helper("i64"), a as Operand),
  bitcastF32: bitcast("f32"),
  bitcastI32: bitcast("i32"),
  bitcastU32: bitcast("u32"),
};

const product = noted(arithmetic("*"), isBF16, "mul");

/** CUDA's compiler fuses a·b + c unless told otherwise; a product by `__fmul_rn` it never touches. */
export const cudaOperations: OperationTable = {
  ...shared,
  mul: (operands, context) =>
    context.result === "f32" ? call("__fmul_rn", ...operands) : product(operands, context),
  exp2Flushed: (operands, { helper }) => call(helper("exp2Flushed"), ...operands),
  toI32: toInteger("i32", named("__float2int_rz")),
  toU32: toInteger("u32", named("__float2uint_rz")),
};

/** HIP files say `#pragma clang fp contract(off)`; conversions out of range are undefined there and need a function. */
export const hipOperations: OperationTable = {
  ...shared,
  mul: product,
  fma: (operands, context) => {
    if (context.result === "bf16") context.note("fma of bf16", "double, rounded once", true);
    return shared.fma(operands, context);
  },
  toI32: toInteger("i32", (operands, { helper }) => call(helper("f32ToI32"), ...operands)),
  toU32: toInteger("u32", (operands, { helper }) => call(helper("f32ToU32"), ...operands)),
};
