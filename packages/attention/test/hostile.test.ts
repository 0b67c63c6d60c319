/** Inputs that have broken attention kernels elsewhere, on every rung. */

import { bindPlan, buildOf, openDevice, type Device } from "@evolver/device";
import {
  attentionPlan,
  attentionTruth,
  createProblem,
  fitPoint,
  ladder,
  planAttention,
  randomInputs,
  referenceAttention,
  rungById,
} from "@evolver/attention";
import type { AttentionTruth } from "@evolver/attention";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inFull } from "../../../test/support/full.ts";
import { dimCases, DIMS, emptyCases, maskCases, memoryCases, scoreCases } from "./support/hostile.ts";
import type { HostileCase } from "./support/hostile.ts";
import { squareShape } from "./support/problems.ts";
import { checkPointOn, runPoint } from "./support/run.ts";

const devices = [
  {
    title: "sim, subgroups of 32",
    open: () => openDevice("sim", { subgroup: 32, counters: false }),
    everything: true,
  },
  { title: "cpu", open: () => openDevice("cpu"), everything: true },
  {
    title: "sim, subgroups of 4",
    open: () => openDevice("sim", { subgroup: 4, counters: false }),
    everything: false,
  },
  {
    title: "sim, subgroups of 8",
    open: () => openDevice("sim", { subgroup: 8, counters: false }),
    everything: false,
  },
  {
    title: "sim, subgroups of 64",
    open: () => openDevice("sim", { subgroup: 64, counters: false }),
    everything: false,
  },
];

/** Rungs that differ in which workgroup computes what. */
const BY_TILES = ["k01", "k08", "k09", "k10"].map((id) => rungById(id));

/** Subgroup widths other than 32 run every tenth case (every fifth in full), each rung others. */
const OTHER_WIDTHS_STEP = inFull(5, 10);
/** On the simulator a rung runs every second case at width 32, the next rung the others. */
const SIM_STEP = inFull(1, 2);

const groups: Readonly<Record<string, readonly HostileCase[]>> = {
  masks: maskCases(),
  scores: scoreCases(),
  "memory and strides": memoryCases(),
  "empty and tiny": emptyCases(),
  dims: dimCases(),
};

/** The truth of a case, worked out once for all rungs and devices. */
const truths = new Map<HostileCase, AttentionTruth>();

function truthOf(hostile: HostileCase): AttentionTruth {
  let truth = truths.get(hostile);
  if (truth === undefined) truths.set(hostile, (truth = attentionTruth(hostile.problem, hostile.inputs)));
  return truth;
}

async function wrongOf(device: Device, cases: readonly HostileCase[], rung: (typeof ladder)[number]) {
  const wrong: string[] = [];
  for (const hostile of cases) {
    const { name, problem, inputs } = hostile;
    const { verdict } = await checkPointOn(device, rung.point, problem, inputs, truthOf(hostile));
    if (verdict !== "right") wrong.push(`${name}: ${verdict}`);
  }
  return wrong;
}

