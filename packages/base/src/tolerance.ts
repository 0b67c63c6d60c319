/**
 * How far a float32 result may be off: FlashAttention-3's rule. An honest kernel may be a small factor further from the
 * float64 truth than a plain float32 computation is, plus one rounding of the output:
 *
 *     max |out − ref64| ≤ factor · max |low − ref64| + atol,   atol = 2 · max |(ref + 0.3 − 0.3) − ref|  in float32
 *
 * Two refinements, for where the rule as written says little:
 * - Where everything comes out exact, the bound can be 0: it is at least four roundings of the largest value.
 * - 0.3 stands for outputs of about that size. Where all outputs are below 1/2000, atol is limited to 2^−13 of the
 *   largest, so that zeros never pass for small values.
 */

/** Of the largest value: four roundings to float32. */
const SMALLEST_RELATIVE_BOUND = 4 * 2 ** -24;
/** Of the largest value. */
const LARGEST_RELATIVE_ATOL = 2 ** -13;

export interface AllowedErrorOptions {
  /** 2 by default. */
  readonly factor?: number;
  /** False for values such as logarithms, of which small ones mean nothing: then atol is not limited. */
  readonly limited?: boolean;
}

/**
 * The largest absolute error that passes.
 *
 * @param reference in float64; entries that are not finite have to be met exactly, and do not count
 * @param lowError the largest error of plain float32 computations of the same
 */
export function allowedError(
  reference: Float64Array,
  lowError: number,
  { factor = 2, limited = true }: AllowedErrorOptions = {},
): number {
  const largest = largestMagnitude(reference);
  const rounding = roundingTolerance(reference);
  const atol = limited ? Math.min(rounding, LARGEST_RELATIVE_ATOL * largest) : rounding;
  return Math.max(factor * lowError + atol, SMALLEST_RELATIVE_BOUND * largest);
}

/** Of the finite values. */
export function largestMagnitude(values: Float64Array): number {
  let magnitude = 0;
  for (const value of values) if (Number.isFinite(value)) magnitude = Math.max(magnitude, Math.abs(value));
  return magnitude;
}

/** 2 · max |(ref + 0.3 − 0.3) − ref| in float32: twice what rounding values of this size once does to them. */
function roundingTolerance(reference: Float64Array): number {
  const { fround } = Math;
  const shift = fround(0.3);
  let tolerance = 0;
  for (const value of reference) {
    if (!Number.isFinite(value)) continue;
    const rounded = fround(value);
    tolerance = Math.max(tolerance, Math.abs(fround(fround(rounded + shift) - shift) - rounded));
  }
  return 2 * tolerance;
}
