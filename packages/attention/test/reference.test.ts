/** The float64 reference agrees with independent golden values, and with what can be worked out by hand. */

import { describe, expect, it } from "vitest";
import { lowAttention, referenceAttention, visibleKeys } from "@evolver/attention";
import type { AttentionShape, Mask } from "@evolver/attention";
import { requireData } from "../../../test/support/optional.ts";
import { GOLDEN_FILES, LAYER_FILES, loadGoldenCases, loadLayer, ulp } from "./support/golden.ts";
import type { ExpectedCase } from "./support/golden.ts";
import { denseProblem, squareShape } from "./support/problems.ts";

/** The largest distance of the reference, rounded to float32, from the golden value, in steps of float32. */
function largestUlps(actual: Float64Array, golden: Float32Array): number {
  let worst = 0;
  for (const [i, expected] of golden.entries()) {
    const value = Math.fround(actual[i]!);
    if (value === expected) continue;
    const steps = Math.abs(value - expected) / ulp(expected);
    worst = Math.max(worst, Number.isNaN(steps) ? Infinity : steps);
  }
  return worst;
}

function expectGolden({ problem, inputs, o, lse }: ExpectedCase): void {
  const reference = referenceAttention(problem, inputs);
  expect(reference.o).toHaveLength(o.length);
  expect(reference.lse).toHaveLength(lse.length);
  expect(largestUlps(reference.o, o)).toBeLessThanOrEqual(1);
  expect(largestUlps(reference.lse, lse)).toBeLessThanOrEqual(1);
}

requireData(...GOLDEN_FILES)("the reference on the golden cases", () => {
  for (const golden of loadGoldenCases()) {
    it(golden.name, () => {
      expectGolden(golden);
      const empty = [...golden.lse].filter((value) => value === -Infinity).length;
      expect(empty).toBe(golden.emptyRowsPerHead * golden.problem.shape.batch * golden.problem.shape.headsQ);
    });
  }

  it("errs in float32 about as much as an independent float32", () => {
    const odd: string[] = [];
    for (const { name, problem, inputs, errF32, maxAbs } of loadGoldenCases()) {
      const reference = referenceAttention(problem, inputs);
      const low = lowAttention(problem, inputs);
      let error = 0;
      for (const [i, value] of reference.o.entries()) error = Math.max(error, Math.abs(low.o[i]! - value));
      const least = errF32.o > 1e-6 ? errF32.o / 8 : 0;
      const most = 4 * errF32.o + 2 * ulp(maxAbs.o);
      if (!(error >= least && error <= most)) odd.push(`${name}: ${error}, not ${least} to ${most}`);
    }
    expect(odd).toEqual([]);
  });
});

requireData(...LAYER_FILES)("the reference on a real model", () => {
  it.each(LAYER_FILES)("%s", (file) => {
    const layer = loadLayer(file);
    const reference = referenceAttention(layer.problem, layer.inputs);
    const largest = layer.o.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    let error = 0;
    for (const [i, value] of layer.o.entries()) error = Math.max(error, Math.abs(reference.o[i]! - value));
    expect(error / largest).toBeLessThan(1e-6);
    let lseError = 0;
    for (const [i, value] of layer.lse.entries())
      lseError = Math.max(lseError, Math.abs(reference.lse[i]! - value));
    expect(lseError).toBeLessThan(1e-5);
  });
});

