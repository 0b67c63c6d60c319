/**
 * The mathematics behind the operations, made of IEEE double arithmetic only, so that every engine (JavaScript,
 * WebAssembly) gives the same bits. Arguments are exact in f32 unless said otherwise; results are rounded to f32.
 */

const { fround, sqrt: sqrt64 } = Math;

const scratch = new DataView(new ArrayBuffer(8));

/** Adding and subtracting 1.5 · 2^52 rounds a double of magnitude below 2^51 to an integer, halves to even. */
export const ROUND_MAGIC = 6755399441055744;

/** Coefficients of 2^r on [−½, ½], ln(2)^k / k!: relative error below 1e-15. */
export const EXP2_COEFFICIENTS: readonly number[] = (() => {
  const coefficients = [1];
  for (let k = 1; k <= 11; k++) coefficients.push(((coefficients[k - 1] as number) * Math.LN2) / k);
  return Object.freeze(coefficients);
})();

/** Exponents beyond these give ∞ and 0 in f32. */
export const EXP2_MAX = 129;
export const EXP2_MIN = -152;

const powersOfTwo = Float64Array.from({ length: EXP2_MAX - EXP2_MIN + 1 }, (_, i) => 2 ** (i + EXP2_MIN));

/** 2^x for a double x, as a double before the last rounding to f32. */
function exp2Double(x: number): number {
  const t = Math.max(Math.min(x, EXP2_MAX), EXP2_MIN);
  const n = t + ROUND_MAGIC - ROUND_MAGIC;
  const r = t - n;
  let p = EXP2_COEFFICIENTS[11] as number;
  for (let k = 10; k >= 0; k--) p = p * r + (EXP2_COEFFICIENTS[k] as number);
  return p * (powersOfTwo[n - EXP2_MIN] as number);
}

export const exp2 = (x: number): number => fround(exp2Double(x));
export const exp2Flushed = (x: number): number => exp2(x);
export const exp = (x: number): number => fround(exp2Double(x * Math.LOG2E));
export const log = (x: number): number => fround(Math.log(x));
export const log2 = (x: number): number => fround(Math.log2(x));
export const sin = (x: number): number => fround(Math.sin(x));
export const cos = (x: number): number => fround(Math.cos(x));
export const tanh = (x: number): number => fround(Math.tanh(x));
export const sqrt = (x: number): number => fround(sqrt64(x));
export const rsqrt = (x: number): number => fround(1 / sqrt64(x));
export const floor = (x: number): number => Math.floor(x);
export const ceil = (x: number): number => Math.ceil(x);
export const trunc = (x: number): number => Math.trunc(x);

export function round(x: number): number {
  if (!(Math.abs(x) < 8388608)) return x;
  const rounded = x + ROUND_MAGIC - ROUND_MAGIC;
  return rounded === 0 ? x * 0 : rounded;
}

export const min = (a: number, b: number): number => (a < b || b !== b ? a : b);
export const max = (a: number, b: number): number => (a > b || b !== b ? a : b);

/**
 * a·b + c as a double rounded to odd, from which rounding to any shorter type is exact (Boldo and Melquiond, "Emulation
 * of FMA and correctly rounded sums", 2008). The product of two f32 is exact in a double.
 */
function fmaToOdd(a: number, b: number, c: number): number {
  const product = a * b;
  const sum = product + c;
  const part = sum - product;
  const error = product - (sum - part) + (c - part);
  if (error === 0 || !Number.isFinite(sum) || error !== error) return sum;
  scratch.setFloat64(0, sum);
  const low = scratch.getUint32(4);
  if ((low & 1) === 1) return sum;
  // The sum is even and inexact: step one unit in the last place towards the error.
  const away = error > 0 === sum > 0;
  if (away) {
    scratch.setUint32(4, low | 1);
  } else if (low === 0) {
    scratch.setUint32(4, 0xffffffff);
    scratch.setUint32(0, scratch.getUint32(0) - 1);
  } else {
    scratch.setUint32(4, low - 1);
  }
  return scratch.getFloat64(0);
}

