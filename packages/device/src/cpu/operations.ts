/**
 * WebAssembly for the pure operations of ops.ts: on four lanes at once, and on the one scalar of a value that is the
 * same for all lanes. f16 and bf16 are f32 that are rounded after each operation: the exact result of one that is not
 * an fma never lies so close to a tie that rounding to f32 first would show. A bool is a mask of all ones or zeros in lanes, 1 or 0 as a scalar; `index` is 32 bits.
 */

import { isHalf, type OpName, type ScalarType } from "@evolver/kernel";
import type { FunctionBuilder } from "./encoder.ts";
import type { Helpers, ImportedMath, IntegerDivision } from "./helpers.ts";
import { OP } from "./opcodes.ts";

/** How the operands of an operation get onto the stack; each may be pushed more than once. */
export interface Operands {
  /** Pushes four lanes of the operand. */
  lanes(i: number): void;
  /** Pushes the operand's scalar; only where `isScalar`. */
  scalar(i: number): void;
  isScalar(i: number): boolean;
  /** The operand's value where it is known at build time. */
  constant(i: number): number | undefined;
}

type Kind = "f32" | "i32" | "u32" | "bool";

const kindOf = (type: ScalarType): Kind => (type === "index" ? "u32" : isHalf(type) ? "f32" : type);

/** Operations whose result in f32 need not be exact in a shorter type of the operands. */
const ROUNDED: ReadonlySet<OpName> = new Set(["add", "sub", "mul", "div", "sqrt"]);

type Table = Partial<Record<OpName, Partial<Record<Kind, number>>>>;

const integers = (code: number): Partial<Record<Kind, number>> => ({ i32: code, u32: code });

/** Operations that are one vector instruction on all operands in order, by the first operand's type. */
const LANE_CODES: Table = {
  add: { f32: OP.f32x4Add, ...integers(OP.i32x4Add) },
  sub: { f32: OP.f32x4Sub, ...integers(OP.i32x4Sub) },
  mul: { f32: OP.f32x4Mul, ...integers(OP.i32x4Mul) },
  div: { f32: OP.f32x4Div },
  min: { i32: OP.i32x4MinS, u32: OP.i32x4MinU },
  max: { i32: OP.i32x4MaxS, u32: OP.i32x4MaxU },
  neg: { f32: OP.f32x4Neg, i32: OP.i32x4Neg },
  abs: { f32: OP.f32x4Abs, i32: OP.i32x4Abs },
  sqrt: { f32: OP.f32x4Sqrt },
  floor: { f32: OP.f32x4Floor },
  ceil: { f32: OP.f32x4Ceil },
  round: { f32: OP.f32x4Nearest },
  trunc: { f32: OP.f32x4Trunc },
  eq: { f32: OP.f32x4Eq, ...integers(OP.i32x4Eq), bool: OP.i32x4Eq },
  ne: { f32: OP.f32x4Ne, ...integers(OP.i32x4Ne), bool: OP.i32x4Ne },
  lt: { f32: OP.f32x4Lt, i32: OP.i32x4LtS, u32: OP.i32x4LtU },
  le: { f32: OP.f32x4Le, i32: OP.i32x4LeS, u32: OP.i32x4LeU },
  gt: { f32: OP.f32x4Gt, i32: OP.i32x4GtS, u32: OP.i32x4GtU },
  ge: { f32: OP.f32x4Ge, i32: OP.i32x4GeS, u32: OP.i32x4GeU },
  and: { ...integers(OP.v128And), bool: OP.v128And },
  or: { ...integers(OP.v128Or), bool: OP.v128Or },
  xor: { ...integers(OP.v128Xor), bool: OP.v128Xor },
  not: { ...integers(OP.v128Not), bool: OP.v128Not },
};

/** The same for scalars. What is missing here and below goes through lanes. */
const SCALAR_CODES: Table = {
  add: { f32: OP.f32Add, ...integers(OP.i32Add) },
  sub: { f32: OP.f32Sub, ...integers(OP.i32Sub) },
  mul: { f32: OP.f32Mul, ...integers(OP.i32Mul) },
  div: { f32: OP.f32Div },
  neg: { f32: OP.f32Neg },
  abs: { f32: OP.f32Abs },
  sqrt: { f32: OP.f32Sqrt },
  floor: { f32: OP.f32Floor },
  ceil: { f32: OP.f32Ceil },
  round: { f32: OP.f32Nearest },
  trunc: { f32: OP.f32Trunc },
  eq: { f32: OP.f32Eq, ...integers(OP.i32Eq), bool: OP.i32Eq },
  ne: { f32: OP.f32Ne, ...integers(OP.i32Ne), bool: OP.i32Ne },
  lt: { f32: OP.f32Lt, i32: OP.i32LtS, u32: OP.i32LtU },
  le: { f32: OP.f32Le, i32: OP.i32LeS, u32: OP.i32LeU },
  gt: { f32: OP.f32Gt, i32: OP.i32GtS, u32: OP.i32GtU },
  ge: { f32: OP.f32Ge, i32: OP.i32GeS, u32: OP.i32GeU },
  and: { ...integers(OP.i32And), bool: OP.i32And },
  or: { ...integers(OP.i32Or), bool: OP.i32Or },
  xor: { ...integers(OP.i32Xor), bool: OP.i32Xor },
  not: { bool: OP.i32Eqz },
  shl: integers(OP.i32Shl),
  shr: { i32: OP.i32ShrS, u32: OP.i32ShrU },
  popcount: integers(OP.i32Popcnt),
  clz: integers(OP.i32Clz),
};

