/** The attention study as the lab sees it. */

import { parseSync } from "oxc-parser";
import { beforeAll, describe, expect, it } from "vitest";
import { attentionPlan, ladder } from "@evolver/attention";
import { bindPlan, openDevice, type DeviceId } from "@evolver/device";
import { pointAt, spaceSize, whyNotInSpace, type Measurement, type OpenStudy } from "@evolver/lab";
import { study as attention } from "@evolver/attention/study";
import { parseShape } from "@evolver/attention/study/internal";

const SHAPE = "B1,Hq4,Hkv2,S64,D32,causal";
const SUBGROUP = 32;
const BUILD = { subgroup: SUBGROUP, forwardProgress: true };

type Attention = Awaited<ReturnType<typeof attention.open>>;

async function openStudy(id: DeviceId, shape = SHAPE): Promise<Attention> {
  return attention.open(await attention.parseInput({ shape }), { id });
}

/** Measures a rung as the judge would, in this process. */
async function measured(study: Attention, id: DeviceId, rung: string, champion?: string) {
  const device = await openDevice(id);
  const bind = (name: string) => {
    const plan = attentionPlan(study.named[name] as Attention["baseline"], parseShape(SHAPE), BUILD);
    return bindPlan(device, plan, { inputs: study.objectiveCase(1).inputs });
  };
  const candidate = await bind(rung);
  const rival = champion === undefined ? null : await bind(champion);
  try {
    return await study.measure({ candidate, champion: rival, seed: 1 });
  } finally {
    candidate.destroy();
    rival?.destroy();
    await device.close();
  }
}

let study: Attention;
beforeAll(async () => {
  study = await openStudy("sim");
});

describe("the space", () => {
  it.each(ladder.map(({ id }) => id))("has the rung %s, also for wide heads", async (rung) => {
    for (const each of [study, await openStudy("sim", "H1,S64,D256"), await openStudy("cpu")]) {
      const point = each.named[rung] as Attention["baseline"];
      expect(whyNotInSpace(each.space as OpenStudy["space"], point)).toBeNull();
    }
  });

  it("says what is wrong with invalid points", () => {
    const { space } = study;
    const k03 = study.named["k03"] as Attention["baseline"];
    expect(space.whyInvalid({ ...k03, queryRows: 1, rowsPerSubgroup: 8 })).toMatch(/holds 8 rows/);
    expect(space.whyInvalid({ ...k03, stage: "global", layout: "padded" })).toMatch(/Without tiles/);
    expect(space.whyInvalid({ ...k03, queryRows: 3 })).toMatch(/queryRows is 3/);
    expect(space.whyInvalid({ ...k03, queryRows: 64, rowsPerSubgroup: 1 })).toMatch(/invocations/);
  });

  it("has a plan for valid points from everywhere", () => {
    const space = study.space as OpenStudy["space"];
    const size = spaceSize(space);
    // So many, in steps that do not go with any axis.
    const step = Math.ceil(size / 2000) | 1;
    let valid = 0;
    for (let i = 0; i < size; i += step) {
      const point = pointAt(space, i) as Attention["baseline"];
      if (space.whyInvalid(point) !== null) continue;
      valid++;
      const { kernels, launches } = study.plan(point, SHAPE, BUILD);
      expect([kernels.length, launches.length]).toEqual([1, 1]);
    }
    expect(valid).toBeGreaterThan(10);
  });
});

