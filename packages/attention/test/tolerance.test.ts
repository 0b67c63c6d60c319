/** The tolerance rule lets honest results pass and no other: every test of a wrong output is one that must fail. */

import { describe, expect, it } from "vitest";
import {
  attention,
  attentionTruth,
  compareAttention,
  compareWithTruth,
  lowAttention,
  randomInputs,
  referenceAttention,
  toStrided,
} from "@evolver/attention";
import type { AttentionInputs, AttentionProblem } from "@evolver/attention";
import { openDevice } from "@evolver/device";
import { inFull } from "../../../test/support/full.ts";
import { requireData } from "../../../test/support/optional.ts";
import { GOLDEN_FILES, LAYER_FILES, loadGoldenCases, loadLayer } from "./support/golden.ts";
import { denseProblem, squareShape } from "./support/problems.ts";

function exactOutput(problem: AttentionProblem, inputs: AttentionInputs) {
  const { o, lse } = referenceAttention(problem, inputs);
  return { o: Float32Array.from(o), lse: Float32Array.from(lse) };
}

/** Outputs that a broken kernel or a cheat might give for a problem of one or more heads, by name. */
function wrongOutputs(problem: AttentionProblem, inputs: AttentionInputs, bound: number, lseBound: number) {
  const { o, lse } = exactOutput(problem, inputs);
  const { headsQ, headsKv, seqQ, seqK, dim } = problem.shape;
  const change = (edit: (copy: Float32Array) => void) => {
    const copy = o.slice();
    edit(copy);
    return { o: copy, lse };
  };
  const changeLse = (edit: (copy: Float32Array) => void) => {
    const copy = lse.slice();
    edit(copy);
    return { o, lse: copy };
  };
  const middle = o.length >> 1;
  return {
    zeros: change((copy) => copy.fill(0)),
    "a constant": change((copy) => copy.fill(o[middle]!)),
    "the mean of v": change((copy) => {
      for (let head = 0; head < headsQ; head++)
        for (let d = 0; d < dim; d++) {
          let sum = 0;
          const key = Math.floor(head / (headsQ / headsKv)) * seqK;
          for (let j = 0; j < seqK; j++) sum += inputs.v[(key + j) * dim + d]!;
          for (let i = 0; i < seqQ; i++) copy[(head * seqQ + i) * dim + d] = sum / seqK;
        }
    }),
    "rows the other way round": change((copy) => {
      for (let row = 0; row < headsQ * seqQ; row++)
        copy.set(o.subarray(row * dim, (row + 1) * dim), (headsQ * seqQ - 1 - row) * dim);
    }),
    "heads shifted by one": change((copy) => {
      copy.set(o.subarray(seqQ * dim));
      copy.set(o.subarray(0, seqQ * dim), (headsQ - 1) * seqQ * dim);
    }),
    "one NaN": change((copy) => (copy[middle] = NaN)),
    "one infinity": change((copy) => (copy[middle] = -Infinity)),
    "one element off by 10 bounds": change((copy) => (copy[middle] = copy[middle]! + 10 * bound)),
    "the last element off by 10 bounds": change((copy) => (copy[o.length - 1] = o.at(-1)! - 10 * bound)),
    "everything larger by 0.1 %": change((copy) => copy.forEach((value, i) => (copy[i] = value * 1.001))),
    "an lse off by 10 bounds": changeLse(
      (copy) => (copy[copy.length >> 1] = copy[copy.length >> 1]! + 10 * lseBound),
    ),
    "an lse in base 2": changeLse((copy) => copy.forEach((value, i) => (copy[i] = value / Math.LN2))),
    "an lse of −Infinity": changeLse((copy) => (copy[0] = -Infinity)),
    "an lse of NaN": changeLse((copy) => (copy[0] = NaN)),
  };
}

function expectAllWrongFail(problem: AttentionProblem, inputs: AttentionInputs): void {
  const truth = attentionTruth(problem, inputs);
  expect(compareWithTruth(problem, truth, exactOutput(problem, inputs)).pass).toBe(true);
  const wrong = wrongOutputs(problem, inputs, truth.bound, truth.lseBound);
  const verdicts = Object.entries(wrong).map(([name, output]) => {
    const { pass, where } = compareWithTruth(problem, truth, output);
    return `${name}: ${pass ? "passes" : `fails in ${where?.tensor}`}`;
  });
  expect(verdicts).toEqual(
    Object.keys(wrong).map((name) => `${name}: fails in ${name.startsWith("an lse") ? "lse" : "o"}`),
  );
}

