/** Plans: which problems share a kernel, and how wide its accesses to global memory are. */

import {
  createProblem,
  ladder,
  planAttention,
  randomInputs,
  rungById,
  type AttentionPlan,
  type AttentionProblem,
  type AttentionShape,
} from "@evolver/attention";
import { openDevice } from "@evolver/device";
import { describe, expect, it } from "vitest";
import { runPoint } from "../support/run.ts";

const shape: AttentionShape = { batch: 1, headsQ: 2, headsKv: 1, seqQ: 16, seqK: 64, dim: 64 };
const { point } = rungById("k03");
const plan = (problem: AttentionProblem, writeLse = false): AttentionPlan =>
  planAttention(point, problem, { subgroup: 32, writeLse });

describe("one kernel serves", () => {
  const { kernel } = plan(createProblem(shape));
  it.each<[string, AttentionProblem]>([
    ["other lengths", createProblem({ ...shape, seqQ: 5, seqK: 7 })],
    ["other heads", createProblem({ ...shape, batch: 3, headsQ: 8, headsKv: 4 })],
    ["another scale", createProblem(shape, { scale: -3 })],
    ["other strides that are as aligned", createProblem(shape, { strides: { k: [8192, 8192, 128, 1] } })],
  ])("%s", (_, problem) => expect(plan(problem).kernel).toBe(kernel));

  it.each<[string, AttentionProblem]>([
    ["another head dimension", createProblem({ ...shape, dim: 32 })],
    ["a mask", createProblem(shape, { causal: true })],
    ["a softcap", createProblem(shape, { softcap: 5 })],
    ["rows that are aligned to nothing", createProblem(shape, { strides: { k: [8192, 8192, 65, 1] } })],
    ["elements that are apart", createProblem(shape, { strides: { k: [8192, 8192, 128, 2] } })],
  ])("not %s", (_, problem) => expect(plan(problem).kernel).not.toBe(kernel));

  it("not logarithms", () => expect(plan(createProblem(shape), true).kernel).not.toBe(kernel));

  it("any width, the same at each call", () => {
    const [narrow, wide] = [kernel.build({ subgroup: 8 }), kernel.build({ subgroup: 32 })];
    expect([narrow.workgroupSize[0], wide.workgroupSize[0]]).toEqual([64, 256]);
  });
});

describe("what a launch needs", () => {
  it("is as many workgroups as tiles, none where there are no rows", () => {
    expect(plan(createProblem({ ...shape, seqQ: 17, batch: 3 })).workgroups).toBe(3 * 2 * 3);
    expect(plan(createProblem({ ...shape, seqQ: 0 })).workgroups).toBe(0);
    expect(plan(createProblem({ ...shape, batch: 0 })).workgroups).toBe(0);
  });

  it("is numbers that the kernel's parameters can hold", () => {
    const { kernel, scalars } = plan(createProblem(shape, { scale: 0.1, window: [Infinity, 2 ** 40] }));
    for (const [name, descriptor] of Object.entries(kernel.params)) {
      if (descriptor.kind === "buffer") continue;
      const value = scalars[name as keyof typeof scalars];
      if (descriptor.type === "f32") expect(Math.fround(value)).toBe(value);
      else expect(Number.isInteger(value) && value >= 0 && value < 2 ** 31).toBe(true);
    }
    expect(Object.keys(scalars).length).toBe(Object.keys(kernel.params).length - 5);
  });
});

describe("accesses to K in global memory", () => {
  /** Bytes that a lane asks for at a time. */
  async function width(id: string, strides?: AttentionProblem["strides"]["k"]): Promise<number> {
    const sim = await openDevice("sim", { subgroup: 16 });
    const small = { ...shape, headsQ: 1, seqQ: 1 };
    const problem = createProblem(small, strides === undefined ? {} : { strides: { k: strides } });
    const { result } = await runPoint(sim, rungById(id).point, problem, randomInputs(problem, { seed: 1 }));
    await sim.close();
    const { readBytes, readRequests } = result.counters!.memory["k"]!;
    return readBytes / readRequests / 16;
  }

  it.each<[string, AttentionProblem["strides"]["k"] | undefined, number]>([
    ["four elements wide where rows are dense", undefined, 16],
    ["two wide where rows start at even elements", [4224, 4224, 66, 1], 8],
    ["one wide where rows start anywhere", [4160, 4160, 65, 1], 4],
    ["one wide where only heads are out of step", [4097, 4097, 64, 1], 4],
    ["one wide where elements are apart", [8192, 8192, 128, 2], 4],
  ])("are %s", async (_, strides, bytes) => {
    for (const { id } of ladder) expect([id, await width(id, strides)]).toEqual([id, bytes]);
  });
});

describe("keys that a tile does not see", () => {
  it.each<[string, Parameters<typeof createProblem>[1], number]>([
    ["causal: half of them and the diagonal", { causal: true }, (64 * 65) / 2],
    ["a window: those in reach", { window: [3, 0] }, 4 * 64 - 6],
  ])("are not read, %s", async (_, options, keys) => {
    const sim = await openDevice("sim", { subgroup: 32 });
    const problem = createProblem({ ...shape, headsQ: 1, seqQ: 64 }, options);
    const { result } = await runPoint(
      sim,
      rungById("k02").point,
      problem,
      randomInputs(problem, { seed: 1 }),
    );
    await sim.close();
    expect(result.counters!.memory["k"]!.readBytes).toBe(keys * 64 * 4);
    expect(result.counters!.memory["v"]!.readBytes).toBe(keys * 64 * 4);
  });
});
