/**
 * f16 and bf16 in vectors of f32: rounding to them, and their 16 bits. The helper functions are named at the end; what
 * they are made of takes its operand from their first parameter, or from the stack where it says so, and leaves its
 * result on the stack.
 */

import type { HalfType } from "@evolver/kernel";
import type { FunctionBuilder } from "../wasm/encoder.ts";
import type { HelperFunctions } from "../wasm/helper-functions.ts";
import { OP } from "../wasm/opcodes.ts";

const SIGN = -0x80000000;
const CANONICAL_BF16_NAN = 0x7fc0;
const CANONICAL_F16_NAN = 0x7e00;

const all = (value: number): [number, number, number, number] => [value, value, value, value];
/** Lanes of 64 bits from their low and high words. */
const both = (low: number, high: number): [number, number, number, number] => [low, high, low, high];

/** Rounds four f32 to nearest even. */
function roundSingles(f: FunctionBuilder, type: HalfType): void {
  const dropped = type === "f16" ? 13 : 16;
  const rounded = f.local("v128");
  // Adding just less than half a unit, and one more if the last kept bit is odd, carries where it must.
  f.get(0).i32(dropped).op(OP.i32x4ShrU).i32x4(all(1)).op(OP.v128And);
  f.get(0)
    .i32x4(all(2 ** (dropped - 1) - 1))
    .op(OP.i32x4Add)
    .op(OP.i32x4Add);
  f.i32x4(all(-(2 ** dropped)))
    .op(OP.v128And)
    .set(rounded);
  if (type === "f16") {
    const magnitude = f.local("v128");
    f.get(0).op(OP.f32x4Abs).set(magnitude);
    // Subnormal numbers are the multiples of 2^-24, one unit in the last place of 1/2.
    f.get(magnitude).f32x4(0.5).op(OP.f32x4Add).f32x4(0.5).op(OP.f32x4Sub);
    withSign(f);
    f.get(rounded)
      .get(magnitude)
      .f32x4(2 ** -14)
      .op(OP.f32x4Lt)
      .op(OP.v128Bitselect)
      .set(rounded);
    f.f32x4(Infinity);
    withSign(f);
    f.get(rounded).get(magnitude).f32x4(65520).op(OP.f32x4Ge).op(OP.v128Bitselect).set(rounded);
    f.release(magnitude);
  }
  // A NaN stays one.
  f.get(rounded).get(0).get(0).get(0).op(OP.f32x4Eq).op(OP.v128Bitselect);
  f.release(rounded);
}

/** Gives the magnitudes on the stack the signs of the parameter. */
function withSign(f: FunctionBuilder): void {
  f.get(0).i32x4(all(SIGN)).op(OP.v128And).op(OP.v128Or);
}

/** Rounds the two doubles on the stack to nearest even; the result is exact in f32, or too large for it. */
export function roundDoubles(f: FunctionBuilder, type: HalfType): void {
  const dropped = type === "f16" ? 42 : 45;
  const [smallest, magic] = type === "f16" ? [2 ** -14, 1.5 * 2 ** 28] : [2 ** -126, 1.5 * 2 ** -81];
  const [x, rounded, sign] = [0, 0, 0].map(() => f.local("v128")) as [number, number, number];
  f.set(x);
  f.get(x).i32x4(both(0, SIGN)).op(OP.v128And).set(sign);
  f.get(x).i32(dropped).op(OP.i64x2ShrU).i32x4(both(1, 0)).op(OP.v128And);
  const highHalf = 2 ** (dropped - 33);
  f.get(x)
    .i32x4(both(-1, highHalf - 1))
    .op(OP.i64x2Add)
    .op(OP.i64x2Add);
  f.i32x4(both(0, -(2 * highHalf)))
    .op(OP.v128And)
    .set(rounded);
  f.get(x).f64x2(magic).op(OP.f64x2Add).f64x2(magic).op(OP.f64x2Sub).get(sign).op(OP.v128Or);
  f.get(rounded);
  f.f64x2(smallest).get(x).op(OP.f64x2Abs).op(OP.f64x2Gt);
  f.op(OP.v128Bitselect).set(rounded);
  if (type === "f16") {
    f.f64x2(Infinity).get(sign).op(OP.v128Or).get(rounded);
    f.get(rounded).op(OP.f64x2Abs).f64x2(65504).op(OP.f64x2Gt);
    f.op(OP.v128Bitselect).set(rounded);
  }
  f.get(rounded).get(x).get(x).get(x).op(OP.f64x2Eq).op(OP.v128Bitselect);
  for (const local of [x, rounded, sign]) f.release(local);
}