describe("wrong outputs fail", () => {
  it.each([
    ["normal inputs", {}, 1],
    ["a softcap", { softcap: 15 }, 1],
    ["causal", { mask: { kind: "causal" } }, 1],
    ["values of 1e-6", {}, 1e-6],
    ["values of 1e-20", {}, 1e-20],
    ["values of 1e6", {}, 1e6],
  ] as const)("%s", (_, options, size) => {
    const problem = denseProblem(squareShape(3, 33, 40, 16), options);
    const inputs = randomInputs(problem, { seed: 1 });
    expectAllWrongFail(problem, { ...inputs, v: inputs.v.map((value) => value * size) });
  });

  it("a finite lse or a NaN where no key is visible", () => {
    const problem = denseProblem(squareShape(1, 5, 2, 8), { mask: { kind: "causal" } });
    const inputs = randomInputs(problem, { seed: 2 });
    const { o, lse } = exactOutput(problem, inputs);
    expect(lse[0]).toBe(-Infinity);
    for (const value of [NaN, Infinity, -1e30, 0]) {
      const comparison = compareAttention(problem, inputs, { o, lse: lse.with(0, value) });
      expect(comparison).toMatchObject({ pass: false, lseError: Infinity });
      expect(comparison.where).toMatchObject({ tensor: "lse", index: [0, 0, 0], expected: -Infinity });
    }
    expect(compareAttention(problem, inputs, { o: o.with(0, 1e-30), lse })).toMatchObject({ pass: true });
    expect(compareAttention(problem, inputs, { o: o.with(0, NaN), lse }).pass).toBe(false);
  });

  it("anything where the inputs themselves are not numbers", () => {
    const problem = denseProblem(squareShape(1, 2, 2, 4));
    const { q, k, v } = randomInputs(problem, { seed: 3 });
    for (const inputs of [
      { q: q.with(0, NaN), k, v },
      { q, k, v: v.with(5, NaN) },
    ])
      expect(compareAttention(problem, inputs, exactOutput(problem, inputs)).pass).toBe(false);
  });
});

describe("the bound", () => {
  it("is FlashAttention-3's, worked out apart", () => {
    for (const softcap of [0, 10]) {
      const problem = denseProblem(squareShape(2, 20, 64, 32), { softcap });
      const inputs = randomInputs(problem, { seed: 4 });
      const { o } = referenceAttention(problem, inputs);
      const rounded = Float32Array.from(o);
      const shifted = rounded
        .map((value) => value + Math.fround(0.3))
        .map((value) => value - Math.fround(0.3));
      const largest = (values: Iterable<number>) => [...values].reduce((a, b) => Math.max(a, Math.abs(b)), 0);
      const atol = 2 * largest(shifted.map((value, i) => value - rounded[i]!));
      const lowErrors = Array.from({ length: 8 }, (_, order) => {
        const low = lowAttention(problem, inputs, { firstDim: 5 * order, firstKey: 3 * order }).o;
        return largest(o.map((value, i) => low[i]! - value));
      });
      const expected = (softcap ? 3 : 2) * Math.max(...lowErrors) + atol;
      expect(attentionTruth(problem, inputs).bound).toBeCloseTo(expected, 14);
      expect(Math.max(...lowErrors) / Math.min(...lowErrors)).toBeLessThan(4);
    }
  });

  it("is a few rounding steps where one key per row makes low exact", () => {
    const problem = denseProblem(squareShape(1, 3, 1, 8));
    const inputs = randomInputs(problem, { seed: 5 });
    const { bound, lseBound } = attentionTruth(problem, inputs);
    expect(bound).toBeGreaterThan(1e-7);
    expect(bound).toBeLessThan(1e-6);
    // Of numbers with few digits, + 0.3 − 0.3 is exact.
    const coarse = { ...inputs, v: inputs.v.map((value) => Math.round(value * 64) / 64) };
    expect(attentionTruth(problem, coarse).bound).toBeGreaterThan(1e-7);
    expect(lseBound).toBeGreaterThan(3e-8);
    expect(lseBound).toBeLessThan(1e-6);
  });

  it("is 0 where nothing is visible", () => {
    const problem = denseProblem(squareShape(1, 3, 0, 8));
    const inputs = { q: new Float32Array(24), k: [], v: [] };
    const lse = new Float32Array(3).fill(-Infinity);
    expect(compareAttention(problem, inputs, { o: new Float32Array(24), lse })).toMatchObject({
      pass: true,
      error: 0,
      bound: 0,
    });
    expect(compareAttention(problem, inputs, { o: new Float32Array(24).fill(1e-30), lse }).pass).toBe(false);
  });

  it("does not hang on luck for a single row", () => {
    const unlucky = Array.from({ length: 100 }, (_, seed) => seed).filter((seed) => {
      const problem = denseProblem(squareShape(1, 1, 2, 64));
      const inputs = randomInputs(problem, { seed });
      const { o, lse } = lowAttention(problem, inputs, { firstDim: 31, firstKey: 1 });
      return !compareAttention(problem, inputs, { o, lse }).pass;
    });
    expect(unlucky).toEqual([]);
  });
});

