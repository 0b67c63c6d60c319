/** Random inputs: the same seed gives the same numbers, and they are distributed as they should be. */

import { describe, expect, it } from "vitest";
import {
  createProblem,
  DISTRIBUTIONS,
  randomInputs,
  referenceAttention,
  spanOf,
  toDense,
} from "@evolver/attention";
import { squareShape } from "./support/problems.ts";

describe("randomInputs", () => {
  const problem = createProblem(squareShape(2, 64, 64, 64));

  it.each(DISTRIBUTIONS)("%s: repeatable, finite, and other for another seed", (distribution) => {
    const inputs = randomInputs(problem, { seed: 1, distribution });
    expect(randomInputs(problem, { seed: 1, distribution })).toEqual(inputs);
    expect(randomInputs(problem, { seed: 2, distribution }).v).not.toEqual(inputs.v);
    for (const data of [inputs.q, inputs.k, inputs.v]) {
      expect(data).toHaveLength(2 * 64 * 64);
      expect(data.every(Number.isFinite)).toBe(true);
    }
  });

  it("outlier: a tenth of a percent stands out", () => {
    const { k } = randomInputs(createProblem(squareShape(4, 1, 512, 128)), {
      seed: 3,
      distribution: "outlier",
    });
    const far = k.filter((value) => Math.abs(value) > 6).length / k.length;
    expect(far).toBeGreaterThan(0.0002);
    expect(far).toBeLessThan(0.001);
  });

  it.each([1, -0.25, 0.125])("deep: logits from −1e4 to −2.45e5 at scale %f", (scale) => {
    const deep = createProblem(squareShape(1, 2, 9, 8), { scale });
    const { q, k } = randomInputs(deep, { seed: 4, distribution: "deep" });
    const logits = Array.from({ length: 9 }, (_, key) => {
      let sum = 0;
      for (let d = 0; d < 8; d++) sum += q[8 + d]! * k[key * 8 + d]!;
      return sum * scale;
    });
    expect(logits[0]! / -1e4).toBeCloseTo(1, 1);
    expect(logits[8]! / -2.45e5).toBeCloseTo(1, 1);
    expect(logits.every((logit, i) => i === 0 || logit < logits[i - 1]!)).toBe(true);
  });

  it("flat: the output is about the mean of v", () => {
    const inputs = randomInputs(problem, { seed: 5, distribution: "flat" });
    const { o } = referenceAttention(problem, inputs);
    let mean = 0;
    for (let key = 0; key < 64; key++) mean += inputs.v[key * 64 + 7]! / 64;
    expect(o[7]).toBeCloseTo(mean, 2);
    expect(o[63 * 64 + 7]).toBeCloseTo(mean, 2);
  });

  it("fills what lies between and behind the elements with NaN", () => {
    const strides = { q: [900, 300, 4, 1], k: [1, 5, 20, 4] } as const;
    const strided = createProblem(squareShape(2, 3, 3, 2), { strides });
    const { q, k, v } = randomInputs(strided, { seed: 6, padding: 4 });
    const dense = randomInputs(createProblem(squareShape(2, 3, 3, 2)), { seed: 6 });
    expect(q).toHaveLength(spanOf([1, 2, 3, 2], strides.q) + 4);
    for (const data of [q, k]) expect(data.filter((value) => !Number.isNaN(value))).toHaveLength(12);
    expect(v.subarray(12).every(Number.isNaN)).toBe(true);
    expect(toDense(q, [1, 2, 3, 2], strides.q)).toEqual(dense.q);
    expect(toDense(k, [1, 2, 3, 2], strides.k)).toEqual(dense.k);
  });
});
