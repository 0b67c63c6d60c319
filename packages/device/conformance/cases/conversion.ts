/** Conversions, which saturate or wrap, and bitcasts, which keep every bit but those of NaN. */

import { i32, u32 } from "@evolver/kernel";
import type { Case } from "../case.ts";
import { unary } from "./operation.ts";

const { fround } = Math;

const FLOATS: readonly number[] = [
  0,
  -0,
  0.5,
  -0.5,
  0.99999994,
  -0.99999994,
  1,
  -1,
  1.5,
  -1.5,
  2147483520,
  2147483648,
  -2147483648,
  -2147483904,
  4294967040,
  4294967296,
  1e10,
  -1e10,
  3e38,
  -3e38,
  Infinity,
  -Infinity,
  NaN,
  16777217,
  123456.79,
].map(fround);

const I32S = [
  0, 1, -1, 16777216, 16777217, 16777219, -16777217, 33554435, 2147483647, 2147483583, -2147483648, 123456789,
];
const U32S = [0, 1, 16777217, 16777219, 33554435, 2147483648, 4294967295, 4294967167, 4294967168, 123456789];

/** Bits of floats of every kind but NaN: zeros, subnormals, normals, infinities. */
const PATTERNS = [
  0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800001, 0x7f7fffff, 0x7f800000,
  0xff800000,
];
const NORMAL_PATTERNS = PATTERNS.filter((bits) => (bits & 0x7f800000) !== 0 || (bits & 0x7fffffff) === 0);

function clampTo(low: number, high: number): (x: number) => number {
  return (x) => (Number.isNaN(x) ? 0 : Math.min(Math.max(Math.trunc(x), low), high) + 0);
}

const view = new DataView(new ArrayBuffer(4));

function bitsOf(x: number): number {
  if (Number.isNaN(x)) return 0x7fc00000;
  view.setFloat32(0, x);
  return view.getUint32(0);
}

function floatOf(bits: number): number {
  view.setUint32(0, bits);
  return view.getFloat32(0);
}

export const conversionCases: readonly Case[] = [
  unary({
    name: "f32 to i32 truncates and saturates",
    from: "f32",
    to: "i32",
    values: FLOATS,
    apply: (a) => a.toI32(),
    expect: clampTo(-2147483648, 2147483647),
  }),
  unary({
    name: "f32 to u32 truncates and saturates",
    from: "f32",
    to: "u32",
    values: FLOATS,
    apply: (a) => a.toU32(),
    expect: clampTo(0, 4294967295),
  }),
  unary({
    name: "i32 to f32 rounds to nearest",
    from: "i32",
    to: "f32",
    values: I32S,
    apply: (a) => a.toF32(),
    expect: fround,
  }),
  unary({
    name: "u32 to f32 rounds to nearest",
    from: "u32",
    to: "f32",
    values: U32S,
    apply: (a) => a.toF32(),
    expect: fround,
  }),
  unary({
    name: "i32 to u32 keeps the bits",
    from: "i32",
    to: "u32",
    values: I32S,
    apply: (a) => a.toU32(),
    expect: (a) => (a < 0 ? a + 4294967296 : a),
  }),
  unary({
    name: "u32 to i32 keeps the bits",
    from: "u32",
    to: "i32",
    values: U32S,
    apply: (a) => a.toI32(),
    expect: (a) => (a > 2147483647 ? a - 4294967296 : a),
  }),
  unary({
    name: "f32 to bool: not equal to zero",
    from: "f32",
    to: "u32",
    values: FLOATS,
    apply: (a) => a.toBool().toU32(),
    expect: (a) => (a === 0 ? 0 : 1),
  }),
  unary({
    name: "i32 to bool",
    from: "i32",
    to: "f32",
    values: I32S,
    apply: (a) => a.toBool().toF32(),
    expect: (a) => (a === 0 ? 0 : 1),
  }),
  unary({
    name: "u32 to bool",
    from: "u32",
    to: "i32",
    values: U32S,
    apply: (a) => a.toBool().toI32(),
    expect: (a) => (a === 0 ? 0 : 1),
  }),
  unary({
    name: "f32 bitcast to u32, all NaN alike",
    from: "f32",
    to: "u32",
    values: FLOATS,
    apply: (a) => a.bitcast(u32),
    expect: bitsOf,
  }),
  unary({
    name: "f32 bitcast to i32, all NaN alike",
    from: "f32",
    to: "i32",
    values: FLOATS,
    apply: (a) => a.bitcast(i32),
    expect: (a) => bitsOf(a) | 0,
  }),
  unary({
    name: "u32 bitcast to f32",
    from: "u32",
    to: "f32",
    values: NORMAL_PATTERNS,
    apply: (a) => a.bitcast({ kind: "type", type: "f32" }),
    expect: floatOf,
  }),
  unary({
    name: "u32 bitcast to f32 of subnormals",
    needs: ["subnormals"],
    from: "u32",
    to: "f32",
    values: PATTERNS,
    apply: (a) => a.bitcast({ kind: "type", type: "f32" }),
    expect: floatOf,
  }),
  unary({
    name: "i32 bitcast to f32",
    from: "i32",
    to: "f32",
    values: NORMAL_PATTERNS.map((bits) => bits | 0),
    apply: (a) => a.bitcast({ kind: "type", type: "f32" }),
    expect: floatOf,
  }),
  unary({
    name: "i32 bitcast to u32 and back",
    from: "i32",
    to: "i32",
    values: I32S,
    apply: (a) => a.bitcast(u32).add(1).bitcast(i32),
    expect: (a) => (a + 1) | 0,
  }),
  unary({
    name: "NaN of any bits is one NaN when its bits are looked at",
    from: "u32",
    to: "u32",
    values: [0x7f800001, 0x7fffffff, 0xffc00000, 0xff812345, 0x7fc00000],
    apply: (a) => a.bitcast({ kind: "type", type: "f32" }).bitcast(u32),
    expect: () => 0x7fc00000,
  }),
];
