/** Fused multiply-add where the machine has none, or none for the type: exact products and sums of doubles. */

import type { HalfType } from "@evolver/kernel";
import type { FunctionBuilder } from "../wasm/encoder.ts";
import type { HelperFunctions } from "../wasm/helper-functions.ts";
import { OP } from "../wasm/opcodes.ts";
import { roundDoubles } from "./half.ts";

/** a·b + c of three vectors of f32, rounded once to f32. */
export const emulatedFma = (helpers: HelperFunctions): number =>
  fmaByDoubles(helpers, "fma", (f) => f.op(OP.f32x4DemoteF64x2Zero));

/** a·b + c of three vectors of numbers exact in f16 or bf16, rounded once to that type. */
export const halfFma = (helpers: HelperFunctions, type: HalfType): number =>
  fmaByDoubles(helpers, `fma:${type}`, (f) => {
    roundDoubles(f, type);
    f.op(OP.f32x4DemoteF64x2Zero);
  });

/** `finish` takes two doubles, rounded to odd, to two f32 in the low half of a vector. */
function fmaByDoubles(helpers: HelperFunctions, name: string, finish: (f: FunctionBuilder) => void): number {
  return helpers.defineVector(name, 3, (f) => {
    const widened = (param: number, high: boolean): FunctionBuilder => {
      f.get(param);
      if (high) f.get(param).shuffle([2, 3, 2, 3]);
      return f.op(OP.f64x2PromoteLowF32x4);
    };
    const [product, sum, part, error, c] = [0, 0, 0, 0, 0].map(() => f.local("v128")) as [
      number,
      number,
      number,
      number,
      number,
    ];
    for (const high of [false, true]) {
      widened(0, high);
      widened(1, high).op(OP.f64x2Mul).set(product);
      widened(2, high).tee(c).get(product).op(OP.f64x2Add).set(sum);
      f.get(sum).get(product).op(OP.f64x2Sub).set(part);
      f.get(product).get(sum).get(part).op(OP.f64x2Sub).op(OP.f64x2Sub);
      f.get(c).get(part).op(OP.f64x2Sub).op(OP.f64x2Add).set(error);
      // Round to odd: where the sum is finite, inexact and even, step one unit towards the error.
      f.get(sum);
      f.get(error).f64x2(0).op(OP.f64x2Gt).get(sum).f64x2(0).op(OP.f64x2Gt).op(OP.v128Xor);
      f.i32x4([1, 0, 1, 0]).op(OP.v128Or);
      f.get(error).op(OP.f64x2Abs).f64x2(0).op(OP.f64x2Gt).op(OP.v128And);
      f.get(sum).op(OP.f64x2Abs).f64x2(Infinity).op(OP.f64x2Lt).op(OP.v128And);
      f.get(sum).i32x4([1, 0, 1, 0]).op(OP.v128And).f64x2(0).op(OP.i64x2Eq).op(OP.v128And);
      f.op(OP.i64x2Add);
      finish(f);
    }
    f.shuffle([0, 1, 4, 5]);
  });
}
