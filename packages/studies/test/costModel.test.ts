import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quantile, ranks, spearman } from "../bench/cost/statistics.ts";

describe("spearman", () => {
  it("is 1 for the same order, -1 for the reverse, whatever the distances", () => {
    expect(spearman([1, 2, 3, 4], [1, 10, 100, 1000])).toBeCloseTo(1, 12);
    expect(spearman([1, 2, 3, 4], [9, 3, 2, -5])).toBeCloseTo(-1, 12);
  });

  it("gives equal values the mean of their ranks", () => {
    expect(ranks([5, 1, 5, 3])).toEqual([3.5, 1, 3.5, 2]);
    expect(ranks([2, 2, 2])).toEqual([2, 2, 2]);
    // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: covariance 4.5, variances 4.5 and 5.
    expect(spearman([1, 2, 2, 3], [1, 2, 3, 4])).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5), 12);
  });

  it("says nothing of what is constant, and refuses lists that do not match", () => {
    expect(spearman([1, 1, 1], [1, 2, 3])).toBeNaN();
    expect(() => spearman([1, 2], [1])).toThrow(RangeError);
  });

  it("does not change under increasing functions and reordering of pairs", () => {
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
});

describe("quantile", () => {
  it("is the middle, the ends, and in between in proportion", () => {
    expect(quantile([3, 1, 2], 0.5)).toBe(2);
    expect(quantile([1, 2], 0.5)).toBe(1.5);
    expect(quantile([4, 8], 0)).toBe(4);
    expect(quantile([4, 8], 1)).toBe(8);
    expect(quantile([], 0.5)).toBeNaN();
  });
});
