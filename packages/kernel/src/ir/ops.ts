/**
 * Pure operations: one row each, with everything about it that does not depend on a target. `js` is the meaning:
 * the simulator runs it, and every other device is tested against it.
 *
 * In `js`, f32, f16 and bf16 values are numbers that are exact in their type, i32 and u32 integers in their range, bool
 * is 0 or 1, and `m` is the portable mathematics of mathematics.ts.
 */

import type * as math from "./mathematics.ts";
import {
  isFloat,
  isHalf,
  isInteger,
  scalarTypes,
  type HalfType,
  type ScalarType,
  type WordType,
} from "./types.ts";

/** What is known of a pure operation. */
export interface OpRow {
  /** The type of the result, or null if the operands do not fit. */
  signature(operands: readonly ScalarType[]): ScalarType | null;
  /** Floating-point operations per lane; to change or drop a sign is none. */
  readonly flops: number;
  /** Which pipe of a GPU does it: ordinary arithmetic, or the special-function unit. */
  readonly unit: "arithmetic" | "special";
  /** Whether targets round it in their own ways; all other operations have one result. */
  readonly approximate?: boolean;
  /** A word for its result, for names in emitted code: "sum". */
  readonly noun: string;
  /** The literal that, as the right operand of integers, makes the result the left one. */
  readonly rightIdentity?: number;
  /** Whether it divides integers by its second operand, which 0 is an error for. */
  readonly divides?: boolean;
  /** A JavaScript expression over operand expressions. `type` is that of the first operand. */
  js(operands: readonly string[], type: ScalarType, result: ScalarType): string;
}

/** A function of mathematics.ts, whose operation has the same name. */
type MathName = keyof typeof math;

type Signature = OpRow["signature"];

const isNumeric = (type: ScalarType | undefined): boolean => isInteger(type) || isFloat(type);
const isWord = (type: ScalarType | undefined): boolean => type !== undefined && scalarTypes[type].word;

const sameOperands =
  (arity: number, accept: (type: ScalarType | undefined) => boolean, result?: ScalarType): Signature =>
  (operands) => {
    const first = operands[0];
    if (first === undefined || operands.length !== arity || !accept(first)) return null;
    return operands.every((type) => type === first) ? (result ?? first) : null;
  };

const f32Only = (type: ScalarType | undefined): boolean => type === "f32";
const numericOrIndex = (type: ScalarType | undefined): boolean => isNumeric(type) || type === "index";
const bitwise = (type: ScalarType | undefined): boolean => isInteger(type) || type === "bool";

/** Wraps a JavaScript expression into the range of a type. */
const wrap = (expression: string, type: ScalarType): string => scalarTypes[type].wrap(expression);

const infix =
  (operator: string): OpRow["js"] =>
  ([a, b], type) =>
    wrap(`${a}${operator}${b}`, type);

const compare = (operator: string, accept = isNumeric): OpRow => ({
  noun: "condition",
  signature: sameOperands(2, accept, "bool"),
  flops: 0,
  unit: "arithmetic",
  js: ([a, b]) => `(${a}${operator}${b}?1:0)`,
});

const f32Function = (name: MathName, noun: string): OpRow => ({
  approximate: true,
  noun,
  signature: sameOperands(1, f32Only),
  flops: 1,
  unit: "special",
  js: ([a]) => `m.${name}(${a})`,
});

/** A function of all floating-point types whose result in f32 is exact or rounds rightly to the shorter ones. */
const floatFunction = (name: MathName, noun: string, unit: OpRow["unit"], double = `m.${name}`): OpRow => ({
  noun,
  signature: sameOperands(1, isFloat),
  flops: 1,
  unit,
  js: ([a], type) => (isHalf(type) ? wrap(`${double}(${a})`, type) : `m.${name}(${a})`),
});

const integerDivision = (noun: string, js: OpRow["js"]): OpRow => ({
  noun,
  signature: sameOperands(2, isInteger),
  flops: 0,
  unit: "arithmetic",
  divides: true,
  js,
});

const shift = (js: OpRow["js"]): OpRow => ({
  noun: "shifted",
  signature: ([value, amount, ...rest]) =>
    rest.length === 0 && isInteger(value) && amount === "u32" ? (value as ScalarType) : null,
  flops: 0,
  unit: "arithmetic",
  js,
});

