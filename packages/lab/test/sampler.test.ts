import { Random, deriveSeed } from "@evolver/base";
import { describe, expect, it } from "vitest";
import { compareSamplers, pointKey, samplerNamed, spaceSize } from "@evolver/lab";
import type { Axis, Memory, Space, OpenStudy } from "@evolver/lab";
import { fakeBaseline, fakeStudy, fakeTime, openFakeJudge } from "./support/fake-study.ts";

async function openFake(): Promise<OpenStudy> {
  return fakeStudy.open({ size: 1 }, { id: "sim" });
}

/** Lets a sampler look for so many trials; rejects some points as a judge would. */
function searchWith(space: Space, name: string, seed: number, trials: number): Memory[] {
  const memory: Memory[] = [];
  const add = (point: Memory["point"], parents: readonly number[]): void => {
    const timeMs = point["unroll"] === 4 && point["pipeline"] === 2 ? null : fakeTime(point);
    memory.push({ trial: memory.length, key: pointKey(space, point), point, parents, timeMs, judged: true });
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
    const report = await compareSamplers(fakeStudy, { trials: 40, seeds: 10, openJudge });
    expect(report.rows).toHaveLength(10);
    expect(report.wins + report.ties + report.losses).toBe(10);
    expect(report.wins).toBeGreaterThanOrEqual(8);
    expect(report.text).toContain(`on ${report.wins} of 10 seeds`);
  });

  it("does not beat itself", async () => {
    const openJudge = openFakeJudge();
    const report = await compareSamplers(fakeStudy, {
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
