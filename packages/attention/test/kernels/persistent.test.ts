/** Persistent workgroups: every tile once whatever their number, launch after launch, in any order of events. */

import {
  attention,
  attentionPlan,
  attentionTruth,
  claimCounters,
  createProblem,
  fitPoint,
  planAttention,
  randomInputs,
  rungById,
} from "@evolver/attention";
import type { AttentionProblem, FlashPoint } from "@evolver/attention";
import { bindPlan, buildOf, openDevice, openSim, type Device } from "@evolver/device";
import { atomic, buffer, kernel, u32 } from "@evolver/kernel";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { queueParams, scalarParams } from "@evolver/attention/internal";
import { schedules } from "@evolver/attention/internal";
import type { QueueSymbols } from "@evolver/attention/internal";
import { checkPointOn, runPoint } from "../support/run.ts";

const persistent = ["k08", "k10", "k12"].map((id) => rungById(id));
const tilesOf = (point: FlashPoint, problem: AttentionProblem): number =>
  planAttention(point, problem, { subgroup: 32, writeLse: true }).tiles;

const ragged = createProblem(
  { batch: 2, headsQ: 6, headsKv: 2, seqQ: 19, seqK: 41, dim: 16 },
  { causal: true },
);

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

  it.each(persistent)(
    "$id, tiles fewer than, as many as, and far more than workgroups",
    async ({ point }) => {
      for (const problem of [
        ragged,
        createProblem(ragged.shape, { window: [5, 3] }),
        createProblem(ragged.shape, { scale: 0.3 }),
      ]) {
        const tiles = tilesOf(point, problem);
        const inputs = randomInputs(problem, { seed: 3 });
        const truth = attentionTruth(problem, inputs);
        for (const persistentWorkgroups of [undefined, tiles, tiles - 1, 3]) {
          const options = { persistentWorkgroups, launches: 2 };
          const { verdict, workgroups } = await checkPointOn(device, point, problem, inputs, truth, options);
          expect([persistentWorkgroups, verdict]).toEqual([persistentWorkgroups, "right"]);
          expect(workgroups).toBe(Math.min(tiles, persistentWorkgroups ?? tiles));
        }
      }
    },
  );

  it.each(persistent)("$id leaves the counter at zero, whatever it was launched with", async ({ point }) => {
    const inputs = { ...randomInputs(ragged, { seed: 4 }) };
    const fitted = fitPoint(point, ragged, device.subgroupSize);
    const tiles = device.createBuffer("u32", 1);
    for (const persistentWorkgroups of [1, 3, 1000]) {
      const options = { ...buildOf(device), writeLse: false, persistentWorkgroups };
      const bound = await bindPlan(device, attentionPlan(fitted, ragged, options), {
        inputs,
        buffers: { tiles },
      });
      await bound.run();
      expect([...(await tiles.read())]).toEqual([0]);
      bound.destroy();
    }
    tiles.destroy();
  });

  it("a counter that does not start at zero leaves tiles out, which outputs full of NaN show", async () => {
    const { point } = rungById("k08");
    const inputs = { ...randomInputs(ragged, { seed: 4 }) };
    const plan = attentionPlan(point, ragged, { ...buildOf(device), writeLse: false });
    const tiles = device.createBuffer("u32", Uint32Array.of(2));
    const bound = await bindPlan(device, plan, { inputs, buffers: { tiles }, fill: "nan" });
    await bound.run();
    const missing = (await bound.read("o")).filter(Number.isNaN).length;
    // Two last tiles of a head, of three rows each.
    expect(missing).toBe(2 * 3 * ragged.shape.dim);
    bound.destroy();
    tiles.destroy();
  });
});

it.each([1, 2, 3, 4])("with seed %d the simulator finds nothing in another order of events", async (seed) => {
  const sim = openSim({ subgroup: 8, seed });
  const problem = createProblem(
    { batch: 1, headsQ: 3, headsKv: 1, seqQ: 17, seqK: 21, dim: 8 },
    { causal: true },
  );
  const inputs = randomInputs(problem, { seed });
  for (const { point } of persistent) {
    const run = await checkPointOn(sim, point, problem, inputs, undefined, {
      persistentWorkgroups: 2,
      launches: 2,
    });
    expect(run.verdict).toBe("right");
  }
  await sim.close();
});