/** Adds numbers in float32, or rounded as one says, `block` one after another, then those sums, and so on. */
function sum(
  values: ArrayLike<number>,
  block: number,
  round: (value: number) => number = Math.fround,
): number {
  let level = Array.from(values);
  do {
    const next: number[] = [];
    for (let i = 0; i < level.length; i += block) {
      let part = 0;
      for (const value of level.slice(i, i + block)) part = round(part + value);
      next.push(part);
    }
    level = next;
  } while (level.length > 1);
  return level[0] ?? 0;
}

const toBf16 = (value: number): number => {
  const bits = new Uint32Array(Float32Array.of(value).buffer);
  bits[0] = (bits[0]! + 0x7fff + ((bits[0]! >>> 16) & 1)) & 0xffff0000;
  return new Float32Array(bits.buffer)[0]!;
};

interface Kernel {
  /** Of a weight, before it is used. */
  readonly weight?: (weight: number, key: number) => number;
  readonly add?: (values: ArrayLike<number>) => number;
}

/** One query over keys of one head: what a kernel that adds in its own way makes of exact weights. */
function oneRow(problem: AttentionProblem, { q, k, v }: AttentionInputs, kernel: Kernel) {
  const { seqK, dim } = problem.shape;
  const { weight = (value) => value, add = (values) => sum(values, 256) } = kernel;
  const scores = Array.from({ length: seqK }, (_, j) => {
    let dot = 0;
    for (let d = 0; d < dim; d++) dot += q[d]! * k[j * dim + d]!;
    return problem.scale * dot;
  });
  const largest = scores.reduce((a, b) => Math.max(a, b));
  const weights = scores.map((score, j) => weight(Math.fround(Math.exp(score - largest)), j));
  const total = add(weights);
  const o = Float32Array.from(
    { length: dim },
    (_, d) => add(weights.map((p, j) => p * v[j * dim + d]!)) / total,
  );
  return { o, lse: null };
}

describe("rows of many keys", () => {
  const LENGTHS = inFull([1024, 40_000, 2 ** 17], [1024, 2 ** 16]);
  const kinds = ["random", "values about 1", "equal keys"] as const;
  const DIM = 4;

  function longRow(kind: (typeof kinds)[number], seqK: number) {
    const problem = denseProblem(squareShape(1, 1, seqK, DIM));
    const { q, k, v } = randomInputs(problem, { seed: seqK });
    if (kind === "random") return { problem, inputs: { q, k, v } };
    if (kind === "values about 1") return { problem, inputs: { q, k, v: v.map((value) => value + 1) } };
    return { problem, inputs: { q: q.fill(0), k, v: v.fill(0.1) } };
  }

  describe.each(LENGTHS)("%i", (seqK) => {
    it.each(kinds)("%s: sound sums pass, and wrong ones do not", (kind) => {
      const { problem, inputs } = longRow(kind, seqK);
      const truth = attentionTruth(problem, inputs);
      const passes = (kernel: Kernel) =>
        compareWithTruth(problem, truth, oneRow(problem, inputs, kernel)).pass;
      const sound: Readonly<Record<string, Kernel>> = {
        "blocks of 256": {},
        "blocks of 32": { add: (values) => sum(values, 32) },
        pairs: { add: (values) => sum(values, 2) },
        "blocks of 1000": { add: (values) => sum(values, 1000) },
      };
      const wrong: Readonly<Record<string, Kernel>> = {
        "bf16 sums": { add: (values) => sum(values, 256, toBf16) },
        "the first 32 keys twice": { weight: (value, key) => (key < 32 ? 2 * value : value) },
        // Of equal keys and values, any number gives the same.
        "the last key twice": { weight: (value, key) => (key === seqK - 1 ? 2 * value : value) },
        "the last key left out": { weight: (value, key) => (key === seqK - 1 ? 0 : value) },
      };
      const blind =
        kind === "equal keys" ? Object.keys(wrong).filter((name) => !name.startsWith("bf16 sums")) : [];
      const accepted = Object.entries({ ...sound, ...wrong }).filter(([, kernel]) => passes(kernel));
      expect(accepted.map(([name]) => name).filter((name) => !blind.includes(name))).toEqual(
        Object.keys(sound),
      );
      if (kind !== "equal keys") return;
      // Whatever the number of keys: of 0.1.
      expect(truth.bound).toBeLessThan(1e-5);
      if (seqK > 8192) expect(passes({ add: (values) => sum(values, Infinity) })).toBe(false);
    });
  });
});

