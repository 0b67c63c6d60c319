/**
 * Pure operations: one row each, with everything about it that does not depend on a target. `js` is the meaning:
 * the simulator runs it, and every other device is tested against it.
 *
 * In `js`, f32, f16 and bf16 values are numbers that are exact in their type, i32 and u32 integers in their range, bool
 * is 0 or 1, and `m` is the portable mathematics of math.ts.
 */

import { isFloat, isHalf, isInteger, type ScalarType } from "./types.ts";

export interface OpRow {
  /** The type of the result, or null if the operands do not fit. */
  signature(operands: readonly ScalarType[]): ScalarType | null;
  /** Floating-point operations a lane. */
  readonly flops: number;
  /** Which pipe of a GPU does it: ordinary arithmetic, or the special-function unit. */
  readonly unit: "arithmetic" | "special";
  /** A JavaScript expression over operand expressions. `type` is that of the first operand. */
  js(operands: readonly string[], type: ScalarType, result: ScalarType): string;
}

type Signature = OpRow["signature"];

const isNumeric = (type: ScalarType | undefined): boolean => isInteger(type) || isFloat(type);
const isWord = (type: ScalarType | undefined): boolean => isInteger(type) || type === "f32";

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
function wrap(expression: string, type: ScalarType): string {
  switch (type) {
    case "f32":
      return `fround(${expression})`;
    case "f16":
      return `m.roundF16(${expression})`;
    case "bf16":
      return `m.roundBF16(${expression})`;
    case "i32":
      return `(${expression}|0)`;
    case "u32":
      return `((${expression})>>>0)`;
    case "bool":
    case "index":
      return `(${expression})`;
  }
}

const infix =
  (operator: string): OpRow["js"] =>
  ([a, b], type) =>
    wrap(`${a}${operator}${b}`, type);

const compare = (operator: string, accept = isNumeric): OpRow => ({
  signature: sameOperands(2, accept, "bool"),
  flops: 0,
  unit: "arithmetic",
  js: ([a, b]) => `(${a}${operator}${b}?1:0)`,
});

const f32Function = (name: string, unit: OpRow["unit"], flops = 1): OpRow => ({
  signature: sameOperands(1, f32Only),
  flops,
  unit,
  js: ([a]) => `m.${name}(${a})`,
});

/** A function of all floating-point types whose result in f32 is exact or rounds rightly to the shorter ones. */
const floatFunction = (name: string, unit: OpRow["unit"], double = `m.${name}`): OpRow => ({
  signature: sameOperands(1, isFloat),
  flops: 1,
  unit,
  js: ([a], type) => (isHalf(type) ? wrap(`${double}(${a})`, type) : `m.${name}(${a})`),
});

const integerPair = (js: OpRow["js"]): OpRow => ({
  signature: sameOperands(2, isInteger),
  flops: 0,
  unit: "arithmetic",
  js,
});

const shift = (js: OpRow["js"]): OpRow => ({
  signature: ([value, amount, ...rest]) =>
    rest.length === 0 && isInteger(value) && amount === "u32" ? (value as ScalarType) : null,
  flops: 0,
  unit: "arithmetic",
  js,
});

const convertTo = (target: "f32" | "i32" | "u32" | "bool" | "index"): OpRow => ({
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
    if (source === "f32" && target !== "f32") return `m.f32To${target === "i32" ? "I32" : "U32"}(${a})`;
    return wrap(a as string, target);
  },
});

/** From one floating-point type to a shorter one. */
const roundTo = (target: "f16" | "bf16"): OpRow => ({
  signature: sameOperands(1, isFloat, target),
  flops: 0,
  unit: "arithmetic",
  js: ([a], source) => (source === target ? `(${a})` : wrap(a as string, target)),
});

