/** Which tiles stand for all, and how well they do. */

import fc from "fast-check";
import { expect, it } from "vitest";
import { attentionPlan, fitPoint, randomInputs, rungById } from "@evolver/attention";
import { h200Datasheet } from "@evolver/machine";
import { bindPlan, buildOf, openSim, type Counters, type PlanLaunch } from "@evolver/device";
import { countAttention, sampleOf, sectionSampleOf } from "@evolver/attention/study/internal";
import { countTiles } from "@evolver/attention/study/internal";
import { parseShape } from "@evolver/attention/study/internal";

/** Problems of many heads, with so many tiles per head. */
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
      const sample = sampleOf(workgroups, tiles, problem, pick);
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
      const sample = sampleOf(workgroups, tiles, problem, pick);
      if (sample === null) return;
      const work = (index: number): number => 5 + 3 * (index % tiles);
      const sampled = sample.reduce((sum, index) => sum + work(index), 0) * (workgroups / sample.length);
      const all = heads * (5 * tiles + (3 * tiles * (tiles - 1)) / 2);
      expect(Math.abs(sampled - all)).toBeLessThan(1e-9 * all);
    }),
    { numRuns: 500 },
  );
});

it("is everything where that is affordable", () => {
  expect(sampleOf(64, 16, parseShape("H4,S128,D32"), 7)).toBeNull();
  expect(sampleOf(4, 1, parseShape("H4,S2048,D128"), 7)).toBeNull();
});

it("is small where the problem is large, and of another head for another pick", () => {
  const problem = parseShape("Hq32,Hkv8,S4096,D128,causal");
  const [a, b] = [sampleOf(32 * 512, 512, problem, 0), sampleOf(32 * 512, 512, problem, 33)];
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

/** A small problem on the simulator, counted as a study would and in full. */
async function countBoth(shape: string, rung: string) {
  const problem = parseShape(shape);
  const device = openSim({ subgroup: h200Datasheet.subgroupSize });
  const point = fitPoint(rungById(rung).point, problem, device.subgroupSize);
  const inputs = { ...randomInputs(problem, { seed: 1 }) };
  const bound = await bindPlan(device, attentionPlan(point, problem, buildOf(device)), { inputs });
  try {
    const counted = await countAttention(bound, {
      problem,
      machine: h200Datasheet,
      seed: 5,
      inputs: () => inputs,
    });
    const [full] = await bound.run();
    return { ...counted, full: full?.counters as Counters };
  } finally {
    bound.destroy();
    await device.close();
  }
}

it.each([
  ["S256,D64", "k03", 1e-12],
  ["S256,D64,causal", "k03", 0.01],
  ["S256,D64,causal", "k01", 0.01],
  ["S250,D64,causal", "k04", 0.03],
  ["S256,D64", "k08", 1e-12],
  ["S256,D64,causal", "k08", 0.01],
  ["S250,D64,causal", "k08", 0.03],
])("on H1,%s the counters of %s are within %d of those of a full run", async (shape, rung, tolerance) => {
  const { counters, sampledTiles, tiles, full } = await countBoth(`H1,${shape}`, rung);
  expect(sampledTiles).toBeLessThan(tiles);
  for (const name of COMPARED)
    expect(Math.abs(counters[name] - full[name]), name).toBeLessThanOrEqual(tolerance * full[name]);
});

it.each(["k09", "k10"])("the counters of %s are those of a full run where heads are alike", async (rung) => {
  const { counters, sampledTiles, tiles, full } = await countBoth("Hq12,Hkv3,S64,D64", rung);
  expect(sampledTiles).toBeLessThan(tiles);
  for (const name of COMPARED)
    expect(Math.abs(counters[name] - full[name]), name).toBeLessThanOrEqual(1e-12 * full[name]);
});

it("the counters of a persistent launch are exact from its tiles one by one", async () => {
  const problem = parseShape("Hq4,Hkv2,S20,D16,causal");
  const device = openSim({ subgroup: 32 });
  const inputs = { ...randomInputs(problem, { seed: 2 }) };
  for (const rung of ["k08", "k10"]) {
    const plan = attentionPlan(rungById(rung).point, problem, { subgroup: 32, forwardProgress: true });
    const [launch] = plan.launches as [PlanLaunch];
    // Fewer workgroups than tiles, so that some take several.
    const few = { ...plan, launches: [{ ...launch, workgroups: [3, 1, 1] as const }] };
    const bound = await bindPlan(device, few, { inputs });
    const tiles = Array.from({ length: launch.args["tileCount"] as number }, (_, i) => i);
    expect(tiles.length).toBeGreaterThan(3);
    const [full] = await bound.run();
    expect(await countTiles(bound, inputs, tiles)).toEqual(full?.counters);
    bound.destroy();
  }
  await device.close();
});

it("samples what the order of causal tiles makes neighbours of one head", () => {
  const problem = parseShape("H64,S2048,D128,causal");
  // Sections of 16 heads: in one, tile after tile of all heads.
  expect(sectionSampleOf(64 * 256, 256, 16, problem, 3)).toEqual([32, 96, 159, 223].map((t) => t * 16 + 3));
  expect(sectionSampleOf(64, 1, 16, parseShape("H64,S8,D8,causal"), 3)).toBeNull();
});
