/** Plans that the study did not make are counted by lot or in full, whatever they say of themselves. */

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attentionPlan, fitPoint, randomInputs, rungById } from "@evolver/attention";
import { countModuleCandidate, drawnWorkgroups } from "@evolver/lab";
import { h200Datasheet } from "@evolver/machine";
import { bindPlan, buildOf, openSim, type Counters, type Device, type Plan } from "@evolver/device";
import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import { sampleOf } from "@evolver/attention/study/internal";
import { workOf } from "@evolver/attention/study/internal";
import { parseShape } from "@evolver/attention/study/internal";

let device: Device;
beforeAll(() => {
  device = openSim({ subgroup: 32 });
});
afterAll(() => device.close());

/** Large enough for a sample. */
const SHAPE = "B1,H8,S512,D32";
const WORKGROUPS = 64;
const NEEDED = 4 * 8 * 512 * 512 * 32;

/** Counts a plan as one that a module made. */
async function countedAs(plan: Plan, shape: string, pick: number) {
  const problem = parseShape(shape);
  const bound = await bindPlan(device, plan, { inputs: { ...randomInputs(problem, { seed: 1 }) } });
  try {
    return await countModuleCandidate(bound, h200Datasheet, workOf(problem), pick);
  } finally {
    bound.destroy();
  }
}

/**
 * A plan of the right buffers whose workgroups only multiply and add: `work` says how much of the mean share each does.
 * They rest where `tileCount` is not the true one. @param persistent with a counter, as if tiles were asked for
 */
function busyPlan(work: (workgroup: number) => number, persistent = false): Plan {
  const { batch, headsQ, seqQ, dim } = parseShape(SHAPE).shape;
  const rows = batch * headsQ * seqQ;
  const params = {
    q: buffer(f32),
    k: buffer(f32),
    v: buffer(f32),
    o: buffer(f32, "write"),
    lse: buffer(f32, "write"),
    headTiles: u32,
    tileCount: u32,
    sectionHeads: u32,
    ...(persistent ? { tiles: buffer(u32, "read_write") } : {}),
  };
  const share = NEEDED / WORKGROUPS / 2 / 32;
  const ir = kernel("busy", { params, workgroup: [32] }, (all, gpu) => {
    const { q, o, tileCount } = all;
    const levels = [...new Set(Array.from({ length: WORKGROUPS }, (_, i) => work(i)))];
    for (const level of levels.filter((each) => each > 0)) {
      const members = Array.from({ length: WORKGROUPS }, (_, i) => i).filter((i) => work(i) === level);
      const isMember = members
        .map((i) => gpu.workgroupIndex.eq(i))
        .reduce((one, other) => one.or(other))
        .and(tileCount.eq(WORKGROUPS));
      gpu.if(isMember, () => {
        const sum = gpu.var(f32, 0);
        const factor = q.get(gpu.lane);
        gpu.for({ from: 0, to: Math.ceil(share * level), unroll: 8 }, () => sum.add(factor.mul(factor)));
        o.set(gpu.workgroupIndex.mul(32).add(gpu.lane), sum.get());
      });
    }
  }).build({ subgroup: 32, forwardProgress: true });
  const lengths = { q: rows * dim, k: rows * dim, v: rows * dim, o: rows * dim, lse: rows };
  const buffers = Object.entries(lengths).map(([name, length]) => ({
    name,
    role: name === "o" || name === "lse" ? ("output" as const) : ("input" as const),
    element: "f32" as const,
    length,
  }));
  const scratch = { name: "tiles", role: "scratch", element: "u32", length: 1, zeroed: "once" } as const;
  const names = [...buffers.map(({ name }) => name), ...(persistent ? ["tiles"] : [])];
  const args = {
    ...Object.fromEntries(names.map((name) => [name, { buffer: name }])),
    headTiles: WORKGROUPS,
    tileCount: WORKGROUPS,
    sectionHeads: 1,
  };
  return {
    kernels: [ir],
    buffers: persistent ? [...buffers, scratch] : buffers,
    launches: [{ kernel: 0, workgroups: [WORKGROUPS, 1, 1], args }],
  };
}

