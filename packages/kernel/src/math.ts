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
 * a·b + c rounded once to f32. The product of two f32 is exact in a double; the sum is rounded to odd there, after
 * which rounding to f32 is exact (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
 */
export function fma(a: number, b: number, c: number): number {
  const product = a * b;
  const sum = product + c;
  const part = sum - product;
  const error = product - (sum - part) + (c - part);
  if (error === 0 || !Number.isFinite(sum) || error !== error) return fround(sum);
  scratch.setFloat64(0, sum);
  const low = scratch.getUint32(4);
  if ((low & 1) === 1) return fround(sum);
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
  return fround(scratch.getFloat64(0));
}

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

export function popcount(x: number): number {
  let v = x - ((x >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
