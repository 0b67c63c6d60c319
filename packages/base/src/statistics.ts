/** What many values say together. A name for each statistic that the project uses, and one definition. */

import {
  mean as meanOf,
  quantile as quantileOf,
  sampleRankCorrelation,
  standardDeviation as deviationOf,
} from "simple-statistics";

/** Of a list or a typed array. NaN of none. */
export function mean(values: ArrayLike<number>): number {
  return values.length === 0 ? Number.NaN : meanOf(values as number[]);
}

/** The middle value, or the mean of the middle two. NaN of none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/**
 * The value below which so large a share of the values lies, in proportion between neighbours (R's type 7, NumPy's default).
 * NaN of none.
 *
 * @param share from 0 to 1
 */
export function quantile(values: readonly number[], share: number): number {
  return values.length === 0 ? Number.NaN : quantileOf(values as number[], share);
}

/** The quartiles, for "the middle half". NaN of none. */
export function quartiles(values: readonly number[]): {
  readonly low: number;
  readonly median: number;
  readonly high: number;
} {
  return { low: quantile(values, 0.25), median: median(values), high: quantile(values, 0.75) };
}

/** The width of the middle half of the values, relative to their median; 0 where that is 0. */
export function relativeSpread(values: readonly number[]): number {
  const { low, median: middle, high } = quartiles(values);
  return middle === 0 ? 0 : (high - low) / Math.abs(middle);
}

/** Of the values themselves, not an estimate for what they were drawn from: divided by n. NaN of none. */
export function standardDeviation(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : deviationOf(values as number[]);
}

/**
 * Spearman's rank correlation; equal values share the mean of their ranks. NaN where one side is constant.
 * @throws RangeError where the sides have not the same length
 */
export function spearman(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) throw new RangeError(`${a.length} values cannot be correlated with ${b.length}`);
  return a.length < 2 ? Number.NaN : sampleRankCorrelation(a as number[], b as number[]);
}