describe("values far from zero, and a few keys that have nearly all of the weight", () => {
  const DIM = 8;
  const cases = inFull<readonly (readonly [keys: number, seed: number, about: number])[]>(
    [9000, 16_000, 20_000].flatMap((seqK) => [1, 2, 3, 4, 5, 6].map((seed) => [seqK, seed, 3] as const)),
    [
      [20_000, 5, 3],
      [16_000, 3, 30],
    ],
  );

  /** Tile by tile, as kernels go: whether sums of tiles are rounded to more or fewer bits decides. */
  it.each(cases)(
    "%i keys, seed %i, values about %i: tiles pass, and coarser sums do not",
    async (seqK, seed, about) => {
      const problem = denseProblem(
        { batch: 1, headsQ: 1, headsKv: 1, seqQ: 2, seqK, dim: DIM },
        { scale: 3 },
      );
      const { q, k, v } = randomInputs(problem, { seed });
      const inputs = { q, k, v: v.map((value) => value + about) };
      const truth = attentionTruth(problem, inputs);
      const device = await openDevice("cpu");
      const tensor = (data: Float32Array, rows: number) => ({ data, shape: [1, 1, rows, DIM] });
      for (const kernel of ["k03", "k11", "k12"]) {
        const given = { q: tensor(q, 2), k: tensor(k, seqK), v: tensor(inputs.v, seqK) };
        const { o, lse } = await attention(device, { ...given, scale: 3, lse: true, kernel });
        const { pass, error, bound } = compareWithTruth(problem, truth, { o, lse });
        expect(pass, `${kernel}: ${error} of ${bound}`).toBe(true);
        // About one part in 100,000 of the values.
        const off = o.map((value) => value * (1 + 1e-5));
        expect(compareWithTruth(problem, truth, { o: off, lse }).pass, kernel).toBe(false);
      }
      await device.close();
      // What the bound may be of the values: some ten roundings.
      expect(truth.bound / (about + 3)).toBeLessThan(5e-6);
    },
  );
});

describe("a comparison", () => {
  it("says which element is furthest off", () => {
    const problem = denseProblem({ batch: 2, headsQ: 2, headsKv: 1, seqQ: 3, seqK: 4, dim: 5 });
    const inputs = randomInputs(problem, { seed: 6 });
    const { o } = exactOutput(problem, inputs);
    const position = ((1 * 2 + 0) * 3 + 2) * 5 + 4;
    const comparison = compareAttention(problem, inputs, { o: o.with(position, 7), lse: null });
    expect(comparison.where).toEqual({
      tensor: "o",
      index: [1, 0, 2, 4],
      actual: 7,
      expected: expect.closeTo(o[position]!, 5),
    });
    expect(comparison).toMatchObject({ pass: false, lseError: null });
  });

  it("reads o through the problem's strides", () => {
    const shape = squareShape(2, 3, 4, 5);
    const dense = denseProblem(shape);
    const problem = { ...dense, strides: { ...dense.strides, o: [40, 7, 14, 1] as const } };
    const inputs = randomInputs(problem, { seed: 7 });
    const { o, lse } = exactOutput(dense, inputs);
    const spread = toStrided(o, [1, 2, 3, 5], problem.strides.o, 3);
    expect(compareAttention(problem, inputs, { o: spread, lse }).pass).toBe(true);
    expect(compareAttention(problem, inputs, { o: spread.with(7 + 14 + 4, 2), lse }).where?.index).toEqual([
      0, 1, 1, 4,
    ]);
  });

  it("refuses arrays that are too short", () => {
    const problem = denseProblem(squareShape(2, 3, 4, 5));
    const inputs = randomInputs(problem, { seed: 8 });
    const { o, lse } = exactOutput(problem, inputs);
    const code = expect.objectContaining({ code: "ATTENTION_OUTPUT" });
    expect(() => compareAttention(problem, inputs, { o: o.subarray(1), lse })).toThrow(code);
    expect(() => compareAttention(problem, inputs, { o, lse: lse.subarray(1) })).toThrow(code);
  });
});

requireData(...LAYER_FILES)("the rule on a real model", () => {
  it.each(LAYER_FILES)("%s", (file) => {
    const { problem, inputs, o, lse } = loadLayer(file);
    expectAllWrongFail(problem, inputs);
    expect(compareAttention(problem, inputs, { o, lse })).toMatchObject({ pass: true });
  });
});

requireData(...GOLDEN_FILES)("the rule on golden values", () => {
  it("passes all, and none that is off by 4 bounds", () => {
    const odd: string[] = [];
    for (const { name, problem, inputs, o, lse } of loadGoldenCases()) {
      const truth = attentionTruth(problem, inputs);
      const last = o.length - 1;
      const off = o.with(last, o[last]! + 4 * truth.bound);
      if (!compareWithTruth(problem, truth, { o, lse }).pass) odd.push(`${name} does not pass`);
      if (compareWithTruth(problem, truth, { o: off, lse }).pass) odd.push(`${name} passes though it is off`);
    }
    expect(odd).toEqual([]);
  });
});
