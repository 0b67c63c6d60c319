/** JavaScript's row for each operation. bool is true or false here; the rest is as ops.ts says. */

import { assertNever } from "@evolver/base";
import { isFloat, isHalf, type ScalarType } from "../../ir/types.ts";
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
import { helped, operator, type Pair } from "../core/common-operations.ts";
import { ofType, type RequestHelper } from "../core/helpers.ts";
import type { Operation, OperationTable } from "../core/operation-table.ts";

const zero = simple("0");
const one = simple("1");

/** Wraps a number into the range of a type; only two-byte types need a helper. */
function wrap(expression: Expression, type: ScalarType, helper: RequestHelper = (name) => name): Expression {
  switch (type) {
    case "f32":
      return call("fround", expression);
    case "f16":
    case "bf16":
      return call(helper(ofType("round", type)), expression);
    case "i32":
      return infix("|", expression, zero);
    case "u32":
      return infix(">>>", expression, zero);
    case "bool":
    case "index":
      return expression;
    default:
      return assertNever(type, "type of a number");
  }
}

const arithmetic =
  (text: InfixOperator): Operation =>
  (operands, { result, helper }) => {
    const [a, b] = operands as Pair;
    return wrap(infix(text, a, b), result, helper);
  };

const mathFunction =
  (name: string, rounds: boolean): Operation =>
  ([a], context) => {
    const result = call(`Math.${name}`, a as Operand);
    return rounds ? wrap(result, context.result, context.helper) : result;
  };

/** Integer division by a literal other than 0 needs no test of the divisor. */
const division =
  (name: string, plain: (a: Operand, b: Operand) => Expression): Operation =>
  (operands, context) => {
    const [a, b] = operands as Pair;
    if (typeof b.constant === "number" && b.constant > 0) return wrap(plain(a, b), context.result);
    return wrap(call(context.helper(name), a, b), context.result);
  };

const floored = (a: Operand, b: Operand): Expression => call("Math.floor", infix("/", a, b));

const extreme =
  (name: "min" | "max"): Operation =>
  (operands, { result, helper }) =>
    call(isFloat(result) ? helper(`${name}F32`) : `Math.${name}`, ...operands);

const bitwise =
  (text: InfixOperator, logical: InfixOperator): Operation =>
  (operands, { result }) => {
    const [a, b] = operands as Pair;
    if (result === "bool") return infix(logical, a, b);
    return result === "u32" ? wrap(infix(text, a, b), "u32") : infix(text, a, b);
  };

const bit = (a: Operand): Expression => choice(a, one, zero);

const toInteger =
  (type: "i32" | "u32"): Operation =>
  ([operand], { helper }) => {
    const a = operand as Operand;
    if (a.type === type) return a;
    if (a.type === "bool") return bit(a);
    if (a.type === "f32") return call(helper(type === "i32" ? "f32ToI32" : "f32ToU32"), a);
    return wrap(a, type);
  };

const bitcast =
  (type: "f32" | "i32" | "u32"): Operation =>
  ([operand], { helper }) => {
    const a = operand as Operand;
    if (a.type === type) return a;
    if (type === "f32") return call(helper("bitsToF32"), a);
    if (a.type !== "f32") return wrap(a, type);
    const bits = call(helper("f32ToBits"), a);
    return type === "u32" ? wrap(bits, "u32") : bits;
  };

const roundTo =
  (type: "f16" | "bf16"): Operation =>
  ([operand], { helper }) => {
    const a = operand as Operand;
    return a.type === type ? a : wrap(a, type, helper);
  };

export const jsOperations: OperationTable = {
  add: arithmetic("+"),
  sub: arithmetic("-"),
  mul: (operands, { result, helper }) => {
    const [a, b] = operands as Pair;
    if (result !== "i32" && result !== "u32") return wrap(infix("*", a, b), result, helper);
    const product = call("Math.imul", a, b);
    return result === "u32" ? wrap(product, "u32") : product;
  },
  div: arithmetic("/"),
  divTrunc: division("divide", (a, b) => infix("/", a, b)),
  divFloor: division("divideFloor", (a, b) => (a.type === "u32" ? infix("/", a, b) : floored(a, b))),
  remTrunc: division("remainderOf", (a, b) => infix("%", a, b)),
  modFloor: division("moduloOf", (a, b) =>
    a.type === "u32" ? infix("%", a, b) : infix("-", a, infix("*", floored(a, b), b)),
  ),
  min: extreme("min"),
  max: extreme("max"),
  neg: ([a], { result }) =>
    result === "i32" ? wrap(prefix("-", a as Operand), result) : prefix("-", a as Operand),
  abs: ([a], { result }) =>
    result === "i32" ? wrap(call("Math.abs", a as Operand), result) : call("Math.abs", a as Operand),
  fma: (operands, { result, helper }) =>
    call(helper(isHalf(result) ? ofType("fma", result) : "fma"), ...operands),
  select: ([condition, a, b]) => choice(condition as Operand, a as Operand, b as Operand),
  sqrt: mathFunction("sqrt", true),
  rsqrt: ([a]) => call("fround", infix("/", one, call("Math.sqrt", a as Operand))),
  exp: helped("exp"),
  exp2: helped("exp2"),
  exp2Flushed: helped("exp2"),
  log: mathFunction("log", true),
  log2: mathFunction("log2", true),
  sin: mathFunction("sin", true),
  cos: mathFunction("cos", true),
  tanh: mathFunction("tanh", true),
  floor: mathFunction("floor", false),
  ceil: mathFunction("ceil", false),
  round: helped("round"),
  trunc: mathFunction("trunc", false),
  eq: operator("==="),
  ne: operator("!=="),
  lt: operator("<"),
  le: operator("<="),
  gt: operator(">"),
  ge: operator(">="),
  and: bitwise("&", "&&"),
  or: bitwise("|", "||"),
  xor: bitwise("^", "!=="),
  not: ([operand], { result }) => {
    const a = operand as Operand;
    if (result === "bool") return prefix("!", a);
    return result === "u32" ? wrap(prefix("~", a), "u32") : prefix("~", a);
  },
  shl: (operands, { result }) => {
    const [a, b] = operands as Pair;
    return result === "u32" ? wrap(infix("<<", a, b), "u32") : infix("<<", a, b);
  },
  shr: (operands, { result }) => {
    const [a, b] = operands as Pair;
    return infix(result === "u32" ? ">>>" : ">>", a, b);
  },
  popcount: helped("popcount"),
  clz: ([a]) => call("Math.clz32", a as Operand),
  toI32: toInteger("i32"),
  toU32: toInteger("u32"),
  toF32: ([operand]) => {
    const a = operand as Operand;
    if (isFloat(a.type)) return a;
    return a.type === "bool" ? bit(a) : call("fround", a);
  },
  toF16: roundTo("f16"),
  toBF16: roundTo("bf16"),
  toBool: ([a]) => ((a as Operand).type === "bool" ? (a as Operand) : infix("!==", a as Operand, zero)),
  toIndex: ([a]) => a as Operand,
  bitcastF32: bitcast("f32"),
  bitcastI32: bitcast("i32"),
  bitcastU32: bitcast("u32"),
};
