/** The mathematics of f16 and bf16 against what is independent of it: JavaScript's own f16, and exact rationals. */

import { math } from "@evolver/kernel";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

/** A finite double as an integer times 2^-1200, which is exact for all numbers here and their products. */
const SCALE = 1200;
function exact(x: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const significand = exponent === 0 ? fraction : fraction | (1n << 52n);
  const shift = BigInt(SCALE + Math.max(exponent, 1) - 1075);
  const magnitude = shift >= 0n ? significand << shift : significand >> -shift;
  return x < 0 ? -magnitude : magnitude;
}

interface Format {
  /** Significant bits, and the exponents of the least unit and of the first power of two that is too large. */
  readonly precision: number;
  readonly least: number;
  readonly limit: number;
}

const F16: Format = { precision: 11, least: -24, limit: 16 };
const BF16: Format = { precision: 8, least: -133, limit: 128 };

/** An exact number rounded to nearest even in a format, by integers alone. */
function rounded(value: bigint, scale: number, { precision, least, limit }: Format): number {
  const magnitude = value < 0n ? -value : value;
  const top = magnitude.toString(2).length - 1 - scale;
  const unit = Math.max(top - precision + 1, least);
  const dropped = BigInt(unit + scale);
  let kept = magnitude >> dropped;
  const rest = magnitude - (kept << dropped);
  const half = 1n << (dropped - 1n);
  if (rest > half || (rest === half && (kept & 1n) === 1n)) kept++;
  const result = Number(kept) >= 2 ** (limit - unit) ? Infinity : Number(kept) * 2 ** unit;
  return value < 0n ? -result : result;
}

/** Doubles over the whole range of a format and beyond, many of them halfway between neighbours or just beside. */
const doubles = ({ precision, least, limit }: Format): fc.Arbitrary<number> =>
  fc
    .record({
      sign: fc.constantFrom(1, -1),
      significand: fc.integer({ min: 2 ** precision, max: 2 ** (precision + 1) - 1 }),
      beside: fc.constantFrom(0, 2 ** -20, -(2 ** -20), 2 ** -30, -(2 ** -30)),
      exponent: fc.integer({ min: least - precision - 2, max: limit - precision + 1 }),
    })
    .map(({ sign, significand, beside, exponent }) => sign * (significand + beside) * 2 ** exponent);

/** Numbers that are exact in a format. */
const numbers = ({ precision, least, limit }: Format, round: (x: number) => number): fc.Arbitrary<number> =>
  fc
    .record({
      sign: fc.constantFrom(1, -1),
      significand: fc.integer({ min: 0, max: 2 ** precision - 1 }),
      exponent: fc.integer({ min: least, max: limit - precision }),
    })
    .map(({ sign, significand, exponent }) => round(sign * significand * 2 ** exponent));

const RUNS = 20_000;

describe("f16", () => {
  const bits = Uint16Array.from({ length: 65536 }, (_, i) => i);
  const own = new Float16Array(bits.buffer);

  test("all bits are the numbers that JavaScript says, and back", () => {
    for (const pattern of bits) {
      const number = math.f16FromBits(pattern);
      if (!Object.is(number, own[pattern])) throw new Error(`0x${pattern.toString(16)} is ${number}`);
      if (!Object.is(math.roundF16(number), number)) throw new Error(`${number} is not exact`);
      const back = math.f16ToBits(number);
      if (back !== (Number.isNaN(number) ? 0x7e00 : pattern))
        throw new Error(`${number} is 0x${back.toString(16)}`);
    }
  });

  test("rounds as JavaScript does", () => {
    const check = (x: number): void => {
      expect(math.roundF16(x)).toBe(Math.f16round(x));
    };
    for (const x of [0, -0, NaN, Infinity, -Infinity, 65504, 65519.999, 65520, -65520, 2 ** -25, -(2 ** -25)])
      check(x);
    check(2 ** -25 + 2 ** -60);
    check(2 ** -14 - 2 ** -26);
    fc.assert(fc.property(doubles(F16), check), { numRuns: RUNS });
    fc.assert(fc.property(fc.double(), check), { numRuns: RUNS });
  });

  test("fma rounds once", () => {
    const number = numbers(F16, math.roundF16);
    fc.assert(
      fc.property(number, number, number, (a, b, c) => {
        const value = exact(a) * exact(b) + (exact(c) << BigInt(SCALE));
        const wanted = value === 0n ? a * b + c : rounded(value, 2 * SCALE, F16);
        expect(math.fmaF16(a, b, c)).toBe(wanted);
      }),
      { numRuns: RUNS },
    );
    // Halfway between 1 and its neighbour without c; f32 has no room for c.
    const [a, b] = [1 + 2 ** -5, 1 + 2 ** -6];
    expect(math.fmaF16(a, b, 2 ** -24)).toBe(1 + 2 ** -5 + 2 ** -6 + 2 ** -10);
    expect(math.roundF16(math.fma(a, b, 2 ** -24))).toBe(1 + 2 ** -5 + 2 ** -6);
  });
});

describe("bf16", () => {
  test("all bits are the upper halves of f32, and back", () => {
    for (let pattern = 0; pattern < 65536; pattern++) {
      const number = math.bf16FromBits(pattern);
      const [whole] = new Float32Array(Uint32Array.of(pattern * 65536).buffer);
      if (!Object.is(number, whole)) throw new Error(`0x${pattern.toString(16)} is ${number}`);
      if (!Object.is(math.roundBF16(number), number)) throw new Error(`${number} is not exact`);
      const back = math.bf16ToBits(number);
      if (back !== (Number.isNaN(number) ? 0x7fc0 : pattern))
        throw new Error(`${number} is 0x${back.toString(16)}`);
    }
  });

  test("rounds as exact integers do", () => {
    const check = (x: number): void => {
      expect(math.roundBF16(x)).toBe(rounded(exact(x), SCALE, BF16));
    };
    for (const x of [0, -0, NaN, Infinity, -Infinity]) expect(math.roundBF16(x)).toBe(x);
    for (const x of [1 + 2 ** -8, 1 + 2 ** -8 + 2 ** -40, 3.3895314e38, 3.4e38, -1e40, 2 ** -134 + 2 ** -170])
      check(x);
    expect(math.roundBF16(2 ** -134)).toBe(0);
    expect(math.roundBF16(-(2 ** -134))).toBe(-0);
    fc.assert(fc.property(doubles(BF16), check), { numRuns: RUNS });
  });

  test("fma rounds once", () => {
    const number = numbers(BF16, math.roundBF16);
    fc.assert(
      fc.property(number, number, number, (a, b, c) => {
        const value = exact(a) * exact(b) + (exact(c) << BigInt(SCALE));
        const wanted = value === 0n ? a * b + c : rounded(value, 2 * SCALE, BF16);
        expect(math.fmaBF16(a, b, c)).toBe(wanted);
      }),
      { numRuns: RUNS },
    );
    const [a, b] = [1 + 2 ** -3, 1 + 2 ** -5];
    expect(math.fmaBF16(a, b, 2 ** -100)).toBe(1 + 2 ** -3 + 2 ** -5 + 2 ** -7);
    expect(math.roundBF16(math.fma(a, b, 2 ** -100))).toBe(1 + 2 ** -3 + 2 ** -5);
  });
});
