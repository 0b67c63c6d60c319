/** Code of operations that are more than one instruction, for the rows of table.ts. */

import { isHalf, type HalfType, type ScalarType } from "@evolver/kernel";
import type { FunctionBuilder } from "../wasm/encoder.ts";
import type { HelperFunctions } from "../wasm/helper-functions.ts";
import { OP } from "../wasm/opcodes.ts";
import { emulatedFma, halfFma } from "./fma.ts";
import { roundTo } from "./half.ts";
import { division, isQuotient, roundsDown, type IntegerDivision } from "./integer-division.ts";
import { lanewise } from "./mathematics.ts";
import type { OperationCode, OperationSite } from "./operation.ts";

const CANONICAL_NAN = 0x7fc00000;

const everyLane = (value: number): number[] => Array<number>(4).fill(value);

/** Pushes `mask ? a : b` for the three vectors on the stack; every lane of the mask is all ones or all zeros. */
export function emitSelect(f: FunctionBuilder, helpers: HelperFunctions): void {
  f.op(helpers.fusedMultiplyAdd ? OP.i32x4RelaxedLaneselect : OP.v128Bitselect);
}

/** A function of one vector. */
export const callOf =
  (helper: (helpers: HelperFunctions) => number): OperationCode =>
  ({ f, helpers, operands }) => {
    operands.lanes(0);
    f.call(helper(helpers));
  };

/** The operand, which has the bits of the result already. */
export const sameLanes: OperationCode = ({ operands }) => operands.lanes(0);
export const sameScalar: OperationCode = ({ operands }) => operands.scalar(0);

/** The operand, and then instructions. */
export const lanesThen =
  (write: (f: FunctionBuilder) => void): OperationCode =>
  ({ f, operands }) => {
    operands.lanes(0);
    write(f);
  };
export const scalarThen =
  (write: (f: FunctionBuilder) => void): OperationCode =>
  ({ f, operands }) => {
    operands.scalar(0);
    write(f);
  };

export const negatedScalar: OperationCode = ({ f, operands }) => {
  f.i32(0);
  operands.scalar(0);
  f.op(OP.i32Sub);
};

export const flippedScalar: OperationCode = scalarThen((f) => f.i32(-1).op(OP.i32Xor));

/** The smaller or larger of two f32; where one is NaN, the other. `code` gives the second operand where any is NaN. */
export const extremumOfFloats =
  (code: number): OperationCode =>
  ({ f, helpers, operands }) => {
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
    emitSelect(f, helpers);
  };

const pushThree = ({ operands }: OperationSite): void => {
  for (let i = 0; i < 3; i++) operands.lanes(i);
};

export const fmaOfFloats: OperationCode = (site) => {
  const { f, helpers } = site;
  pushThree(site);
  if (helpers.fusedMultiplyAdd) f.op(OP.f32x4RelaxedMadd);
  else f.call(emulatedFma(helpers));
};

export const fmaOfHalves: OperationCode = (site) => {
  pushThree(site);
  site.f.call(halfFma(site.helpers, firstHalf(site)));
};

export const selectLanes: OperationCode = ({ f, helpers, operands }) => {
  for (const i of [1, 2, 0]) operands.lanes(i);
  emitSelect(f, helpers);
};

export const selectScalar: OperationCode = ({ f, operands }) => {
  for (const i of [1, 2, 0]) operands.scalar(i);
  f.op(OP.select);
};

export const dividedLanes =
  (op: IntegerDivision, signed: boolean): OperationCode =>
  ({ f, helpers, operands }) => {
    const divisor = operands.constant(1);
    const isPowerOfTwo = divisor !== undefined && divisor > 0 && (divisor & (divisor - 1)) === 0;
    // A shift and a mask round down.
    if (isPowerOfTwo && (!signed || roundsDown(op))) {
      operands.lanes(0);
      if (isQuotient(op)) f.i32(31 - Math.clz32(divisor)).op(signed ? OP.i32x4ShrS : OP.i32x4ShrU);
      else f.i32x4(everyLane(divisor - 1)).op(OP.v128And);
      return;
    }
    operands.lanes(0);
    operands.lanes(1);
    const scalar = division(helpers, op, signed);
    f.call(lanewise(helpers, `${op}:${signed}`, (g) => g.call(scalar)));
  };

export const dividedScalar =
  (op: IntegerDivision, signed: boolean): OperationCode =>
  ({ f, helpers, operands }) => {
    const divisor = operands.constant(1);
    operands.scalar(0);
    operands.scalar(1);
    // By a number that is known not to be zero, the instruction does not trap.
    if (!signed && divisor !== undefined && divisor !== 0) f.op(isQuotient(op) ? OP.i32DivU : OP.i32RemU);
    else f.call(division(helpers, op, signed));
  };

/** A shift, by one amount for all lanes or by one per lane; `name` tells helper functions apart. */
export const shiftedLanes =
  (name: string, vector: number, scalar: number): OperationCode =>
  ({ f, helpers, operands }) => {
    operands.lanes(0);
    if (operands.isScalar(1)) {
      operands.scalar(1);
      f.op(vector);
      return;
    }
    operands.lanes(1);
    f.call(lanewise(helpers, name, (g) => g.op(scalar)));
  };

export const onesInLanes: OperationCode = lanesThen((f) =>
  f.op(OP.i8x16Popcnt).op(OP.i16x8ExtaddPairwiseU).op(OP.i32x4ExtaddPairwiseU),
);

export const leadingZerosInLanes: OperationCode = ({ f, helpers, operands }) => {
  operands.lanes(0);
  operands.lanes(0);
  f.call(lanewise(helpers, "clz", (g) => g.op(OP.drop).op(OP.i32Clz)));
};

/** Rounds f32, or the other type of two bytes, to `target`. */
export const roundedTo =
  (target: HalfType): OperationCode =>
  ({ f, helpers, operands }) => {
    operands.lanes(0);
    if (operands.types[0] !== target) f.call(roundTo(helpers, target));
  };

/** The bits of f32; every NaN has the same. */
export const bitsOfLanes: OperationCode = ({ f, helpers, operands }) => {
  operands.lanes(0);
  f.i32x4(everyLane(CANONICAL_NAN));
  operands.lanes(0);
  operands.lanes(0);
  f.op(OP.f32x4Eq);
  emitSelect(f, helpers);
};

export const bitsOfScalar: OperationCode = ({ f, operands }) => {
  operands.scalar(0);
  f.op(OP.i32ReinterpretF32).i32(CANONICAL_NAN);
  operands.scalar(0);
  operands.scalar(0);
  f.op(OP.f32Eq).op(OP.select);
};

function firstHalf({ operands }: OperationSite): HalfType {
  const type = operands.types[0] as ScalarType;
  if (!isHalf(type)) throw new Error(`${type} is no type of two bytes`);
  return type;
}
