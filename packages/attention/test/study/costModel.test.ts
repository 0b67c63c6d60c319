import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bestAfter, measurementsUntil, replay } from "../../bench/cost/replay.ts";
import { quantile, ranks, spearman } from "../../bench/cost/statistics.ts";

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

describe("replaying a search", () => {
  const pool = Array.from({ length: 30 }, (_, i) => ({ measuredMs: 10 + i, predictedMs: 10 + i }));
  const mean = async (of: typeof pool, proposals: number): Promise<number> => {
    let sum = 0;
    for (let seed = 0; seed < 30; seed++)
      sum += measurementsUntil(of, await replay(of, proposals, seed), 0.05);
    return sum / 30;
  };

  it("measures each candidate once, the same for the same seed", async () => {
    const order = await replay(pool, 4, 7);
    expect(order.toSorted((a, b) => a - b)).toEqual(pool.map((_, i) => i));
    expect(await replay(pool, 4, 7)).toEqual(order);
    expect(await replay(pool, 4, 8)).not.toEqual(order);
  });

  it("a right model saves measurements, the more the more it may choose from", async () => {
    const [alone, two, eight] = [await mean(pool, 1), await mean(pool, 2), await mean(pool, 8)];
    expect(two).toBeLessThan(alone * 0.8);
    expect(eight).toBeLessThan(two);
    expect(await mean(pool, 30)).toBe(1);
  });

  it("a wrong model costs some", async () => {
    const wrong = pool.map(({ measuredMs }) => ({ measuredMs, predictedMs: -measuredMs }));
    expect(await mean(wrong, 4)).toBeGreaterThan(await mean(wrong, 1));
  });

  it("counts until the best is close enough, and tells how far it is off", () => {
    const order = [20, 3, 0, 1];
    expect(measurementsUntil(pool, order, 0.35)).toBe(2);
    expect(measurementsUntil(pool, order, 0)).toBe(3);
    expect(bestAfter(pool, order, 1)).toBe(3);
    expect(bestAfter(pool, order, 2)).toBe(1.3);
  });
});