/** From 16 bits in the low half of each lane to f32. */
function expandBits(f: FunctionBuilder, type: HalfType): void {
  if (type === "bf16") {
    f.get(0).i32(16).op(OP.i32x4Shl);
    return;
  }
  const magnitude = f.local("v128");
  f.get(0).i32x4(all(0x7fff)).op(OP.v128And).i32(13).op(OP.i32x4Shl).set(magnitude);
  // The exponent's bias is 112 less; subnormal numbers become normal by the same product.
  f.get(magnitude)
    .f32x4(2 ** 112)
    .op(OP.f32x4Mul);
  // Infinity and NaN have the largest exponent in both.
  f.get(magnitude)
    .i32x4(all(0x0f800000 - 1))
    .op(OP.i32x4GtS)
    .i32x4(all(0x7f800000))
    .op(OP.v128And)
    .op(OP.v128Or);
  f.get(0).i32x4(all(0x8000)).op(OP.v128And).i32(16).op(OP.i32x4Shl).op(OP.v128Or);
  f.release(magnitude);
}

/** From f32 exact in the type to 16 bits in the low half of each lane. */
function compressBits(f: FunctionBuilder, type: HalfType): void {
  if (type === "bf16") {
    f.get(0).i32(16).op(OP.i32x4ShrU).i32x4(all(CANONICAL_BF16_NAN));
    f.get(0).get(0).op(OP.f32x4Eq).op(OP.v128Bitselect);
    return;
  }
  const magnitude = f.local("v128");
  f.get(0).op(OP.f32x4Abs).set(magnitude);
  // Normal numbers lose 112 of the exponent's bias; what is infinite stays at the largest exponent.
  f.get(magnitude)
    .i32(13)
    .op(OP.i32x4ShrU)
    .i32x4(all(112 << 10))
    .op(OP.i32x4Sub)
    .i32x4(all(0x7c00))
    .op(OP.i32x4MinS);
  // Subnormal numbers are integers in units of 2^-24.
  f.get(magnitude)
    .f32x4(2 ** 24)
    .op(OP.f32x4Mul)
    .op(OP.i32x4TruncSatF32x4S);
  f.get(magnitude)
    .f32x4(2 ** -14)
    .op(OP.f32x4Ge)
    .op(OP.v128Bitselect);
  f.get(0).i32(16).op(OP.i32x4ShrU).i32x4(all(0x8000)).op(OP.v128And).op(OP.v128Or);
  f.i32x4(all(CANONICAL_F16_NAN)).get(0).get(0).op(OP.f32x4Eq).op(OP.v128Bitselect);
  f.release(magnitude);
}

/** Rounds four f32 to f16 or bf16. */
export const roundTo = (helpers: HelperFunctions, type: HalfType): number =>
  helpers.defineVector(`round:${type}`, 1, (f) => roundSingles(f, type));

/** From 16 bits in the low half of each lane to the f32 of the same value. */
export const expand = (helpers: HelperFunctions, type: HalfType): number =>
  helpers.defineVector(`expand:${type}`, 1, (f) => expandBits(f, type));

/** From f32 that are exact in the type to their 16 bits, in the low half of each lane. */
export const compress = (helpers: HelperFunctions, type: HalfType): number =>
  helpers.defineVector(`compress:${type}`, 1, (f) => compressBits(f, type));