/** a·b + c rounded once to f32. */
export const fma = (a: number, b: number, c: number): number => fround(fmaToOdd(a, b, c));
/** a·b + c rounded once to f16, for operands exact in f16. */
export const fmaF16 = (a: number, b: number, c: number): number => roundF16(fmaToOdd(a, b, c));
/** a·b + c rounded once to bf16, for operands exact in bf16. */
export const fmaBF16 = (a: number, b: number, c: number): number => roundBF16(fmaToOdd(a, b, c));

export function f32ToI32(x: number): number {
  if (x !== x) return 0;
  return x >= 2147483647 ? 2147483647 : x <= -2147483648 ? -2147483648 : Math.trunc(x) | 0;
}

export function f32ToU32(x: number): number {
  if (!(x > 0)) return 0;
  return x >= 4294967295 ? 4294967295 : Math.trunc(x) >>> 0;
}

/** The bits as a signed 32-bit integer; every NaN gives 0x7fc00000. */
export function f32ToBits(x: number): number {
  if (x !== x) return 0x7fc00000;
  scratch.setFloat32(0, x);
  return scratch.getInt32(0);
}

export function bitsToF32(bits: number): number {
  scratch.setInt32(0, bits);
  return scratch.getFloat32(0);
}

/**
 * Rounds to nearest even at bit `unit` of the upper word of a double: 2^10 leaves the 11 significant bits of f16, 2^13
 * the 8 of bf16.
 */
function roundSignificand(x: number, unit: number): number {
  scratch.setFloat64(0, x);
  const high = scratch.getUint32(0);
  const rest = high & (unit - 1);
  const isTie = rest === unit / 2 && scratch.getUint32(4) === 0;
  const up = isTie ? (high & unit) !== 0 : rest >= unit / 2;
  scratch.setUint32(0, high - rest + (up ? unit : 0));
  scratch.setUint32(4, 0);
  return scratch.getFloat64(0);
}

/** A double rounded once to IEEE binary16, to nearest even: 65,520 and beyond become infinite. */
export function roundF16(x: number): number {
  const magnitude = Math.abs(x);
  if (magnitude >= 2 ** -14) return magnitude >= 65520 ? x * Infinity : roundSignificand(x, 2 ** 10);
  if (x === 0 || x !== x) return x;
  // Subnormal numbers are the multiples of 2^-24, which is one unit in the last place of 2^28.
  const rounded = x + 1.5 * 2 ** 28 - 1.5 * 2 ** 28;
  return rounded === 0 ? x * 0 : rounded;
}

/** A double rounded once to bfloat16, to nearest even. */
export function roundBF16(x: number): number {
  const magnitude = Math.abs(x);
  if (magnitude >= 2 ** -126)
    return magnitude >= (2 - 2 ** -8) * 2 ** 127 ? x * Infinity : roundSignificand(x, 2 ** 13);
  if (x === 0 || x !== x) return x;
  // Subnormal numbers are the multiples of 2^-133.
  const rounded = x + 1.5 * 2 ** -81 - 1.5 * 2 ** -81;
  return rounded === 0 ? x * 0 : rounded;
}

/** The 16 bits of a number that is exact in f16; every NaN gives 0x7e00. */
export function f16ToBits(x: number): number {
  if (x !== x) return 0x7e00;
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(x);
  if (magnitude === Infinity) return sign | 0x7c00;
  if (magnitude < 2 ** -14) return sign | (magnitude * 2 ** 24);
  scratch.setFloat64(0, magnitude);
  return sign | ((scratch.getUint32(0) >>> 10) - ((1023 - 15) << 10));
}

/** The number with these 16 bits in f16. */
export function f16FromBits(bits: number): number {
  const exponent = (bits >>> 10) & 31;
  const significand = bits & 0x3ff;
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  if (exponent === 31) return significand === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * significand * 2 ** -24;
  return sign * (significand + 1024) * 2 ** (exponent - 25);
}

/** The 16 bits of a number that is exact in bf16; every NaN gives 0x7fc0. */
export const bf16ToBits = (x: number): number => (f32ToBits(x) >>> 16) & 0xffff;

/** The number with these 16 bits in bf16. */
export const bf16FromBits = (bits: number): number => bitsToF32(bits << 16);

export function popcount(x: number): number {
  let v = x - ((x >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