describe.each(devices)("$title", ({ title, open, everything }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.close());

  describe.each(Object.entries(groups))("%s", (_, cases) => {
    const step = everything ? (title === "cpu" ? 1 : SIM_STEP) : OTHER_WIDTHS_STEP;
    it.each(ladder.map((rung, r) => ({ rung, r, id: rung.id })))("$id", async ({ rung, r }) => {
      const some = cases.filter((__, i) => (i + r) % step === 0);
      expect(await wrongOf(device, some, rung)).toEqual([]);
    });
  });

  if (!everything) return;

  it.each(ladder)("$id returns V exactly for one key at −524288", async ({ point }) => {
    const { problem, inputs } = scoreCases().find(({ name }) => name.includes("−524288"))!;
    const { o, lse } = await runPoint(device, point, problem, inputs);
    for (let row = 0; row < 3; row++) expect(o.subarray(row * 8, row * 8 + 8)).toEqual(inputs.v);
    expect([...lse]).toEqual([-524288, -524288, -524288]);
  });

  it.each(ladder)("$id gives empty rows zeros and −Infinity", async ({ point }) => {
    const { problem, inputs } = maskCases()[0]!;
    const { o, lse } = await runPoint(device, point, problem, inputs);
    for (const head of [0, 1]) {
      expect(o.subarray(head * 272, head * 272 + 33 * 8).every((value) => value === 0)).toBe(true);
      expect(lse.subarray(head * 34, head * 34 + 33).every((value) => value === -Infinity)).toBe(true);
      expect(o.subarray(head * 272 + 33 * 8, (head + 1) * 272)).toEqual(
        inputs.v.subarray(head * 8, head * 8 + 8),
      );
    }
  });

  it.each(ladder)("$id leaves nothing behind in reused buffers", async ({ point }) => {
    const largest = 2 * 10 * 256;
    const buffers = {
      q: device.createBuffer("f32", largest),
      k: device.createBuffer("f32", 2 * 37 * 256),
      v: device.createBuffer("f32", 2 * 37 * 256),
      o: device.createBuffer("f32", largest),
      lse: device.createBuffer("f32", 20),
    };
    const subgroup = device.subgroupSize;
    const nan = (length: number) => new Float32Array(length).fill(Number.NaN);
    for (const dim of [...DIMS, ...DIMS.toReversed()]) {
      const hostile = groups["dims"]!.find(({ name }) => name === `dim ${dim}`)!;
      const { problem, inputs } = hostile;
      const plan = attentionPlan(fitPoint(point, problem, subgroup), problem, buildOf(device));
      for (const buffer of Object.values(buffers)) await buffer.write(nan(buffer.length));
      for (const name of ["q", "k", "v"] as const) await buffers[name].write(inputs[name]);
      const ready = await bindPlan(device, plan, { buffers });
      await ready.run();
      ready.destroy();
      const o = await buffers.o.read();
      const used = 2 * 10 * dim;
      expect(o.subarray(used).every(Number.isNaN)).toBe(true);
      const { reference, bound } = truthOf(hostile);
      const worst = reference.o.reduce((most, value, i) => Math.max(most, Math.abs(value - o[i]!)), 0);
      expect(worst).toBeLessThanOrEqual(bound);
    }
  });

  const workgroups = title === "cpu" ? "all" : "some";
  it.each(title === "cpu" ? [65_536, 70_000] : [70_000])(
    `%i workgroups, ${workgroups} of them`,
    async (batch) => {
      const problem = createProblem({ batch, headsQ: 1, headsKv: 1, seqQ: 1, seqK: 2, dim: 4 });
      const inputs = randomInputs(problem, { seed: 9 });
      const { o } = referenceAttention(problem, inputs);
      const sample = workgroups === "some" ? [0, 1, 4711, 65_533, batch - 1] : undefined;
      for (const { id, point } of BY_TILES) {
        // A persistent kernel has few workgroups, each of which takes tiles as long as there are any.
        if (point.schedule === "persistent" && sample !== undefined) continue;
        const run = await runPoint(device, point, problem, inputs, sample && { sample });
        if (point.schedule === "persistent") expect(run.workgroups).toBeLessThan(65_536);
        else expect(run.workgroups).toBe(batch);
        expect(run.strayWrites).toBe(0);
        const wrong: number[] = [];
        for (const row of sample ?? Array.from({ length: batch }, (_, i) => i))
          for (let i = row * 4; i < (row + 1) * 4; i++)
            if (!(Math.abs(run.o[i]! - o[i]!) < 2e-6)) wrong.push(i);
        expect([id, wrong]).toEqual([id, []]);
      }
    },
  );
});

it("computes one workgroup per tile, unless it is persistent: the cases above reach beyond 65,535 on x only", () => {
  const problem = createProblem({ ...squareShape(3, 17, 5, 8), batch: 2 });
  for (const { point } of ladder) {
    const plan = planAttention(point, problem, { subgroup: 32, writeLse: false, persistentWorkgroups: 4 });
    const tiles = 2 * 3 * Math.ceil(17 / point.queryRows);
    expect(plan.workgroups).toBe(point.schedule === "persistent" ? 4 : tiles);
  }
});