const convertTo = (target: WordType | "bool" | "index"): OpRow => ({
  noun: "converted",
  signature: ([source, ...rest]) => {
    if (rest.length > 0 || source === undefined || source === "index") return null;
    if (target === "index") return isInteger(source) ? "index" : null;
    return isHalf(source) && target !== "f32" ? null : target;
  },
  flops: 0,
  unit: "arithmetic",
  js: ([a], source) => {
    if (target === "index") return `(${a})`;
    if (target === "bool") return `(${a}!==0?1:0)`;
    if (source === "f32" && target !== "f32") return `m.f32To${scalarTypes[target].suffix}(${a})`;
    return wrap(a as string, target);
  },
});

/** From one floating-point type to a shorter one. */
const roundTo = (target: HalfType): OpRow => ({
  noun: "converted",
  signature: sameOperands(1, isFloat, target),
  flops: 0,
  unit: "arithmetic",
  js: ([a], source) => (source === target ? `(${a})` : wrap(a as string, target)),
});

const bitcastTo = (target: WordType): OpRow => ({
  noun: "bits",
  signature: ([source, ...rest]) => (rest.length === 0 && isWord(source) ? target : null),
  flops: 0,
  unit: "arithmetic",
  js: ([a], source) => {
    if (source === target) return `(${a})`;
    if (target === "f32") return `m.bitsToF32(${a})`;
    if (source === "f32") return wrap(`m.f32ToBits(${a})`, target);
    return wrap(a as string, target);
  },
});

const arithmetic = (operator: string, noun: string, rightIdentity: number): OpRow => ({
  noun,
  rightIdentity,
  signature: sameOperands(2, numericOrIndex),
  flops: 1,
  unit: "arithmetic",
  js: infix(operator),
});

const define = <K extends string>(rows: Record<K, OpRow>): Readonly<Record<K, OpRow>> => Object.freeze(rows);

