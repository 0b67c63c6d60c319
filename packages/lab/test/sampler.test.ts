import { describe, expect, it } from "vitest";
import { Random, compareSamplers, deriveSeed, pointKey, samplerNamed, spaceSize } from "../src/index.ts";
import type { Axis, Memory, Space, Study } from "../src/index.ts";
import { fakeBaseline, fakeDefinition, fakeTime, openFakeJudge } from "./fake.ts";

async function openFake(): Promise<Study> {
  return fakeDefinition.open({ size: 1 }, { id: "sim" });
}

/** Lets a sampler look for so many trials; rejects some points as a judge would. */
function searchWith(space: Space, name: string, seed: number, trials: number): Memory[] {
  const memory: Memory[] = [];
  const add = (point: Memory["point"], parents: readonly number[]): void => {
    const timeMs = point["unroll"] === 4 && point["pipeline"] === 2 ? null : fakeTime(point);
    memory.push({ trial: memory.length, key: pointKey(space, point), point, parents, timeMs });
  };
  add(fakeBaseline, []);
  for (let i = 0; i < trials; i++) {
    const random = new Random(deriveSeed(seed, i));
    const [proposal] = samplerNamed(name).propose({
      space,
      memory,
      count: 1,
      focus: ["tile"],
      explore: 0.1,
      random,
    });
    if (!proposal) break;
    add(proposal.point, proposal.parents);
  }
  return memory;
}

describe("random numbers", () => {
  it("are the same for the same seed, on every machine", () => {
    const random = new Random(1);
    expect([random.uint32(), random.uint32(), random.uint32()]).toMatchInlineSnapshot(`
      [
        1228717301,
        3049624397,
        280347311,
      ]
    `);
  });

  it("are uniform, and streams of neighbouring seeds unrelated", () => {
    const [a, b] = [new Random(7), new Random(8)];
    const buckets = new Array<number>(10).fill(0);
    let product = 0;
    for (let i = 0; i < 20_000; i++) {
      const [x, y] = [a.uniform(), b.uniform()];
      buckets[Math.floor(x * 10)]!++;
      product += (x - 0.5) * (y - 0.5);
    }
    for (const count of buckets) expect(Math.abs(count - 2000)).toBeLessThan(200);
    expect(Math.abs(product / 20_000)).toBeLessThan(0.003);
  });

  it("derive a different seed for each label", () => {
    const seeds = new Set([
      deriveSeed(1),
      deriveSeed(2),
      deriveSeed(1, "a"),
      deriveSeed(1, 1),
      deriveSeed(1, "1"),
    ]);
    expect(seeds.size).toBe(5);
  });
});

describe.each(["random", "evolutionary"])("the %s sampler", (name) => {
  it("never proposes an invalid point or one twice, and exhausts the space", async () => {
    const { space } = await openFake();
    const [tile, stage, layout, pipeline] = space.axes as [Axis, Axis, Axis, Axis];
    const smaller: Space = { ...space, axes: [tile, stage, layout, { ...pipeline, values: [1, 2] }] };
    const memory = searchWith(smaller, name, 3, spaceSize(smaller));
    expect(new Set(memory.map(({ key }) => key)).size).toBe(memory.length);
    for (const { point } of memory) expect(space.whyInvalid(point)).toBeNull();
    // 6 tiles × (1 global + 3 shared layouts) × 2 pipelines.
    expect(memory.length).toBe(6 * 4 * 2);
  });

  it("proposes the same for the same seed and something else for another", async () => {
    const study = await openFake();
    const keys = (seed: number): string[] => searchWith(study.space, name, seed, 30).map(({ key }) => key);
    expect(keys(5)).toEqual(keys(5));
    expect(keys(5)).not.toEqual(keys(6));
  });

  it("gives several different proposals at once", async () => {
    const study = await openFake();
    const memory = searchWith(study.space, name, 1, 12);
    const context = { space: study.space, memory, focus: [], explore: 0.1, random: new Random(1) };
    const proposals = samplerNamed(name).propose({ ...context, count: 8 });
    expect(new Set(proposals.map(({ point }) => pointKey(study.space, point))).size).toBe(8);
  });
});

describe("the evolutionary sampler", () => {
  it("names the parents and the reason of a child", async () => {
    const memory = searchWith((await openFake()).space, "evolutionary", 1, 20);
    const children = memory.filter(({ parents }) => parents.length > 0);
    expect(children.length).toBeGreaterThan(5);
    for (const { trial, parents } of children)
      for (const parent of parents) expect(parent).toBeLessThan(trial);
  });

  it("beats random search at the same number of trials on at least 8 of 10 seeds", async () => {
    const openJudge = openFakeJudge();
    const report = await compareSamplers(fakeDefinition, { trials: 40, seeds: 10, openJudge });
    expect(report.rows).toHaveLength(10);
    expect(report.wins + report.ties + report.losses).toBe(10);
    expect(report.wins).toBeGreaterThanOrEqual(8);
    expect(report.text).toContain(`on ${report.wins} of 10 seeds`);
  });

  it("does not beat itself", async () => {
    const openJudge = openFakeJudge();
    const report = await compareSamplers(fakeDefinition, {
      trials: 20,
      seeds: 4,
      openJudge,
      sampler: "random",
    });
    expect(report).toMatchObject({ wins: 0, ties: 4, losses: 0 });
  });
});

it("an unknown sampler is refused with the names of those there are", () => {
  expect(() => samplerNamed("genetic")).toThrow(/evolutionary, random/);
});
