/** The ladder's report, as `evolver ladder --json` prints it. */

import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { h200Datasheet } from "@evolver/machine";
import type { LadderOptions, LadderReport, StudyInput } from "@evolver/lab";
import { describe, expect, it } from "vitest";
import { ladder } from "@evolver/attention";
import { listDevices } from "@evolver/device";
import { study } from "@evolver/attention/study";

const climb = async (
  options: Partial<LadderOptions>,
  input: StudyInput = { shape: "Hq4,Hkv2,S48,D32,causal" },
): Promise<LadderReport> =>
  study.ladder!.run({
    device: "sim",
    input: await study.parseInput(input),
    rungs: null,
    seed: 1,
    ...options,
  });

const missing = (await listDevices()).filter(({ available }) => !available);

/** FLOPs of that shape by the usual rule. */
const FLOPS = (4 * 4 * 48 * 48 * 32) / 2;

describe("on the simulator", () => {
  it("k11's lesson: one causal head of 512 queries takes 15.7 µs with k04 and 51.2 with k11", async () => {
    const { rungs } = await climb({ rungs: ["k04", "k11"] }, { shape: "B1,H1,S512,D64,causal" });
    expect(rungs.map(({ modelledTimeMs }) => (modelledTimeMs * 1000).toFixed(1))).toEqual(["15.7", "51.2"]);
  });

  it("variants are verified, counted and modelled where they are named", async () => {
    const ids = ladder.flatMap(({ id, variants }) => Object.keys(variants).map((name) => `${id} ${name}`));
    expect(ids).toContain("k11 half tiles");
    for (const id of ids) expect(id).not.toMatch(/[,/]/);
    const { rungs } = await climb({ rungs: [...ids, "k01"] });
    expect(rungs.map(({ id }) => id)).toEqual([...ids, "k01"]);
    for (const rung of rungs) expect(rung, rung.id).toMatchObject({ verified: true });
    const open = await study.open(await study.parseInput({ shape: "H1,S512,D64" }), { id: "sim" });
    expect(open.named["k11 half tiles"]).toMatchObject({ queryRows: 64, rowLanes: 2 });
    expect(study.ladder!.named.filter(({ variantOf }) => variantOf !== null).map(({ id }) => id)).toEqual(
      ids,
    );
  });

  it("a name that there is not is refused with the nearest that there is", async () => {
    await expect(climb({ rungs: ["k11-half-tile"] })).rejects.toMatchObject({
      code: "UNKNOWN_RUNG",
      hint: expect.stringMatching(/^did you mean "k11 half tiles"\? Rungs are k01, /),
    });
  });

  it("every rung is verified, counted, modelled, and keeps its claims", async () => {
    const seen: string[] = [];
    const report = await climb({ onRung: (id, done, total) => seen.push(`${id} ${done}/${total}`) });
    expect(report).toMatchObject({ study: "attention", device: "sim", timeKind: "modelled" });
    expect(report.profile).toMatch(/datasheet/);
    expect(report.input).toBe("B1,Hq4,Hkv2,S48,D32,causal, random data");
    const ids = ladder.map(({ id }) => id);
    expect(report.rungs.map(({ id }) => id)).toEqual(ids);
    expect(seen.map((line) => line.split(" ")[0])).toEqual(ids);
    for (const rung of report.rungs) {
      expect(rung, rung.id).toMatchObject({ verified: true, title: expect.stringMatching(/\w/) });
      expect(rung.error).toBeGreaterThan(0);
      expect(rung.error).toBeLessThanOrEqual(rung.bound);
      expect(rung.timeMs).toBeGreaterThan(0);
      expect(rung.timeMs).toBe(rung.modelledTimeMs);
      expect(rung.tflops).toBeCloseTo(FLOPS / rung.timeMs / 1e9, 12);
      for (const { text, holds, value, limit } of rung.claims) {
        expect(holds, text).toBe(true);
        expect([typeof value, typeof limit]).toEqual(["number", "number"]);
      }
      const { globalReadBytes, globalWriteBytes, globalSectors, sharedConflicts, barriers, flops } =
        rung.counters;
      // o once, and lse.
      expect(globalWriteBytes).toBe(4 * 4 * 48 * (32 + 1));
      for (const count of [globalReadBytes, globalSectors, flops]) expect(count).toBeGreaterThan(0);
      for (const count of [sharedConflicts, barriers]) expect(count).toBeGreaterThanOrEqual(0);
    }
    expect(report.rungs.slice(1).every(({ claims }) => claims.length > 0)).toBe(true);
    const reads = report.rungs.map(({ counters }) => counters.globalReadBytes);
    expect(reads[2]).toBeLessThan((reads[1] as number) / 4);
  });

  it("is the same for the same seed, and of the rungs that were asked for", async () => {
    const report = await climb({ rungs: ["k03", "k01"] });
    expect(report.rungs.map(({ id }) => id)).toEqual(["k03", "k01"]);
    expect(await climb({ rungs: ["k03", "k01"] })).toEqual(report);
  });
});

describe("with a profile", () => {
  it("a tenth of the clock makes modelled times longer", async () => {
    const path = join(await mkdtemp(join(tmpdir(), "evolver-profile-")), "profile.json");
    const slow = { ...h200Datasheet, name: "slow", clockGHz: { value: 0.198, source: "measured" } };
    await writeFile(path, JSON.stringify(slow));
    const shape = "B1,H1,S64,D64";
    const fast = await climb({ rungs: ["k04"] }, { shape });
    const slower = await climb({ rungs: ["k04"] }, { shape, profile: path });
    expect(slower.profile).toBe("slow");
    expect(slower.rungs[0]!.timeMs).toBeGreaterThan(1.5 * fast.rungs[0]!.timeMs);
  });
});

describe("on cpu", () => {
  it("time is measured, and the model's stands beside it", async () => {
    const report = await climb({ device: "cpu" });
    expect(report).toMatchObject({ device: "cpu", timeKind: "measured" });
    expect(report.deviceName).toMatch(/\w/);
    const modelled = (await climb({})).rungs.map(({ modelledTimeMs }) => modelledTimeMs);
    expect(report.rungs.map(({ modelledTimeMs }) => modelledTimeMs)).toEqual(modelled);
    for (const { id, verified, timeMs, modelledTimeMs, claims } of report.rungs) {
      expect(verified, id).toBe(true);
      expect(timeMs).toBeGreaterThan(0);
      expect(timeMs).not.toBe(modelledTimeMs);
      expect(claims.every(({ holds }) => holds)).toBe(true);
    }
  });
});

describe("is refused", () => {
  it.each([
    ["an unknown rung", { rungs: ["k01", "k99"] }, {}, "UNKNOWN_RUNG"],
    ["an unknown device", { device: "tpu" }, {}, "UNKNOWN_DEVICE"],
    ["a shape that is none", {}, { shape: "H0,S4,D4" }, "SHAPE_INVALID"],
    ["a missing file", {}, { input: "/nowhere/x.safetensors" }, "INPUT_NOT_FOUND"],
  ])("for %s", async (_, options, input, code) => {
    await expect(climb(options, input)).rejects.toMatchObject({ code });
  });

  it.skipIf(missing.length === 0)("for a device that is not here, with what to do", async () => {
    for (const { id } of missing) {
      const refusal = climb({ device: id });
      await expect(refusal).rejects.toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/) });
      await expect(refusal).rejects.toThrow(/help: /);
    }
  });
});
