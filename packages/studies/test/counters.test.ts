/** Which workgroups stand for all, and how well they do. */

import fc from "fast-check";
import { expect, it } from "vitest";
import { fitPoint, randomInputs, rungById } from "@evolver/attention";
import { h200Datasheet, openSim, type Counters } from "@evolver/device";
import { bindPlan } from "../src/attention/bind.ts";
import { countPlan, sampleOf } from "../src/attention/counters.ts";
import { attentionPlan } from "../src/attention/plan.ts";
import { parseShape } from "../src/attention/shape.ts";

/** Problems of many heads, with so many tiles a head. */
const launches = fc
  .record({
    batch: fc.integer({ min: 1, max: 3 }),
    heads: fc.integer({ min: 1, max: 40 }),
    sequence: fc.integer({ min: 1, max: 4096 }),
    dim: fc.constantFrom(32, 64, 128),
    rows: fc.constantFrom(1, 2, 8, 16, 64),
    pick: fc.nat({ max: 0xffffffff }),
  })
  .map(({ batch, heads, sequence, dim, rows, pick }) => {
    const tiles = Math.ceil(sequence / rows);
    const problem = parseShape(`B${batch},H${heads},S${sequence},D${dim}`);
    return { problem, tiles, heads: batch * heads, workgroups: batch * heads * tiles, pick };
  });

it("is some tiles of one head, each once and in order, or all", () => {
  fc.assert(
    fc.property(launches, ({ problem, tiles, heads, workgroups, pick }) => {
      const sample = sampleOf(workgroups, problem, pick);
      if (sample === null) return;
      const first = (pick % heads) * tiles;
      expect(sample.length).toBeGreaterThan(0);
      expect(sample.length).toBeLessThan(workgroups);
      expect(sample[0]).toBeGreaterThanOrEqual(first);
      expect(sample.at(-1)).toBeLessThan(first + tiles);
      for (const [i, index] of sample.entries())
        if (i > 0) expect(index).toBeGreaterThan(sample[i - 1] as number);
    }),
    { numRuns: 500 },
  );
});

it("is exact for work that is constant or grows evenly along the tiles", () => {
  fc.assert(
    fc.property(launches, ({ problem, tiles, heads, workgroups, pick }) => {
      const sample = sampleOf(workgroups, problem, pick);
      if (sample === null) return;
      const work = (index: number): number => 5 + 3 * (index % tiles);
      const sampled = sample.reduce((sum, index) => sum + work(index), 0) * (workgroups / sample.length);
      const all = heads * (5 * tiles + (3 * tiles * (tiles - 1)) / 2);
      expect(Math.abs(sampled - all)).toBeLessThan(1e-9 * all);
    }),
    { numRuns: 500 },
  );
});

it("is everything where that is affordable, and where workgroups are not tiles of heads", () => {
  expect(sampleOf(64, parseShape("H4,S128,D32"), 7)).toBeNull();
  expect(sampleOf(4, parseShape("H4,S2048,D128"), 7)).toBeNull();
  expect(sampleOf(132, parseShape("H64,S2048,D128"), 7)).toBeNull();
});

it("is small where the problem is large, and of another head for another pick", () => {
  const problem = parseShape("Hq32,Hkv8,S4096,D128,causal");
  const [a, b] = [sampleOf(32 * 512, problem, 0), sampleOf(32 * 512, problem, 33)];
  expect(a).toHaveLength(4);
  expect(b).toEqual(a?.map((index) => index + 512));
});

/** What grows with the work; the rest is exact or does not matter. */
const COMPARED = [
  "globalReadBytes",
  "globalWriteBytes",
  "globalSectors",
  "sharedReadBytes",
  "sharedPasses",
  "barriers",
  "flops",
  "specials",
  "issuedArithmetic",
  "issuedMemory",
] as const satisfies readonly (keyof Counters)[];

it.each([
  ["S256,D64", "k03", 1e-12],
  ["S256,D64,causal", "k03", 0.01],
  ["S256,D64,causal", "k01", 0.01],
  ["S250,D64,causal", "k04", 0.03],
])("on H1,%s the counters of %s are within %d of those of a full run", async (shape, rung, tolerance) => {
  const problem = parseShape(`H1,${shape}`);
  const device = openSim({ subgroup: h200Datasheet.subgroupSize });
  const point = fitPoint(rungById(rung).point, problem, device.subgroupSize);
  const plan = attentionPlan(point, problem, device.subgroupSize);
  const { q, k, v } = randomInputs(problem, { seed: 1 });
  const bound = await bindPlan(plan, device, { q, k, v });
  try {
    const { counters, sampledWorkgroups, workgroups } = await countPlan(bound, problem, h200Datasheet, 5);
    expect(sampledWorkgroups).toBeLessThan(workgroups);
    const [full] = await bound.run();
    for (const name of COMPARED) {
      const expected = full?.counters?.[name] ?? Number.NaN;
      expect(Math.abs(counters[name] - expected), name).toBeLessThanOrEqual(tolerance * expected);
    }
  } finally {
    bound.destroy();
    await device.close();
  }
});