it("300 short sequences come out the same to the bit 20 times over, on threads that take turns", async () => {
  const cpu = await openDevice("cpu");
  const problem = createProblem(
    { batch: 300, headsQ: 2, headsKv: 1, seqQ: 16, seqK: 24, dim: 8 },
    { causal: true },
  );
  const inputs = randomInputs(problem, { seed: 8 });
  const { o, lse } = await runPoint(cpu, rungById("k06").point, problem, inputs);
  for (const persistentWorkgroups of [7, undefined])
    for (let round = 0; round < 10; round++) {
      const options = { launches: 2, persistentWorkgroups };
      const run = await runPoint(cpu, rungById("k08").point, problem, inputs, options);
      expect(run.o).toEqual(o);
      expect(run.lse).toEqual(lse);
    }
  await cpu.close();
});

it("attention() gives a persistent kernel its counter", async () => {
  const cpu = await openDevice("cpu");
  const { q, k, v } = randomInputs(ragged, { seed: 5 });
  const { batch, headsQ, headsKv, seqQ, seqK, dim } = ragged.shape;
  const tensors = {
    q: { data: q, shape: [batch, headsQ, seqQ, dim] },
    k: { data: k, shape: [batch, headsKv, seqK, dim] },
    v: { data: v, shape: [batch, headsKv, seqK, dim] },
    causal: true,
  };
  const expected = await attention(cpu, { ...tensors, kernel: "k06" });
  for (let call = 0; call < 2; call++)
    expect((await attention(cpu, { ...tensors, kernel: "k08" })).o).toEqual(expected.o);
  await cpu.close();
});