describe("visible keys", () => {
  const seen = (mask: Mask, seqQ: number, seqK: number): number[][] =>
    Array.from({ length: seqQ }, (_, row) => {
      const { begin, end } = visibleKeys(mask, { seqQ, seqK }, row);
      return Array.from({ length: end - begin }, (__, j) => begin + j);
    });

  it.each<[string, Mask, number, number, number[][]]>([
    [
      "full",
      { kind: "full" },
      2,
      3,
      [
        [0, 1, 2],
        [0, 1, 2],
      ],
    ],
    [
      "causal, more keys",
      { kind: "causal" },
      2,
      5,
      [
        [0, 1, 2, 3],
        [0, 1, 2, 3, 4],
      ],
    ],
    ["causal, more queries", { kind: "causal" }, 5, 2, [[], [], [], [0], [0, 1]]],
    [
      "window",
      { kind: "window", left: 1, right: 1 },
      2,
      5,
      [
        [2, 3, 4],
        [3, 4],
      ],
    ],
    ["window with empty rows on both sides", { kind: "window", left: 0, right: 0 }, 4, 2, [[], [], [0], [1]]],
    ["window that is causal", { kind: "window", left: Infinity, right: 0 }, 3, 3, [[0], [0, 1], [0, 1, 2]]],
    ["no keys", { kind: "causal" }, 2, 0, [[], []]],
  ])("%s", (_, mask, seqQ, seqK, expected) => expect(seen(mask, seqQ, seqK)).toEqual(expected));
});

describe("the reference by hand", () => {
  it("weights two keys by their scores", () => {
    const problem = denseProblem(squareShape(1, 1, 2, 1), { scale: 2 });
    const { o, lse } = referenceAttention(problem, { q: [1], k: [0, Math.log(3) / 2], v: [4, 8] });
    expect(o[0]).toBeCloseTo(7, 14);
    expect(lse[0]).toBeCloseTo(Math.log(4), 14);
  });

  it("caps scores before it masks", () => {
    const problem = denseProblem(squareShape(1, 1, 1, 1), { scale: 1, softcap: 2 });
    const { lse } = referenceAttention(problem, { q: [3], k: [5], v: [1] });
    expect(lse[0]).toBeCloseTo(2 * Math.tanh(7.5), 14);
  });

  it("gives zeros and −Infinity to a row that sees nothing, whatever memory holds", () => {
    const problem = denseProblem(squareShape(1, 3, 1, 2), { mask: { kind: "causal" } });
    const { o, lse } = referenceAttention(problem, { q: [NaN, NaN, NaN, NaN, 1, 1], k: [1, 1], v: [5, 6] });
    expect([...o]).toEqual([0, 0, 0, 0, 5, 6]);
    expect([...lse.subarray(0, 2)]).toEqual([-Infinity, -Infinity]);
  });

  it("keeps to logits far below float32's usual sentinels", () => {
    const problem = denseProblem(squareShape(1, 1, 1, 1), { scale: 1 });
    for (const { o, lse } of [
      referenceAttention(problem, { q: [-524288], k: [1], v: [0.7] }),
      lowAttention(problem, { q: [-524288], k: [1], v: [Math.fround(0.7)] }),
    ]) {
      expect(o[0]).toBeCloseTo(0.7, 6);
      expect(lse[0]).toBe(-524288);
    }
  });

  it("reads through strides", () => {
    const shape: AttentionShape = { batch: 1, headsQ: 1, headsKv: 1, seqQ: 1, seqK: 2, dim: 2 };
    const problem = denseProblem(shape, { scale: 1 });
    const dense = referenceAttention(problem, { q: [1, 2], k: [3, 4, 5, 6], v: [7, 8, 9, 10] });
    const strides = { ...problem.strides, k: [9, 9, 1, 3], v: [9, 9, 3, 1] } as const;
    const strided = referenceAttention(
      { ...problem, strides },
      { q: [1, 2], k: [3, 5, NaN, 4, 6], v: [7, 8, NaN, 9, 10] },
    );
    expect(strided).toEqual(dense);
  });

  it.each([
    [0, 3],
    [3, 0],
    [0, 0],
  ])("takes zero lengths (%i, %i)", (seqQ, seqK) => {
    const problem = denseProblem(squareShape(2, seqQ, seqK, 4));
    const data = new Float32Array(2 * 3 * 4).fill(1);
    const { o, lse } = referenceAttention(problem, { q: data, k: data, v: data });
    expect([...o]).toEqual(Array.from({ length: 2 * seqQ * 4 }, () => 0));
    expect([...lse]).toEqual(Array.from({ length: 2 * seqQ }, () => -Infinity));
  });
});