const CANONICAL_NAN = 0x7fc00000;

/** Pushes four lanes of the result. */
export function emitLanes(
  f: FunctionBuilder,
  helpers: Helpers,
  op: OpName,
  types: readonly ScalarType[],
  operands: Operands,
): void {
  const given = types[0] as ScalarType;
  const type = kindOf(given);
  const code = LANE_CODES[op]?.[type];
  if (code !== undefined) {
    for (let i = 0; i < types.length; i++) operands.lanes(i);
    f.op(code);
    if (isHalf(given) && ROUNDED.has(op)) f.call(helpers.roundTo(given));
    return;
  }
  switch (op) {
    case "min":
    case "max":
      return floatExtreme(f, helpers, op, operands);
    case "fma":
      for (let i = 0; i < 3; i++) operands.lanes(i);
      return isHalf(given) ? void f.call(helpers.fmaHalf(given)) : helpers.fma(f);
    case "select":
      operands.lanes(1);
      operands.lanes(2);
      operands.lanes(0);
      return helpers.select(f);
    case "exp":
    case "exp2":
    case "exp2Flushed":
      operands.lanes(0);
      f.call(helpers.exponential(op === "exp" ? "exp" : "exp2"));
      return;
    case "rsqrt":
      operands.lanes(0);
      f.call(helpers.rsqrt());
      return;
    case "log":
    case "log2":
    case "sin":
    case "cos":
    case "tanh":
      operands.lanes(0);
      f.call(helpers.imported(op satisfies ImportedMath));
      return;
    case "divTrunc":
    case "divFloor":
    case "remTrunc":
    case "modFloor":
      return integerDivision(f, helpers, op, type === "i32", operands);
    case "shl":
    case "shr":
      return shift(f, helpers, op, type, operands);
    case "toF16":
    case "toBF16": {
      const target = op === "toF16" ? "f16" : "bf16";
      operands.lanes(0);
      if (given !== target) f.call(helpers.roundTo(target));
      return;
    }
    case "popcount":
      operands.lanes(0);
      f.op(OP.i8x16Popcnt).op(OP.i16x8ExtaddPairwiseU).op(OP.i32x4ExtaddPairwiseU);
      return;
    case "clz":
      operands.lanes(0);
      operands.lanes(0);
      f.call(helpers.lanewise("clz", (g) => g.op(OP.drop).op(OP.i32Clz)));
      return;
    default:
      operands.lanes(0);
      return convertLanes(f, helpers, op, type, operands);
  }
}

/** The smaller or larger of two f32; where one is NaN, the other. */
function floatExtreme(f: FunctionBuilder, helpers: Helpers, op: "min" | "max", operands: Operands): void {
  const code = op === "min" ? OP.f32x4Pmin : OP.f32x4Pmax;
  const second = operands.constant(1);
  const mayBeNaN = second === undefined || Number.isNaN(second);
  if (mayBeNaN) operands.lanes(0);
  operands.lanes(1);
  operands.lanes(0);
  f.op(code);
  if (!mayBeNaN) return;
  operands.lanes(1);
  operands.lanes(1);
  f.op(OP.f32x4Ne);
  helpers.select(f);
}

function integerDivision(
  f: FunctionBuilder,
  helpers: Helpers,
  op: IntegerDivision,
  signed: boolean,
  operands: Operands,
): void {
  const divisor = operands.constant(1);
  const quotient = op === "divTrunc" || op === "divFloor";
  const floors = !signed || op === "divFloor" || op === "modFloor";
  if (divisor !== undefined && divisor > 0 && (divisor & (divisor - 1)) === 0 && floors) {
    operands.lanes(0);
    if (quotient) f.i32(31 - Math.clz32(divisor)).op(signed ? OP.i32x4ShrS : OP.i32x4ShrU);
    else f.i32x4(Array<number>(4).fill(divisor - 1)).op(OP.v128And);
    return;
  }
  operands.lanes(0);
  operands.lanes(1);
  const scalar = helpers.division(op, signed);
  f.call(helpers.lanewise(`${op}:${signed}`, (g) => g.call(scalar)));
}

function shift(
  f: FunctionBuilder,
  helpers: Helpers,
  op: "shl" | "shr",
  type: Kind,
  operands: Operands,
): void {
  const [vector, scalar] =
    op === "shl"
      ? [OP.i32x4Shl, OP.i32Shl]
      : type === "i32"
        ? [OP.i32x4ShrS, OP.i32ShrS]
        : [OP.i32x4ShrU, OP.i32ShrU];
  operands.lanes(0);
  if (operands.isScalar(1)) {
    operands.scalar(1);
    f.op(vector);
    return;
  }
  operands.lanes(1);
  f.call(helpers.lanewise(`${op}:${type}`, (g) => g.op(scalar)));
}

