/**
 * Functions of four lanes for which there is no instruction: mathematics with the bits of the kernel package's mathematics.ts,
 * and what only scalar instructions do.
 */

import { math } from "@evolver/kernel";
import type { FunctionBuilder } from "../wasm/encoder.ts";
import type { HelperFunctions } from "../wasm/helper-functions.ts";
import { OP } from "../wasm/opcodes.ts";

/** Functions of JavaScript that generated modules import, f32 to f32. */
export const IMPORTED_MATH = ["log", "log2", "sin", "cos", "tanh"] as const;
export type ImportedMath = (typeof IMPORTED_MATH)[number];

export function exponential(helpers: HelperFunctions, name: "exp" | "exp2"): number {
  return helpers.defineVector(name, 1, (f) => {
    const half = (high: boolean): void => {
      f.get(0);
      if (high) f.get(0).shuffle([2, 3, 2, 3]);
      f.op(OP.f64x2PromoteLowF32x4);
      if (name === "exp") f.f64x2(Math.LOG2E).op(OP.f64x2Mul);
      exp2OfDoubles(f);
      f.op(OP.f32x4DemoteF64x2Zero);
    };
    half(false);
    half(true);
    f.shuffle([0, 1, 4, 5]);
  });
}

export function rsqrt(helpers: HelperFunctions): number {
  return helpers.defineVector("rsqrt", 1, (f) => {
    for (const high of [false, true]) {
      f.f64x2(1).get(0);
      if (high) f.get(0).shuffle([2, 3, 2, 3]);
      f.op(OP.f64x2PromoteLowF32x4).op(OP.f64x2Sqrt).op(OP.f64x2Div).op(OP.f32x4DemoteF64x2Zero);
    }
    f.shuffle([0, 1, 4, 5]);
  });
}

export function importedMath(helpers: HelperFunctions, name: ImportedMath): number {
  const scalar = helpers.imported(name);
  return helpers.defineVector(name, 1, (f) => {
    f.get(0);
    for (let lane = 0; lane < 4; lane++) {
      f.get(0).lane(OP.f32x4ExtractLane, lane).call(scalar);
      f.lane(OP.f32x4ReplaceLane, lane);
    }
  });
}

/** Four lanes of an operation on two integers that only a scalar instruction does. */
export function lanewise(
  helpers: HelperFunctions,
  name: string,
  scalar: (f: FunctionBuilder) => void,
): number {
  return helpers.defineVector(`lanes:${name}`, 2, (f) => {
    f.get(0);
    for (let lane = 0; lane < 4; lane++) {
      f.get(0).lane(OP.i32x4ExtractLane, lane).get(1).lane(OP.i32x4ExtractLane, lane);
      scalar(f);
      f.lane(OP.i32x4ReplaceLane, lane);
    }
  });
}

/** 2^x of the two doubles on the stack, operation by operation as mathematics.ts has it. */
function exp2OfDoubles(f: FunctionBuilder): void {
  const t = f.local("v128");
  const shifted = f.local("v128");
  const r = f.local("v128");
  // In this order a NaN stays.
  f.f64x2(math.EXP2_MAX).op(OP.f64x2Pmin).f64x2(math.EXP2_MIN).op(OP.f64x2Pmax).tee(t);
  f.f64x2(math.ROUND_MAGIC).op(OP.f64x2Add).set(shifted);
  f.get(t).get(shifted).f64x2(math.ROUND_MAGIC).op(OP.f64x2Sub).op(OP.f64x2Sub).set(r);
  f.f64x2(math.EXP2_COEFFICIENTS[11] as number);
  for (let k = 10; k >= 0; k--)
    f.get(r)
      .op(OP.f64x2Mul)
      .f64x2(math.EXP2_COEFFICIENTS[k] as number)
      .op(OP.f64x2Add);
  // The low bits of t + ROUND_MAGIC hold the integer exponent.
  f.get(shifted).i32x4([1023, 0, 1023, 0]).op(OP.i64x2Add).i32(52).op(OP.i64x2Shl).op(OP.f64x2Mul);
  for (const local of [t, shifted, r]) f.release(local);
}