describe("modelled time", () => {
  it("is explained: what decides, and which axes to change", async () => {
    const axes = study.space.axes.map(({ name }) => name);
    for (const { id: rung } of ladder) {
      const measurement = await measured(study, "sim", rung);
      expect(measurement).toMatchObject({ timeKind: "modelled", noise: 0, championTimeMs: null });
      const explanation = study.explain(measurement, study.named[rung] as Attention["baseline"]);
      expect(explanation.bottleneck).toBe(measurement.details?.["bottleneck"]);
      expect(explanation.observations[0]).toContain(`modelled, ${explanation.bottleneck} decides`);
      expect(explanation.axes.length).toBeGreaterThan(0);
      for (const axis of explanation.axes) expect(axes).toContain(axis);
    }
  });

  it("says how many workgroups a multiprocessor holds, with the right plural", async () => {
    const measurement = await measured(study, "sim", "k03");
    const said = (residentWorkgroups: number): string | undefined => {
      const details = { ...measurement.details, residentWorkgroups };
      return study.explain({ ...measurement, details }, study.baseline).observations.at(-1);
    };
    expect(said(1)).toMatch(/; 1 workgroup fits on a multiprocessor\.$/);
    expect(said(2)).toMatch(/; 2 workgroups fit on a multiprocessor\.$/);
  });

  it("names bank conflicts where there are some, and only there", async () => {
    const conflicts = async (layout: "row-major" | "swizzled"): Promise<string[]> => {
      const point = { ...(study.named["k03"] as Attention["baseline"]), layout };
      const device = await openDevice("sim");
      const plan = attentionPlan(point, parseShape(SHAPE), BUILD);
      const candidate = await bindPlan(device, plan, { inputs: study.objectiveCase(1).inputs });
      const measurement: Measurement = await study.measure({ candidate, champion: null, seed: 1 });
      await device.close();
      return study.explain(measurement, point).observations.filter((text) => text.includes("bank conflicts"));
    };
    expect(await conflicts("row-major")).toHaveLength(1);
    expect(await conflicts("swizzled")).toHaveLength(0);
  });
});

describe("measured time", () => {
  it("on cpu is by the clock, beside the champion's, with the simulator's counters to explain it", async () => {
    const onCpu = await openStudy("cpu");
    expect(onCpu.profile).toMatch(/clock/);
    expect(study.profile).not.toMatch(/clock/);
    const measurement = await measured(onCpu, "cpu", "k03", "k01");
    expect(measurement.timeKind).toBe("measured");
    expect(measurement.timeMs).toBeGreaterThan(0);
    expect(measurement.championTimeMs).toBeGreaterThan(0);
    expect(measurement.noise).toBeGreaterThanOrEqual(0);
    expect(measurement.counters?.flops).toBeGreaterThan(0);
    const { bottleneck, observations } = onCpu.explain(measurement, onCpu.named["k03"] ?? onCpu.baseline);
    expect(observations[0]).toContain(`modelled, ${bottleneck} decides`);
  });

  it("on a device that there is not is refused when the study is opened", async () => {
    await expect(openStudy("tpu" as DeviceId)).rejects.toMatchObject({ code: "UNKNOWN_DEVICE" });
  });
});

it("emits the kernel, its IR and its point, in files that parse", async () => {
  const files = await study.emit(study.named["k04"] as Attention["baseline"], BUILD);
  const text = (path: string): string => files.find((file) => file.path === path)?.text ?? "";
  const parsed = parseSync("kernel.js", text("kernel.js"), { sourceType: "module" });
  expect(parsed.errors).toEqual([]);
  expect(parsed.program.body.length).toBeGreaterThan(0);
  expect(text("kernel.ir.txt")).toContain("barrier");
  expect(JSON.parse(text("point.json"))).toEqual(study.named["k04"]);
});

it("opens the same study in another process from its input as data", async () => {
  const input = await attention.parseInput({ shape: SHAPE });
  const copy = await attention.open(JSON.parse(JSON.stringify(input)), { id: "sim" });
  expect(copy.inputTitle).toBe(study.inputTitle);
  const module = (await import(attention.module)) as Record<string, unknown>;
  expect(module[attention.export]).toBe(attention);
});

it("gives a rung's kernel for an input", async () => {
  const input = await attention.parseInput({ shape: SHAPE });
  const kernelOf = (id: string) =>
    attention.kernel!({ candidate: { kind: "rung", id }, input, target: "cuda", subgroup: 32 }).kernel;
  expect(kernelOf("k03").subgroupSize).toBe(32);
  expect(() => kernelOf("k99")).toThrow(/Rungs are k01/);
  expect(kernelOf("k11 half tiles")).toMatchObject({ workgroupSize: [256, 1, 1] });
});