/** Conversions of the four lanes on the stack. */
function convertLanes(
  f: FunctionBuilder,
  helpers: Helpers,
  op: OpName,
  from: Kind,
  operands: Operands,
): void {
  switch (op) {
    case "toF32":
      if (from === "i32") f.op(OP.f32x4ConvertI32x4S);
      else if (from === "u32") f.op(OP.f32x4ConvertI32x4U);
      else if (from === "bool") f.f32x4(1).op(OP.v128And);
      return;
    case "toI32":
    case "toU32":
      if (from === "f32") f.op(op === "toI32" ? OP.i32x4TruncSatF32x4S : OP.i32x4TruncSatF32x4U);
      else if (from === "bool") f.op(OP.i32x4Neg);
      return;
    case "toBool":
      if (from === "f32") f.f32x4(0).op(OP.f32x4Ne);
      else if (from !== "bool") f.i32x4([0, 0, 0, 0]).op(OP.i32x4Ne);
      return;
    case "bitcastI32":
    case "bitcastU32":
      if (from !== "f32") return;
      f.i32x4(Array<number>(4).fill(CANONICAL_NAN));
      operands.lanes(0);
      operands.lanes(0);
      f.op(OP.f32x4Eq);
      helpers.select(f);
      return;
    default:
      // toIndex and bitcasts to the same bits change nothing.
      return;
  }
}

/** Pushes the result for operands that are all scalars (or the scalars of affine values). */
export function emitScalar(
  f: FunctionBuilder,
  helpers: Helpers,
  op: OpName,
  types: readonly ScalarType[],
  operands: Operands,
): void {
  const given = types[0] as ScalarType;
  const type = kindOf(given);
  const code = isHalf(given) && ROUNDED.has(op) ? undefined : SCALAR_CODES[op]?.[type];
  if (code !== undefined) {
    for (let i = 0; i < types.length; i++) operands.scalar(i);
    f.op(code);
    return;
  }
  switch (op) {
    case "neg":
      f.i32(0);
      operands.scalar(0);
      f.op(OP.i32Sub);
      return;
    case "not":
      operands.scalar(0);
      f.i32(-1).op(OP.i32Xor);
      return;
    case "select":
      operands.scalar(1);
      operands.scalar(2);
      operands.scalar(0);
      f.op(OP.select);
      return;
    case "divTrunc":
    case "divFloor":
    case "remTrunc":
    case "modFloor": {
      const divisor = operands.constant(1);
      operands.scalar(0);
      operands.scalar(1);
      if (type === "u32" && divisor !== undefined && divisor !== 0)
        f.op(op === "divTrunc" || op === "divFloor" ? OP.i32DivU : OP.i32RemU);
      else f.call(helpers.division(op, type === "i32"));
      return;
    }
    case "toF32":
      operands.scalar(0);
      if (type === "i32") f.op(OP.f32ConvertI32S);
      else if (type !== "f32") f.op(OP.f32ConvertI32U);
      return;
    case "toI32":
    case "toU32":
      operands.scalar(0);
      if (type === "f32") f.op(op === "toI32" ? OP.i32TruncSatF32S : OP.i32TruncSatF32U);
      return;
    case "toBool":
      operands.scalar(0);
      if (type === "f32") f.f32(0).op(OP.f32Ne);
      else f.i32(0).op(OP.i32Ne);
      return;
    case "toIndex":
      operands.scalar(0);
      return;
    case "bitcastF32":
      operands.scalar(0);
      if (type !== "f32") f.op(OP.f32ReinterpretI32);
      return;
    case "bitcastI32":
    case "bitcastU32":
      operands.scalar(0);
      if (type !== "f32") return;
      f.op(OP.i32ReinterpretF32).i32(CANONICAL_NAN);
      operands.scalar(0);
      operands.scalar(0);
      f.op(OP.f32Eq).op(OP.select);
      return;
    default:
      return throughLanes(f, helpers, op, types, operands);
  }
}

/** A scalar operation done on lanes that are all alike. The result is f32, i32 or u32. */
function throughLanes(
  f: FunctionBuilder,
  helpers: Helpers,
  op: OpName,
  types: readonly ScalarType[],
  operands: Operands,
): void {
  emitLanes(f, helpers, op, types, {
    ...operands,
    isScalar: () => false,
    lanes: (i) => {
      operands.scalar(i);
      splat(f, types[i] as ScalarType);
    },
  });
  f.lane(kindOf(types[0] as ScalarType) === "f32" ? OP.f32x4ExtractLane : OP.i32x4ExtractLane, 0);
}

/** Turns the scalar on the stack into four lanes. */
export function splat(f: FunctionBuilder, type: ScalarType): void {
  if (kindOf(type) === "f32") {
    f.op(OP.f32x4Splat);
    return;
  }
  if (type === "bool") {
    const value = f.local("i32");
    f.set(value).i32(0).get(value).op(OP.i32Sub);
    f.release(value);
  }
  f.op(OP.i32x4Splat);
}