describe("the order of tiles", () => {
  interface Queue {
    readonly heads: number;
    readonly headTiles: number;
    readonly sectionHeads: number;
    readonly workgroups: number;
  }

  /** The tiles in the order in which a single invocation per workgroup, the first of which is fastest, gets them. */
  async function orderOf(queue: Queue, longestFirst: boolean): Promise<number[]> {
    const { heads, headTiles, sectionHeads, workgroups } = queue;
    const params = {
      ...scalarParams,
      ...queueParams,
      tiles: buffer(atomic(u32)),
      out: buffer(u32, "write"),
      place: buffer(atomic(u32)),
    } as const;
    const record = kernel("order", { params, workgroup: [4] }, (symbols, gpu) =>
      schedules.persistent.forEachTile(gpu, symbols as unknown as QueueSymbols, longestFirst, (tile) =>
        gpu.if(gpu.localIndex.eq(0), () => symbols.out.set(symbols.place.add(0, 1), tile)),
      ),
    );
    const sim = await openDevice("sim", { subgroup: 4 });
    const count = heads * headTiles;
    const out = sim.createBuffer("u32", count);
    const args = {
      ...(Object.fromEntries(Object.keys(scalarParams).map((name) => [name, 0])) as Record<
        keyof typeof scalarParams,
        number
      >),
      ...{ headTiles, tileCount: count, tileHeads: heads, sectionHeads, out },
      tiles: sim.createBuffer("u32", 1),
      place: sim.createBuffer("u32", 1),
    };
    await (await sim.compile(record)).run({ workgroups, args });
    const order = [...(await out.read())];
    await sim.close();
    return order;
  }

  it("compares them by their numbers where they are alike", async () => {
    const queue = { heads: 2, headTiles: 3, sectionHeads: 2, workgroups: 1 };
    expect(await orderOf(queue, false)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("is section by section, and in one the last tiles of all heads first, where those are the longest", async () => {
    const queue = { heads: 5, headTiles: 3, sectionHeads: 2, workgroups: 1 };
    expect(await orderOf(queue, true)).toEqual([2, 5, 1, 4, 0, 3, 8, 11, 7, 10, 6, 9, 14, 13, 12]);
  });

  it("has every tile once, for any heads and sections", async () => {
    const size = fc.integer({ min: 1, max: 9 });
    await fc.assert(
      fc.asyncProperty(size, size, size, size, async (heads, headTiles, section, workgroups) => {
        const queue = { heads, headTiles, sectionHeads: Math.min(section, heads), workgroups };
        const order = await orderOf(queue, true);
        expect(order.toSorted((a, b) => a - b)).toEqual(order.map((_, i) => i));
      }),
      { numRuns: 25 },
    );
  });

  it("keeps K and V of a section within 32 MiB, and heads that share them together", () => {
    const section = (seqK: number, id: string): number => {
      const problem = createProblem({ batch: 2, headsQ: 32, headsKv: 8, seqQ: 64, seqK, dim: 128 });
      const { scalars } = planAttention(rungById(id).point, problem, { subgroup: 32, writeLse: false });
      return (scalars as { sectionHeads: number }).sectionHeads;
    };
    // 2 × 4096 × 128 × 4 bytes are 4 MiB per key head; it has 4 query heads.
    expect([section(4096, "k08"), section(4096, "k10")]).toEqual([32, 8]);
    expect([section(1 << 20, "k08"), section(1 << 20, "k10")]).toEqual([4, 1]);
    expect([section(16, "k08"), section(16, "k10")]).toEqual([64, 16]);
  });
});

describe("how many workgroups", () => {
  const large = createProblem({ batch: 64, headsQ: 32, headsKv: 8, seqQ: 512, seqK: 512, dim: 64 });
  const workgroups = (problem: AttentionProblem, persistentWorkgroups?: number): number =>
    planAttention(rungById("k08").point, problem, {
      subgroup: 32,
      writeLse: false,
      machine,
      persistentWorkgroups,
    }).workgroups;
  /** Holds 6 workgroups of 8 subgroups by invocations. */
  const machine = {
    multiprocessors: 11,
    clockGHz: null,
    cacheBytes: null,
    maxInvocationsPerMultiprocessor: 1536,
    maxWorkgroupsPerMultiprocessor: 24,
    sharedBytesPerMultiprocessor: 200_000,
  };

  it("is what the machine holds, where there are tiles enough, however many", () => {
    const { sharedBytes } = planAttention(rungById("k08").point, large, { subgroup: 32, writeLse: false });
    const resident = Math.min(6, Math.floor(200_000 / (sharedBytes + 1024)));
    expect(workgroups(large)).toBe(11 * resident);
    expect(workgroups(createProblem({ ...large.shape, batch: 128 }))).toBe(11 * resident);
    expect(workgroups(large, 5)).toBe(5);
  });

  it("is the same whatever there is to do where the machine does not say what it holds", () => {
    for (const unknown of [undefined, { ...machine, multiprocessors: null }]) {
      const options = { subgroup: 32, writeLse: false, machine: unknown };
      expect(planAttention(rungById("k08").point, large, options).workgroups).toBe(4096);
    }
  });

  it("is none where there is nothing to compute", () =>
    expect(workgroups(createProblem({ ...large.shape, seqQ: 0 }))).toBe(0));

  it.each([0, -1, 1.5, Number.NaN, Infinity])("cannot be %d", (count) =>
    expect(() => workgroups(large, count)).toThrowError(
      expect.objectContaining({ code: "ATTENTION_OPTION" }),
    ),
  );

  it("k08's numbers, in what it says was found", async () => {
    const sim = await openDevice("sim", { subgroup: 32 });
    const { point, claimCase } = rungById("k08");
    const [before, after] = [
      await claimCounters(sim, rungById("k06").point, claimCase),
      await claimCounters(sim, point, claimCase),
    ];
    expect([before.barriers, before.issuedArithmetic]).toEqual([64, 103_296]);
    expect([after.barriers, after.issuedArithmetic]).toEqual([134, 107_048]);
    expect([before.globalSectors, after.globalSectors]).toEqual([7168, 7204]);
    for (const name of ["globalReadBytes", "globalWriteBytes", "flops"] as const)
      expect(after[name]).toBe(before[name]);
    await sim.close();
  });
});
