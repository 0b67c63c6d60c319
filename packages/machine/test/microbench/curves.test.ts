import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findKnee, findPlateaus, type Point } from "@evolver/machine/internal";

const points = (values: readonly number[], setting = (k: number): number => 2 ** k): Point[] =>
  values.map((value, k) => ({ setting: setting(k), value }));

describe("the knee", () => {
  it("is the smallest setting within 3 % of the best", () => {
    expect(findKnee(points([10, 50, 96, 97.1, 100, 99]))).toEqual({ setting: 8, value: 97.1 });
  });
  it("of a cost is the smallest setting within 3 % of the least", () => {
    expect(findKnee(points([30, 10.2, 10, 10.1]), 0.03, "less")?.setting).toBe(2);
  });
  it("does not depend on the order, and is null without points", () => {
    expect(findKnee(points([1, 5, 5]).toReversed())?.setting).toBe(2);
    expect(findKnee([])).toBeNull();
  });
  it("is good enough, and everything below it is not", () => {
    const curve = fc.array(fc.double({ min: 0.1, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(curve, fc.double({ min: 0, max: 0.5, noNaN: true }), (values, tolerance) => {
        const all = points(values);
        const knee = findKnee(all, tolerance) as Point;
        const limit = Math.max(...values) * (1 - tolerance);
        expect(knee.value).toBeGreaterThanOrEqual(limit);
        for (const { setting, value } of all) if (setting < knee.setting) expect(value).toBeLessThan(limit);
      }),
    );
  });
});

describe("plateaus", () => {
  it("are the levels of a staircase, without what lies between them", () => {
    const latencies = [17, 17, 17.2, 18, 60, 130, 132, 131, 135, 250, 390, 400, 395];
    expect(findPlateaus(points(latencies))).toEqual([
      { from: 1, to: 8, value: 17.1 },
      { from: 32, to: 256, value: 131.5 },
      { from: 1024, to: 4096, value: 395 },
    ]);
  });
  it("are none on a steady slope", () => {
    expect(findPlateaus(points([1, 2, 4, 8, 16]))).toEqual([]);
  });
  it("are one where nothing changes", () => {
    expect(findPlateaus(points([5, 5, 5]))).toEqual([{ from: 1, to: 4, value: 5 }]);
  });
});
