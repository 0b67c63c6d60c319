import { describe, expect, it } from "vitest";
import { bestAfter, measurementsUntil, replay } from "../../bench/cost/replay.ts";

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
