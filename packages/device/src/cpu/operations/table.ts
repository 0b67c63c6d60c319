/**
 * The pure operations of the kernel package's ops.ts on the cpu device: one row each, with a cell for every way in which
 * the first operand can be held. A new operation is a new row here; the compiler asks for it, and for each cell.
 */

import type { HalfType, OpName } from "@evolver/kernel";
import { OP } from "../wasm/opcodes.ts";
import {
  bitsOfLanes,
  bitsOfScalar,
  callOf,
  dividedLanes,
  dividedScalar,
  extremumOfFloats,
  flippedScalar,
  fmaOfFloats,
  fmaOfHalves,
  lanesThen,
  leadingZerosInLanes,
  negatedScalar,
  onesInLanes,
  roundedTo,
  sameLanes,
  sameScalar,
  scalarThen,
  selectLanes,
  selectScalar,
  shiftedLanes,
} from "./code.ts";
import type { IntegerDivision } from "./integer-division.ts";
import { exponential, importedMath, rsqrt } from "./mathematics.ts";
import {
  BY_LANES,
  NONE,
  type LaneCell,
  type Operation,
  type OperationCode,
  type ScalarCell,
} from "./operation.ts";
import {
  bitMask,
  comparison,
  conversionToInteger,
  extremum,
  floored,
  negation,
  pointwise,
  product,
  sameBits,
  selection,
  shiftLeft,
  shiftRight,
  sum,
  truncated,
  type PatternRule,
} from "./patterns.ts";

/** The cells of a row, by how the first operand is held; `index` is held as u32. */
const lanes = (f32: LaneCell, i32: LaneCell, u32: LaneCell, bool: LaneCell): Operation["lanes"] => ({
  f32,
  i32,
  u32,
  bool,
});
const scalar = (
  f32: ScalarCell,
  i32: ScalarCell,
  u32: ScalarCell,
  bool: ScalarCell,
): Operation["scalar"] => ({
  f32,
  i32,
  u32,
  bool,
});

/** A function of f32 alone, which there is for vectors only. */
const f32Function = (code: OperationCode): Operation => ({
  lanes: lanes(code, NONE, NONE, NONE),
  scalar: scalar(BY_LANES, NONE, NONE, NONE),
  half: NONE,
  pattern: pointwise,
});

/** One instruction on floating-point numbers. */
const onFloats = (ofLanes: number, ofScalar: number, half: Operation["half"]): Operation => ({
  lanes: lanes(ofLanes, NONE, NONE, NONE),
  scalar: scalar(ofScalar, NONE, NONE, NONE),
  half,
  pattern: pointwise,
});

/** One instruction on integers and bools, the same whatever their sign. */
const onBits = (ofLanes: number, ofScalar: number, pattern: PatternRule): Operation => ({
  lanes: lanes(NONE, ofLanes, ofLanes, ofLanes),
  scalar: scalar(NONE, ofScalar, ofScalar, ofScalar),
  half: NONE,
  pattern,
});

const integerDivision = (op: IntegerDivision, pattern: PatternRule): Operation => ({
  lanes: lanes(NONE, dividedLanes(op, true), dividedLanes(op, false), NONE),
  scalar: scalar(NONE, dividedScalar(op, true), dividedScalar(op, false), NONE),
  half: NONE,
  pattern,
});

const toInteger = (ofLanes: number, ofScalar: number): Operation => ({
  lanes: lanes(
    lanesThen((f) => f.op(ofLanes)),
    sameLanes,
    sameLanes,
    lanesThen((f) => f.op(OP.i32x4Neg)),
  ),
  scalar: scalar(
    scalarThen((f) => f.op(ofScalar)),
    sameScalar,
    sameScalar,
    sameScalar,
  ),
  half: NONE,
  pattern: conversionToInteger,
});

const toHalf = (target: HalfType): Operation => ({
  ...f32Function(roundedTo(target)),
  half: roundedTo(target),
});

const bitsAsInteger: Operation = {
  lanes: lanes(bitsOfLanes, sameLanes, sameLanes, NONE),
  scalar: scalar(bitsOfScalar, sameScalar, sameScalar, NONE),
  half: NONE,
  pattern: sameBits,
};

const integerIsNotZero = lanesThen((f) => f.i32x4([0, 0, 0, 0]).op(OP.i32x4Ne));
const scalarIsNotZero = scalarThen((f) => f.i32(0).op(OP.i32Ne));

