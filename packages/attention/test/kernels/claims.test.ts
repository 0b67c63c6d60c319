/** The claims of the rungs hold, fail where they should, and what the rungs say was found is so. */

import {
  createProblem,
  ladder,
  planAttention,
  randomInputs,
  rungById,
  runClaims,
  type FlashPoint,
} from "@evolver/attention";
import { openDevice } from "@evolver/device";
import type { Counters, Device } from "@evolver/device";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runPoint } from "../support/run.ts";

describe("claims", () => {
  let sim: Device;
  beforeAll(async () => {
    sim = await openDevice("sim", { subgroup: 32 });
  });
  afterAll(() => sim.close());

  it.each(ladder)("of $id hold", async (rung) => {
    const results = await runClaims(sim, rung);
    expect(results.length).toBeGreaterThan(0);
    expect(results.filter(({ holds }) => !holds)).toEqual([]);
  });

  it("of k04 fail with k03's layout", async () => {
    const rung = { ...rungById("k04"), point: rungById("k03").point };
    const [first] = await runClaims(sim, rung);
    expect(first).toMatchObject({ holds: false, value: 57_344, limit: 0 });
  });

  it("of k03 fail for tiles with a single user", async () => {
    const [bytes, conflicts] = await runClaims(sim, { ...rungById("k03"), point: rungById("k02").point });
    expect(bytes).toMatchObject({ holds: false, value: 1 });
    expect(conflicts).toMatchObject({ holds: true, value: 8 });
  });

  it("of k03 fail where narrow reads make the conflicts 32-way", async () => {
    const { point } = rungById("k03");
    const results = await runClaims(sim, { ...rungById("k03"), point: { ...point, vector: 1 } });
    expect(results[1]).toMatchObject({ holds: false, value: 32, limit: 8 });
  });

  it("cannot compare with a later rung", async () => {
    const rung = { ...rungById("k02"), claims: rungById("k03").claims };
    await expect(runClaims(sim, rung)).rejects.toMatchObject({ code: "UNKNOWN_RUNG" });
  });

  it("need a device that counts, at the width they are about", async () => {
    const cpu = await openDevice("cpu", { subgroup: 32 });
    const narrow = await openDevice("sim", { subgroup: 8 });
    await expect(runClaims(cpu, ladder[0]!)).rejects.toMatchObject({ code: "CLAIMS_NEED_COUNTERS" });
    await expect(runClaims(narrow, ladder[0]!)).rejects.toMatchObject({ code: "CLAIMS_NEED_COUNTERS" });
    await Promise.all([cpu.close(), narrow.close()]);
  });

  it("belong to rungs that exist", () => {
    expect(() => rungById("k00")).toThrowError(expect.objectContaining({ code: "UNKNOWN_RUNG" }));
    expect(ladder.map(({ id }) => id)).toEqual(ladder.map(({ id }) => id).toSorted());
  });
});

/** Numbers in the rungs' `found`; for 64 queries and keys of one head. */
describe("what was found", () => {
  let sim: Device;
  beforeAll(async () => {
    sim = await openDevice("sim", { subgroup: 32 });
  });
  afterAll(() => sim.close());

  async function counted(point: FlashPoint, dim: number): Promise<Counters> {
    const shape = { batch: 1, headsQ: 1, headsKv: 1, seqQ: 64, seqK: 64, dim };
    const problem = createProblem(shape);
    const { result } = await runPoint(sim, point, problem, randomInputs(problem, { seed: 1 }));
    return result.counters!;
  }

  it.each([
    { id: "k01", sectors: 99_328, passes: 8320, arithmetic: 73_152 },
    { id: "k02", sectors: 66_560, passes: 98_432, arithmetic: 126_016 },
    { id: "k03", sectors: 9216, passes: 84_096, arithmetic: 51_520 },
    { id: "k04", sectors: 9216, passes: 26_752, arithmetic: 51_520 },
  ])("$id's numbers", async ({ id, sectors, passes, arithmetic }) => {
    const { point } = rungById(id);
    const counters = await counted(point, 64);
    const { lse: _, ...memory } = counters.memory;
    const global = Object.values(memory).reduce((sum, m) => sum + m.readSectors + m.writeSectors, 0);
    expect({ sectors: global, passes: counters.sharedPasses }).toEqual({ sectors, passes });
    // The logarithms, which the rungs' text leaves out, cost a few more instructions.
    expect(counters.issuedArithmetic).toBeGreaterThanOrEqual(arithmetic);
    expect(counters.issuedArithmetic).toBeLessThan(arithmetic * 1.02);
  });

  it.each([
    { dim: 80, rowMajor: 30_720, swizzled: 10_240 },
    { dim: 40, rowMajor: 5120, swizzled: 5120 },
    { dim: 59, rowMajor: 0, swizzled: 0 },
  ])("padding removes all conflicts at $dim columns, swizzling not", async ({ dim, rowMajor, swizzled }) => {
    const { point } = rungById("k03");
    const conflicts = async (layout: FlashPoint["layout"]): Promise<number> =>
      (await counted({ ...point, layout }, dim)).sharedConflicts;
    expect([await conflicts("row-major"), await conflicts("swizzled"), await conflicts("padded")]).toEqual([
      rowMajor,
      swizzled,
      0,
    ]);
  });

  it("padding costs 512 bytes, swizzling none", () => {
    const shape = { batch: 1, headsQ: 1, headsKv: 1, seqQ: 64, seqK: 64, dim: 64 };
    const bytes = (layout: FlashPoint["layout"]): number =>
      planAttention({ ...rungById("k03").point, layout }, createProblem(shape), {
        subgroup: 32,
        writeLse: false,
      }).sharedBytes;
    expect(bytes("padded") - bytes("row-major")).toBe(512);
    expect(bytes("swizzled") - bytes("row-major")).toBe(0);
  });
});