const bitcastTo = (target: "f32" | "i32" | "u32"): OpRow => ({
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

const arithmetic = (operator: string): OpRow => ({
  signature: sameOperands(2, numericOrIndex),
  flops: 1,
  unit: "arithmetic",
  js: infix(operator),
});

const define = <T extends Record<string, OpRow>>(rows: T): T => rows;

export const ops = define({
  add: arithmetic("+"),
  sub: arithmetic("-"),
  mul: {
    ...arithmetic("*"),
    js: ([a, b], type) => (isInteger(type) ? wrap(`Math.imul(${a},${b})`, type) : wrap(`${a}*${b}`, type)),
  },
  /** Division of floating-point numbers; there is no `div` of integers. */
  div: { signature: sameOperands(2, isFloat), flops: 1, unit: "special", js: infix("/") },
  /** Truncates towards zero; a divisor of 0 gives the dividend, as WGSL has it. */
  divTrunc: integerPair(([a, b], type) => wrap(`${b}===0?${a}:${a}/${b}`, type)),
  /** Rounds towards minus infinity; a divisor of 0 gives the dividend. */
  divFloor: integerPair(([a, b], type) => wrap(`${b}===0?${a}:Math.floor(${a}/${b})`, type)),
  /** The remainder with the dividend's sign; a divisor of 0 gives 0. */
  remTrunc: integerPair(([a, b], type) => wrap(`${b}===0?0:${a}%${b}`, type)),
  /** The remainder with the divisor's sign; a divisor of 0 gives 0. */
  modFloor: integerPair(([a, b], type) => wrap(`${b}===0?0:${a}-Math.floor(${a}/${b})*${b}`, type)),
  /** The smaller; where one operand is NaN, the other. */
  min: {
    signature: sameOperands(2, isNumeric),
    flops: 1,
    unit: "arithmetic",
    js: ([a, b], type) => (isFloat(type) ? `m.min(${a},${b})` : `(${a}<${b}?${a}:${b})`),
  },
  /** The larger; where one operand is NaN, the other. */
  max: {
    signature: sameOperands(2, isNumeric),
    flops: 1,
    unit: "arithmetic",
    js: ([a, b], type) => (isFloat(type) ? `m.max(${a},${b})` : `(${a}>${b}?${a}:${b})`),
  },
  neg: {
    signature: sameOperands(1, (type) => isFloat(type) || type === "i32"),
    flops: 1,
    unit: "arithmetic",
    js: ([a], type) => (isHalf(type) ? `(-${a})` : wrap(`-${a}`, type)),
  },
  abs: {
    signature: sameOperands(1, (type) => isFloat(type) || type === "i32"),
    flops: 1,
    unit: "arithmetic",
    js: ([a], type) => (isHalf(type) ? `Math.abs(${a})` : wrap(`Math.abs(${a})`, type)),
  },
  /** a·b + c with one rounding. */
  fma: {
    signature: sameOperands(3, isFloat),
    flops: 2,
    unit: "arithmetic",
    js: ([a, b, c], type) => `m.fma${isHalf(type) ? type.toUpperCase() : ""}(${a},${b},${c})`,
  },
  /** `select(condition, ifTrue, ifFalse)`; both sides are evaluated. */
  select: {
    signature: ([condition, a, b, ...rest]) =>
      rest.length === 0 && condition === "bool" && a !== undefined && a === b ? a : null,
    flops: 0,
    unit: "arithmetic",
    js: ([condition, a, b]) => `(${condition}?${a}:${b})`,
  },
  sqrt: floatFunction("sqrt", "special", "Math.sqrt"),
  rsqrt: f32Function("rsqrt", "special"),
  exp: f32Function("exp", "special"),
  exp2: f32Function("exp2", "special"),
  exp2Flushed: f32Function("exp2Flushed", "special"),
  log: f32Function("log", "special"),
  log2: f32Function("log2", "special"),
  sin: f32Function("sin", "special"),
  cos: f32Function("cos", "special"),
  tanh: f32Function("tanh", "special"),
  floor: floatFunction("floor", "arithmetic"),
  ceil: floatFunction("ceil", "arithmetic"),
  /** To the nearest integer, halves to even. */
  round: floatFunction("round", "arithmetic"),
  trunc: floatFunction("trunc", "arithmetic"),
  eq: compare("===", (type) => isNumeric(type) || type === "bool"),
  ne: compare("!==", (type) => isNumeric(type) || type === "bool"),
  lt: compare("<"),
  le: compare("<="),
  gt: compare(">"),
  ge: compare(">="),
  and: { signature: sameOperands(2, bitwise), flops: 0, unit: "arithmetic", js: infix("&") },
  or: { signature: sameOperands(2, bitwise), flops: 0, unit: "arithmetic", js: infix("|") },
  xor: { signature: sameOperands(2, bitwise), flops: 0, unit: "arithmetic", js: infix("^") },
  not: {
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
    signature: sameOperands(1, isInteger),
    flops: 0,
    unit: "arithmetic",
    js: ([a]) => `m.popcount(${a})`,
  },
  /** The number of leading zero bits, 32 for 0. */
  clz: {
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

export type OpName = keyof typeof ops;