export const operations: Readonly<Record<OpName, Operation>> = Object.freeze({
  add: {
    lanes: lanes(OP.f32x4Add, OP.i32x4Add, OP.i32x4Add, NONE),
    scalar: scalar(OP.f32Add, OP.i32Add, OP.i32Add, NONE),
    half: "rounded",
    pattern: sum(1),
  },
  sub: {
    lanes: lanes(OP.f32x4Sub, OP.i32x4Sub, OP.i32x4Sub, NONE),
    scalar: scalar(OP.f32Sub, OP.i32Sub, OP.i32Sub, NONE),
    half: "rounded",
    pattern: sum(-1),
  },
  mul: {
    lanes: lanes(OP.f32x4Mul, OP.i32x4Mul, OP.i32x4Mul, NONE),
    scalar: scalar(OP.f32Mul, OP.i32Mul, OP.i32Mul, NONE),
    half: "rounded",
    pattern: product,
  },
  div: onFloats(OP.f32x4Div, OP.f32Div, "rounded"),
  divTrunc: integerDivision("divTrunc", truncated("quotient")),
  divFloor: integerDivision("divFloor", floored("quotient")),
  remTrunc: integerDivision("remTrunc", truncated("remainder")),
  modFloor: integerDivision("modFloor", floored("remainder")),
  min: {
    lanes: lanes(extremumOfFloats(OP.f32x4Pmin), OP.i32x4MinS, OP.i32x4MinU, NONE),
    scalar: scalar(BY_LANES, BY_LANES, BY_LANES, NONE),
    half: "exact",
    pattern: extremum,
  },
  max: {
    lanes: lanes(extremumOfFloats(OP.f32x4Pmax), OP.i32x4MaxS, OP.i32x4MaxU, NONE),
    scalar: scalar(BY_LANES, BY_LANES, BY_LANES, NONE),
    half: "exact",
    pattern: extremum,
  },
  neg: {
    lanes: lanes(OP.f32x4Neg, OP.i32x4Neg, NONE, NONE),
    scalar: scalar(OP.f32Neg, negatedScalar, NONE, NONE),
    half: "exact",
    pattern: negation,
  },
  abs: {
    lanes: lanes(OP.f32x4Abs, OP.i32x4Abs, NONE, NONE),
    scalar: scalar(OP.f32Abs, BY_LANES, NONE, NONE),
    half: "exact",
    pattern: pointwise,
  },
  fma: { ...f32Function(fmaOfFloats), half: fmaOfHalves },
  select: {
    lanes: lanes(NONE, NONE, NONE, selectLanes),
    scalar: scalar(NONE, NONE, NONE, selectScalar),
    half: NONE,
    pattern: selection,
  },
  sqrt: onFloats(OP.f32x4Sqrt, OP.f32Sqrt, "rounded"),
  rsqrt: f32Function(callOf(rsqrt)),
  exp: f32Function(callOf((helpers) => exponential(helpers, "exp"))),
  exp2: f32Function(callOf((helpers) => exponential(helpers, "exp2"))),
  exp2Flushed: f32Function(callOf((helpers) => exponential(helpers, "exp2"))),
  log: f32Function(callOf((helpers) => importedMath(helpers, "log"))),
  log2: f32Function(callOf((helpers) => importedMath(helpers, "log2"))),
  sin: f32Function(callOf((helpers) => importedMath(helpers, "sin"))),
  cos: f32Function(callOf((helpers) => importedMath(helpers, "cos"))),
  tanh: f32Function(callOf((helpers) => importedMath(helpers, "tanh"))),
  floor: onFloats(OP.f32x4Floor, OP.f32Floor, "exact"),
  ceil: onFloats(OP.f32x4Ceil, OP.f32Ceil, "exact"),
  round: onFloats(OP.f32x4Nearest, OP.f32Nearest, "exact"),
  trunc: onFloats(OP.f32x4Trunc, OP.f32Trunc, "exact"),
  eq: {
    lanes: lanes(OP.f32x4Eq, OP.i32x4Eq, OP.i32x4Eq, OP.i32x4Eq),
    scalar: scalar(OP.f32Eq, OP.i32Eq, OP.i32Eq, OP.i32Eq),
    half: "exact",
    pattern: pointwise,
  },
  ne: {
    lanes: lanes(OP.f32x4Ne, OP.i32x4Ne, OP.i32x4Ne, OP.i32x4Ne),
    scalar: scalar(OP.f32Ne, OP.i32Ne, OP.i32Ne, OP.i32Ne),
    half: "exact",
    pattern: pointwise,
  },
  lt: {
    lanes: lanes(OP.f32x4Lt, OP.i32x4LtS, OP.i32x4LtU, NONE),
    scalar: scalar(OP.f32Lt, OP.i32LtS, OP.i32LtU, NONE),
    half: "exact",
    pattern: comparison("less"),
  },
  le: {
    lanes: lanes(OP.f32x4Le, OP.i32x4LeS, OP.i32x4LeU, NONE),
    scalar: scalar(OP.f32Le, OP.i32LeS, OP.i32LeU, NONE),
    half: "exact",
    pattern: comparison("greater"),
  },
  gt: {
    lanes: lanes(OP.f32x4Gt, OP.i32x4GtS, OP.i32x4GtU, NONE),
    scalar: scalar(OP.f32Gt, OP.i32GtS, OP.i32GtU, NONE),
    half: "exact",
    pattern: comparison("greater"),
  },
  ge: {
    lanes: lanes(OP.f32x4Ge, OP.i32x4GeS, OP.i32x4GeU, NONE),
    scalar: scalar(OP.f32Ge, OP.i32GeS, OP.i32GeU, NONE),
    half: "exact",
    pattern: comparison("less"),
  },
  and: onBits(OP.v128And, OP.i32And, bitMask),
  or: onBits(OP.v128Or, OP.i32Or, pointwise),
  xor: onBits(OP.v128Xor, OP.i32Xor, pointwise),
  not: {
    lanes: lanes(NONE, OP.v128Not, OP.v128Not, OP.v128Not),
    scalar: scalar(NONE, flippedScalar, flippedScalar, OP.i32Eqz),
    half: NONE,
    pattern: pointwise,
  },
  shl: {
    lanes: lanes(
      NONE,
      shiftedLanes("shl:i32", OP.i32x4Shl, OP.i32Shl),
      shiftedLanes("shl:u32", OP.i32x4Shl, OP.i32Shl),
      NONE,
    ),
    scalar: scalar(NONE, OP.i32Shl, OP.i32Shl, NONE),
    half: NONE,
    scalarOperand: 1,
    pattern: shiftLeft,
  },
  shr: {
    lanes: lanes(
      NONE,
      shiftedLanes("shr:i32", OP.i32x4ShrS, OP.i32ShrS),
      shiftedLanes("shr:u32", OP.i32x4ShrU, OP.i32ShrU),
      NONE,
    ),
    scalar: scalar(NONE, OP.i32ShrS, OP.i32ShrU, NONE),
    half: NONE,
    scalarOperand: 1,
    pattern: shiftRight,
  },
  popcount: {
    lanes: lanes(NONE, onesInLanes, onesInLanes, NONE),
    scalar: scalar(NONE, OP.i32Popcnt, OP.i32Popcnt, NONE),
    half: NONE,
    pattern: pointwise,
  },
  clz: {
    lanes: lanes(NONE, leadingZerosInLanes, leadingZerosInLanes, NONE),
    scalar: scalar(NONE, OP.i32Clz, OP.i32Clz, NONE),
    half: NONE,
    pattern: pointwise,
  },
  toI32: toInteger(OP.i32x4TruncSatF32x4S, OP.i32TruncSatF32S),
  toU32: toInteger(OP.i32x4TruncSatF32x4U, OP.i32TruncSatF32U),
  toF32: {
    lanes: lanes(
      sameLanes,
      OP.f32x4ConvertI32x4S,
      OP.f32x4ConvertI32x4U,
      lanesThen((f) => f.f32x4(1).op(OP.v128And)),
    ),
    scalar: scalar(sameScalar, OP.f32ConvertI32S, OP.f32ConvertI32U, OP.f32ConvertI32U),
    half: "exact",
    pattern: pointwise,
  },
  toF16: toHalf("f16"),
  toBF16: toHalf("bf16"),
  toBool: {
    lanes: lanes(
      lanesThen((f) => f.f32x4(0).op(OP.f32x4Ne)),
      integerIsNotZero,
      integerIsNotZero,
      sameLanes,
    ),
    scalar: scalar(
      scalarThen((f) => f.f32(0).op(OP.f32Ne)),
      scalarIsNotZero,
      scalarIsNotZero,
      scalarIsNotZero,
    ),
    half: NONE,
    pattern: pointwise,
  },
  toIndex: {
    lanes: lanes(NONE, sameLanes, sameLanes, NONE),
    scalar: scalar(NONE, sameScalar, sameScalar, NONE),
    half: NONE,
    pattern: conversionToInteger,
  },
  bitcastF32: {
    lanes: lanes(sameLanes, sameLanes, sameLanes, NONE),
    scalar: scalar(sameScalar, OP.f32ReinterpretI32, OP.f32ReinterpretI32, NONE),
    half: NONE,
    pattern: pointwise,
  },
  bitcastI32: bitsAsInteger,
  bitcastU32: bitsAsInteger,
});
