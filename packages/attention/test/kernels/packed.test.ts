/** Query heads packed into tiles: right for every group, and worth it where there are few queries. */

import { attentionTruth, claimCounters, createProblem, randomInputs, rungById } from "@evolver/attention";
import type { AttentionProblem, ScoreOptions } from "@evolver/attention";
import { openDevice } from "@evolver/device";
import type { Counters, Device } from "@evolver/device";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkPointOn, runPoint } from "../support/run.ts";

const packed = ["k09", "k10"].map((id) => rungById(id));
const GROUPS = [1, 3, 7, 8, 16];
const QUERIES = [1, 2, 9];

function grouped(group: number, seqQ: number, seqK: number, options: ScoreOptions = {}): AttentionProblem {
  return createProblem({ batch: 2, headsQ: 2 * group, headsKv: 2, seqQ, seqK, dim: 8 }, options);
}

describe.each([
  { title: "sim, subgroups of 32", open: () => openDevice("sim", { subgroup: 32 }) },
  { title: "sim, subgroups of 8", open: () => openDevice("sim", { subgroup: 8 }) },
  { title: "cpu", open: () => openDevice("cpu") },
])("on $title", ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.close());

  it.each(GROUPS)("groups of %d, decoding and with more queries, under every mask", async (group) => {
    for (const seqQ of QUERIES)
      for (const options of [{}, { causal: true }, { window: [4, 2] as const }]) {
        const problem = grouped(group, seqQ, 23, options);
        const inputs = randomInputs(problem, { seed: group });
        const truth = attentionTruth(problem, inputs);
        for (const { id, point } of packed) {
          const { verdict } = await checkPointOn(device, point, problem, inputs, truth);
          expect([id, seqQ, options, verdict]).toEqual([id, seqQ, options, "right"]);
        }
      }
  });

  it("is the same to the bit as by index where all keys are visible", async () => {
    const problem = grouped(3, 11, 40);
    const inputs = randomInputs(problem, { seed: 6 });
    const byIndex = await runPoint(device, rungById("k06").point, problem, inputs);
    for (const { point } of packed) {
      const { o, lse } = await runPoint(device, point, problem, inputs);
      expect(o).toEqual(byIndex.o);
      expect(lse).toEqual(byIndex.lse);
    }
  });
});

describe("what packing reads", () => {
  let sim: Device;
  beforeAll(async () => {
    sim = await openDevice("sim", { subgroup: 32 });
  });
  afterAll(() => sim.close());

  const shape = { batch: 1, headsQ: 4, headsKv: 1, seqQ: 64, seqK: 64, dim: 64 };
  const counted = (id: string, problem: AttentionProblem): Promise<Counters> =>
    claimCounters(sim, rungById(id).point, { problem });
  const keysAndValues = async (id: string, problem: AttentionProblem): Promise<number> => {
    const { memory } = await counted(id, problem);
    return memory["k"]!.readBytes + memory["v"]!.readBytes;
  };

  it.each([2, 3, 7, 8])(
    "decoding, groups of %d: each byte of K and V once, where by index it is that often",
    async (group) => {
      const problem = createProblem({ ...shape, headsQ: group, seqQ: 1 }, { causal: true });
      expect(await keysAndValues("k09", problem)).toBe(2 * 64 * 64 * 4);
      expect(await keysAndValues("k06", problem)).toBe(group * 2 * 64 * 64 * 4);
    },
  );

  it("k09's numbers, in what it says was found", async () => {
    const decoding = rungById("k09").claimCase!.problem;
    expect((await counted("k06", decoding)).flops).toBe(1_127_424);
    expect((await counted("k09", decoding)).flops).toBe(282_624);
    const full = createProblem(shape);
    for (const id of ["k06", "k09"]) {
      expect((await counted(id, full)).workgroups).toBe(32);
      expect(await keysAndValues(id, full)).toBe(1_048_576);
    }
    expect((await counted("k06", full)).issuedArithmetic).toBe(213_760);
    expect((await counted("k09", full)).issuedArithmetic).toBe(216_704);
    const causal = createProblem(shape, { causal: true });
    expect(await keysAndValues("k06", causal)).toBe(589_824);
    expect(await keysAndValues("k09", causal)).toBe(540_672);
  });

  it("k10's numbers, in what it says was found", async () => {
    const { claimCase } = rungById("k10");
    const { globalAtomics } = await claimCounters(sim, rungById("k10").point, claimCase);
    const { globalAtomics: byIndex } = await claimCounters(sim, rungById("k08").point, claimCase);
    // Besides the tiles: five workgroups that ask once in vain, and the counter set back.
    expect([globalAtomics - 6, byIndex - 6]).toEqual([12, 48]);
  });
});