describe("the workgroups that stand for all", () => {
  const arbitrary = fc.record({
    workgroups: fc.integer({ min: 1, max: 5000 }),
    sequence: fc.constantFrom(64, 1024, 4096),
    pick: fc.nat({ max: 0xffffffff }),
  });

  it("are distinct, in order, some or all, and misjudge nothing that grows evenly", () => {
    fc.assert(
      fc.property(arbitrary, ({ workgroups, sequence, pick }) => {
        const sample = drawnWorkgroups(workgroups, workOf(parseShape(`H8,S${sequence},D64`)), pick);
        if (sample === null) return;
        expect(sample.length).toBeLessThan(workgroups);
        expect(sample).toEqual([...new Set(sample)].toSorted((a, b) => a - b));
        expect(sample[0]).toBeGreaterThanOrEqual(0);
        expect(sample.at(-1)).toBeLessThan(workgroups);
        const mean = sample.reduce((sum, index) => sum + index, 0) / sample.length;
        expect(mean).toBeCloseTo((workgroups - 1) / 2, 9);
      }),
      { numRuns: 300 },
    );
  });

  it("are any of them, from pick to pick", () => {
    const seen = new Set<number>();
    const work = workOf(parseShape("H8,S1024,D64"));
    for (let pick = 0; pick < 200; pick++)
      for (const index of drawnWorkgroups(WORKGROUPS, work, pick) ?? []) seen.add(index);
    expect(seen.size).toBe(WORKGROUPS);
  });
});

it("resting where the study would look at a point's tiles gains nothing", async () => {
  const resting = sampleOf(WORKGROUPS, WORKGROUPS, parseShape(SHAPE), 0) as readonly number[];
  expect(resting.length).toBeGreaterThan(0);
  const share = WORKGROUPS / (WORKGROUPS - resting.length);
  const plan = busyPlan((i) => (resting.includes(i) ? 0 : share));
  let passed = 0;
  for (const pick of [1, 11, 21, 31, 41, 51]) {
    const counted = await countedAs(plan, SHAPE, pick).catch((error: unknown) => error as Error);
    if (counted instanceof Error) expect(counted).toMatchObject({ code: "PLAN_INVALID" });
    else {
      passed++;
      expect(counted.sampledTiles).toBeLessThan(WORKGROUPS);
      expect(counted.counters.flops).toBeGreaterThanOrEqual(0.9 * NEEDED);
    }
  }
  expect(passed).toBeGreaterThan(0);
});

it("all the work in a few workgroups is refused where they are not drawn", async () => {
  await expect(
    countedAs(
      busyPlan((i) => (i === 20 ? 1 : 0)),
      SHAPE,
      5,
    ),
  ).rejects.toMatchObject({ code: "PLAN_INVALID", message: expect.stringMatching(/the problem takes/) });
});

it("what calls itself persistent is launched as it is, so that it cannot tell that it is counted", async () => {
  const { counters, sampledTiles } = await countedAs(
    busyPlan(() => 1, true),
    SHAPE,
    5,
  );
  expect(sampledTiles).toBe(WORKGROUPS);
  expect(counters.flops / NEEDED).toBeCloseTo(1, 1);
});

/** What a rung does, counted as a module's plan and in full. */
async function both(shape: string, rung: string): Promise<readonly [Counters, Counters, boolean]> {
  const problem = parseShape(shape);
  const plan = attentionPlan(fitPoint(rungById(rung).point, problem, 32), problem, buildOf(device));
  const { counters, sampledTiles, tiles } = await countedAs(plan, shape, 3);
  const bound = await bindPlan(device, plan, { inputs: { ...randomInputs(problem, { seed: 1 }) } });
  const [full] = await bound.run();
  bound.destroy();
  return [counters, full?.counters as Counters, sampledTiles < tiles];
}

it.each([
  ["H4,S256,D64", "k03", true],
  ["H4,S256,D64,causal", "k03", true],
  ["H2,S64,D32,causal", "k08", false],
])("on %s an honest module that does as %s does is counted right", async (shape, rung, sampled) => {
  const [counters, full, some] = await both(shape, rung);
  expect(some).toBe(sampled);
  for (const name of ["flops", "globalSectors", "sharedPasses", "issuedArithmetic"] as const)
    expect(Math.abs(counters[name] / full[name] - 1), name).toBeLessThan(0.02);
});