/** The pure operations, one row each: types, cost, and how a number is computed. */
export const ops = define({
  add: arithmetic("+", "sum", 0),
  sub: arithmetic("-", "difference", 0),
  mul: {
    ...arithmetic("*", "product", 1),
    js: ([a, b], type) => (isInteger(type) ? wrap(`Math.imul(${a},${b})`, type) : wrap(`${a}*${b}`, type)),
  },
  /** Division of floating-point numbers; there is no `div` of integers. */
  div: { noun: "quotient", signature: sameOperands(2, isFloat), flops: 1, unit: "special", js: infix("/") },
  /** Truncates towards zero; a divisor of 0 gives the dividend, as WGSL has it. */
  divTrunc: {
    ...integerDivision("quotient", ([a, b], type) => wrap(`${b}===0?${a}:${a}/${b}`, type)),
    rightIdentity: 1,
  },
  /** Rounds towards minus infinity; a divisor of 0 gives the dividend. */
  divFloor: {
    ...integerDivision("quotient", ([a, b], type) => wrap(`${b}===0?${a}:Math.floor(${a}/${b})`, type)),
    rightIdentity: 1,
  },
  /** The remainder with the dividend's sign; a divisor of 0 gives 0. */
  remTrunc: integerDivision("remainder", ([a, b], type) => wrap(`${b}===0?0:${a}%${b}`, type)),
  /** The remainder with the divisor's sign; a divisor of 0 gives 0. */
  modFloor: integerDivision("remainder", ([a, b], type) =>
    wrap(`${b}===0?0:${a}-Math.floor(${a}/${b})*${b}`, type),
  ),
  /** The smaller; where one operand is NaN, the other. */
  min: {
    noun: "smaller",
    signature: sameOperands(2, isNumeric),
    flops: 1,
    unit: "arithmetic",
    js: ([a, b], type) => (isFloat(type) ? `m.min(${a},${b})` : `(${a}<${b}?${a}:${b})`),
  },
  /** The larger; where one operand is NaN, the other. */
  max: {
    noun: "larger",
    signature: sameOperands(2, isNumeric),
    flops: 1,
    unit: "arithmetic",
    js: ([a, b], type) => (isFloat(type) ? `m.max(${a},${b})` : `(${a}>${b}?${a}:${b})`),
  },
  neg: {
    noun: "negated",
    signature: sameOperands(1, (type) => isFloat(type) || type === "i32"),
    flops: 0,
    unit: "arithmetic",
    js: ([a], type) => (isHalf(type) ? `(-${a})` : wrap(`-${a}`, type)),
  },
  abs: {
    noun: "magnitude",
    signature: sameOperands(1, (type) => isFloat(type) || type === "i32"),
    flops: 0,
    unit: "arithmetic",
    js: ([a], type) => (isHalf(type) ? `Math.abs(${a})` : wrap(`Math.abs(${a})`, type)),
  },
  /** a·b + c with one rounding. */
  fma: {
    noun: "fused",
    signature: sameOperands(3, isFloat),
    flops: 2,
    unit: "arithmetic",
    js: ([a, b, c], type) => `m.fma${isHalf(type) ? scalarTypes[type].suffix : ""}(${a},${b},${c})`,
  },
  /** `select(condition, ifTrue, ifFalse)`; both sides are evaluated. */
  select: {
    noun: "chosen",
    signature: ([condition, a, b, ...rest]) =>
      rest.length === 0 && condition === "bool" && a !== undefined && a === b ? a : null,
    flops: 0,
    unit: "arithmetic",
    js: ([condition, a, b]) => `(${condition}?${a}:${b})`,
  },
  sqrt: floatFunction("sqrt", "root", "special", "Math.sqrt"),
  rsqrt: f32Function("rsqrt", "inverseRoot"),
  exp: f32Function("exp", "power"),
  exp2: f32Function("exp2", "power"),
  exp2Flushed: f32Function("exp2Flushed", "power"),
  log: f32Function("log", "logarithm"),
  log2: f32Function("log2", "logarithm"),
  sin: f32Function("sin", "sine"),
  cos: f32Function("cos", "cosine"),
  tanh: f32Function("tanh", "tangent"),
  floor: floatFunction("floor", "rounded", "arithmetic"),
  ceil: floatFunction("ceil", "rounded", "arithmetic"),
  /** To the nearest integer, halves to even. */
  round: floatFunction("round", "rounded", "arithmetic"),
  trunc: floatFunction("trunc", "rounded", "arithmetic"),
  eq: compare("===", (type) => isNumeric(type) || type === "bool"),
  ne: compare("!==", (type) => isNumeric(type) || type === "bool"),
  lt: compare("<"),
  le: compare("<="),
  gt: compare(">"),
  ge: compare(">="),
  and: { noun: "value", signature: sameOperands(2, bitwise), flops: 0, unit: "arithmetic", js: infix("&") },
  or: {
    noun: "value",
    rightIdentity: 0,
    signature: sameOperands(2, bitwise),
    flops: 0,
    unit: "arithmetic",
    js: infix("|"),
  },
  xor: {
    noun: "value",
    rightIdentity: 0,
    signature: sameOperands(2, bitwise),
    flops: 0,
    unit: "arithmetic",
    js: infix("^"),
  },
  not: {
    noun: "value",
    signature: sameOperands(1, bitwise),
    flops: 0,
    unit: "arithmetic",
    js: ([a], type) => (type === "bool" ? `(1-${a})` : wrap(`~${a}`, type)),
  },
  /** Shifts by the amount (u32) modulo 32. */
  shl: shift(([a, b], type) => wrap(`${a}<<${b}`, type)),
  /** Shifts by the amount (u32) modulo 32: arithmetic for i32, logical for u32. */
  shr: shift(([a, b], type) => (type === "i32" ? `(${a}>>${b})` : `(${a}>>>${b})`)),
  /** The number of one bits. */
  popcount: {
    noun: "bitCount",
    signature: sameOperands(1, isInteger),
    flops: 0,
    unit: "arithmetic",
    js: ([a]) => `m.popcount(${a})`,
  },
  /** The number of leading zero bits, 32 for 0. */
  clz: {
    noun: "leadingZeros",
    signature: sameOperands(1, isInteger),
    flops: 0,
    unit: "arithmetic",
    js: ([a]) => `Math.clz32(${a})`,
  },
  /** Saturates; NaN becomes 0. */
  toI32: convertTo("i32"),
  /** Saturates; NaN becomes 0. */
  toU32: convertTo("u32"),
  toF32: convertTo("f32"),
  /** From f32 and bf16, rounded. */
  toF16: roundTo("f16"),
  /** From f32 and f16, rounded. */
  toBF16: roundTo("bf16"),
  toBool: convertTo("bool"),
  toIndex: convertTo("index"),
  /** Reinterprets the bits; every NaN becomes 0x7fc00000. */
  bitcastF32: bitcastTo("f32"),
  bitcastI32: bitcastTo("i32"),
  bitcastU32: bitcastTo("u32"),
});

/** The name of a pure operation. */
export type OpName = keyof typeof ops;
