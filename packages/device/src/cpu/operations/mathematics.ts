/**
 * Functions of four lanes for which there is no instruction: mathematics with the bits of the kernel package's mathematics.ts,
 * and what only scalar instructions do.
 */

import { math } from "@evolver/kernel";
import { pushConstant } from "./constants.ts";
import type { FunctionBuilder } from "../wasm/encoder.ts";
import type { HelperFunctions } from "../wasm/helper-functions.ts";
import { OP, type WasmType } from "../wasm/opcodes.ts";

/** Functions of JavaScript that generated modules import, f32 to f32. */
export const IMPORTED_MATH = ["log", "log2", "sin", "cos", "tanh"] as const;
export type ImportedMath = (typeof IMPORTED_MATH)[number];

export type Exponential = "exp" | "exp2";

export function exponential(helpers: HelperFunctions, name: Exponential): number {
  return helpers.defineVector(name, 1, (f) => exponentials(f, name, [0]));
}

/** Of several vectors, as so many results. Most of the time for one is spent waiting for results, so it takes little longer. */
export function exponentialsOf(helpers: HelperFunctions, name: Exponential, count: number): number {
  const vectors = Array<WasmType>(count).fill("v128");
  const params = vectors.map((_, i) => i);
  return helpers.define(`${name}:${count}`, vectors, vectors, (f) => exponentials(f, name, params));
}

function exponentials(f: FunctionBuilder, name: Exponential, params: readonly number[]): void {
  const pairs = params.flatMap((param) =>
    [false, true].map((high) => {
      const local = f.local("v128");
      f.get(param);
      if (high) f.get(param).shuffle([2, 3, 2, 3]);
      f.op(OP.f64x2PromoteLowF32x4);
      if (name === "exp") f.f64x2(Math.LOG2E).op(OP.f64x2Mul);
      f.set(local);
      return local;
    }),
  );
  exp2OfDoubles(f, pairs);
  pairs.forEach((local, i) => {
    f.get(local).op(OP.f32x4DemoteF64x2Zero);
    if (i % 2 === 1) f.shuffle([0, 1, 4, 5]);
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

/**
 * Replaces the doubles in locals by 2^x of them, operation by operation as mathematics.ts has it. All vectors take each step
 * together: they do not wait for each other, and a constant is read once for all.
 */
function exp2OfDoubles(f: FunctionBuilder, vectors: readonly number[]): void {
  const parts = vectors.map((x) => ({ x, shifted: f.local("v128"), r: f.local("v128") }));
  const constant = f.local("v128");
  const together = (value: number, step: (part: (typeof parts)[number]) => void): void => {
    pushConstant(f, value);
    f.set(constant);
    parts.forEach(step);
  };
  // In this order a NaN stays.
  together(math.EXP2_MAX, ({ x }) => f.get(x).get(constant).op(OP.f64x2Pmin).set(x));
  together(math.EXP2_MIN, ({ x }) => f.get(x).get(constant).op(OP.f64x2Pmax).set(x));
  together(math.ROUND_MAGIC, ({ x, shifted, r }) => {
    f.get(x).get(constant).op(OP.f64x2Add).set(shifted);
    f.get(x).get(shifted).get(constant).op(OP.f64x2Sub).op(OP.f64x2Sub).set(r);
  });
  together(math.EXP2_COEFFICIENTS[11] as number, ({ x }) => f.get(constant).set(x));
  for (let k = 10; k >= 0; k--)
    together(math.EXP2_COEFFICIENTS[k] as number, ({ x, r }) =>
      f.get(x).get(r).op(OP.f64x2Mul).get(constant).op(OP.f64x2Add).set(x),
    );
  // The low bits of t + ROUND_MAGIC hold the integer exponent.
  for (const { x, shifted } of parts) {
    f.get(x).get(shifted).i32x4([1023, 0, 1023, 0]).op(OP.i64x2Add);
    f.i32(52).op(OP.i64x2Shl).op(OP.f64x2Mul).set(x);
  }
  for (const local of [constant, ...parts.flatMap(({ shifted, r }) => [shifted, r])]) f.release(local);
}
