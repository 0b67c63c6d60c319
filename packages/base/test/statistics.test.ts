import {
  mean,
  median,
  quantile,
  quartiles,
  relativeSpread,
  spearman,
  standardDeviation,
} from "@evolver/base";
import fc from "fast-check";
import { expect, test } from "vitest";

test("quantiles lie between neighbours in proportion, as NumPy has them", () => {
  expect(quantile([4, 1, 3, 2], 0)).toBe(1);
  expect(quantile([4, 1, 3, 2], 1)).toBe(4);
  expect(quantile([4, 1, 3, 2], 0.25)).toBe(1.75);
  expect(quantile([10, 20], 0.9)).toBeCloseTo(19, 12);
  expect(quartiles([1, 2, 3, 4, 5])).toEqual({ low: 2, median: 3, high: 4 });
});

test("the median of an even number of values is the mean of the middle two", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([7])).toBe(7);
});

test("values are not sorted in place", () => {
  const values = [3, 1, 2];
  median(values);
  quantile(values, 0.3);
  expect(values).toEqual([3, 1, 2]);
});

test("mean and deviation", () => {
  expect(mean([1, 2, 6])).toBe(3);
  expect(standardDeviation([2, 4, 4, 4, 5, 5, 7, 9])).toBe(2);
});

test("of no values there is no statistic", () => {
  for (const statistic of [mean, median, standardDeviation, (none: readonly number[]) => quantile(none, 0.5)])
    expect(statistic([])).toBeNaN();
});

test("spread is the middle half over the median", () => {
  expect(relativeSpread([1, 2, 3, 4, 5])).toBeCloseTo(2 / 3, 12);
  expect(relativeSpread([5, 5, 5])).toBe(0);
  expect(relativeSpread([-1, 0, 1])).toBe(0);
});

test("Spearman's correlation is of ranks, and ties share theirs", () => {
  expect(spearman([1, 2, 3, 4], [1, 10, 100, 1000])).toBeCloseTo(1, 12);
  expect(spearman([1, 2, 3, 4], [4, 3, 2, 1])).toBeCloseTo(-1, 12);
  expect(spearman([1, 1, 2, 2], [1, 2, 3, 4])).toBeCloseTo(0.894427191, 8);
  // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: covariance 4.5, variances 4.5 and 5.
  expect(spearman([1, 2, 2, 3], [1, 2, 3, 4])).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5), 12);
  expect(spearman([1, 1, 1], [1, 2, 3])).toBeNaN();
  expect(spearman([1], [1])).toBeNaN();
  expect(() => spearman([1, 2], [1])).toThrow(RangeError);
});

test("Spearman's correlation does not change under increasing functions and reordering of pairs", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })), {
        minLength: 3,
        maxLength: 30,
      }),
      (pairs) => {
        const before = spearman(
          pairs.map(([a]) => a),
          pairs.map(([, b]) => b),
        );
        const other = pairs.toReversed();
        const after = spearman(
          other.map(([a]) => a ** 3),
          other.map(([, b]) => Math.exp(b)),
        );
        if (Number.isNaN(before)) expect(after).toBeNaN();
        else expect(after).toBeCloseTo(before, 9);
      },
    ),
  );
});
