/** Numbers at the ends of their types: scores that are large before they are scaled, positions near 2^31, sums of many terms. */

import { openDevice, type Device } from "@evolver/device";
import { Random } from "@evolver/base";
import { attention, attentionTruth, createProblem, ladder, referenceAttention } from "@evolver/attention";
import type { FloatInputs } from "@evolver/attention";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inFull } from "../../../test/support/full.ts";
import { squareShape } from "./support/problems.ts";
import { checkPointOn, runPoint } from "./support/run.ts";

let cpu: Device;
beforeAll(async () => {
  cpu = await openDevice("cpu");
});
afterAll(() => cpu.close());

const kernels = [undefined, ...ladder.map(({ id }) => id)];

describe("scores whose dot products would overflow", () => {
  const D = 8;
  it.each([
    { name: "the usual scale", size: 1.05e19, options: {}, keys: 3 },
    { name: "a small scale", size: 3e20, options: { scale: 1e-5 }, keys: 1 },
    { name: "a small negative scale", size: 3e20, options: { scale: -1e-5 }, keys: 5 },
    { name: "the smallest scale in full precision", size: 1e23, options: { scale: 2 ** -126 }, keys: 40 },
    { name: "a softcap", size: 1e20, options: { scale: 1e-38, softcap: 50 }, keys: 4 },
    { name: "a tiny softcap", size: 1e10, options: { scale: 1e-10, softcap: 1e-38 }, keys: 4 },
    { name: "a scale near the end of float32", size: 2e-19, options: { scale: -3.2e38 }, keys: 40 },
    { name: "a scale of 0", size: 1e20, options: { scale: 0 }, keys: 7 },
  ])("$name", async ({ size, options, keys }) => {
    const problem = createProblem(squareShape(1, 1, keys, D), options);
    const v = Float32Array.from({ length: keys * D }, (_, i) => Math.cos(i));
    const inputs = { q: new Float32Array(D).fill(size), k: new Float32Array(keys * D).fill(size), v };
    const { o: expected, lse: logarithm } = referenceAttention(problem, inputs);
    expect(Math.abs(logarithm[0]!)).toBeLessThan(3.4e38);
    for (const { id, point } of ladder) {
      const { o, lse } = await runPoint(cpu, point, problem, inputs);
      for (const [d, value] of expected.entries()) expect(o[d], `${id}, column ${d}`).toBeCloseTo(value, 5);
      expect(lse[0]! / (logarithm[0]! || 1), id).toBeCloseTo(logarithm[0] === 0 ? 0 : 1, 5);
    }
  });

  it("changes no bit of ordinary results: the early part of the scale is a power of 2", async () => {
    const shape = squareShape(1, 9, 40, 16);
    const random = new Random(3);
    const draw = (length: number) => Float32Array.from({ length }, () => random.normal());
    const inputs: FloatInputs = { q: draw(9 * 16), k: draw(40 * 16), v: draw(40 * 16) };
    const { point } = ladder[3]!;
    const run = (scale: number, size: number) =>
      runPoint(cpu, point, createProblem(shape, { scale }), { ...inputs, q: inputs.q.map((x) => x * size) });
    const [one, other] = [await run(0.3, 1), await run(0.3 * 2 ** -20, 2 ** 20)];
    expect(other.o).toEqual(one.o);
    expect(other.lse).toEqual(one.lse);
  });
});

describe("positions", () => {
  it.each([
    [2 ** 30 + 7, [3, Infinity]],
    [2 ** 31 - 1, [3, 0]],
    [2 ** 31 - 1, [3, 2 ** 31 - 2]],
    [2 ** 31 - 1, [700, 5]],
    [2 ** 31 - 1, [0, Infinity]],
  ] as const)("of %i keys, window %o", async (seqK, window) => {
    // All keys are the same one, so that only how many are seen shows, in the lse.
    const v = Float32Array.from({ length: 8 }, (_, i) => i - 2.5);
    const rows = (data: Float32Array) => ({ data, shape: [1, 1, seqK, 8], strides: [8, 8, 0, 1] as const });
    const seen = window[0] + 1;
    for (const kernel of kernels) {
      const { o, lse } = await attention(cpu, {
        q: { data: new Float32Array(8).fill(0.5), shape: [1, 1, 1, 8] },
        k: rows(new Float32Array(8).fill(1)),
        v: rows(v),
        window,
        lse: true,
        ...(kernel !== undefined && { kernel }),
      });
      expect(lse![0], kernel).toBeCloseTo(4 / Math.sqrt(8) + Math.log(seen), 5);
      for (const [d, value] of v.entries()) expect(o[d], kernel).toBeCloseTo(value, 5);
    }
  });
});

describe("rows of many keys", () => {
  const lengths = inFull([5000, 2 ** 15 + 3, 2 ** 17, 2 ** 20], [5000, 2 ** 17]);
  it.each(lengths)("%i equal keys and values: what they add up to does not drift", async (seqK) => {
    const value = Math.fround(0.7);
    const rows = (data: Float32Array) => ({ data, shape: [1, 1, seqK, 2], strides: [2, 2, 0, 1] as const });
    for (const kernel of inFull(kernels, [undefined, "k01", "k04", "k11"])) {
      const { o } = await attention(cpu, {
        q: { data: new Float32Array(2), shape: [1, 1, 1, 2] },
        k: rows(new Float32Array(2)),
        v: rows(new Float32Array(2).fill(value)),
        ...(kernel !== undefined && { kernel }),
      });
      expect(Math.abs(o[0]! / value - 1), kernel).toBeLessThan(1e-5);
    }
  });

  it("weights that alternate, and rise so that sums are rescaled all the time", async () => {
    const seqK = 20_000;
    const problem = createProblem(squareShape(1, 2, seqK, 4), { scale: 1 });
    const k = new Float32Array(seqK * 4);
    for (let key = 0; key < seqK; key++) k[key * 4] = (key % 2 === 0 ? 1 : 0.3) + key / 3000;
    const inputs = {
      q: Float32Array.of(1, 0, 0, 0, -1, 0, 0, 0),
      k,
      v: new Float32Array(seqK * 4).fill(0.7),
    };
    const truth = attentionTruth(problem, inputs);
    for (const { id, point } of ladder)
      expect([id, (await checkPointOn(cpu, point, problem, inputs, truth)).verdict]).toEqual([id, "right"]);
  });
});
