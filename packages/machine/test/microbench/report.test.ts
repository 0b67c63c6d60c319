/** A run as users see it: the report, the plots and the profile made from it. */

import { visiblePoints } from "@evolver/base";
import { h200Datasheet, parseProfile, type Rate } from "@evolver/machine";
import { openDevice } from "@evolver/device";
import { describe, expect, it } from "vitest";
import { microbenchPlots, profileOf, runMicrobench, type MicrobenchReport } from "@evolver/machine";

const figures = (report: MicrobenchReport): Map<string, number> =>
  new Map(report.sections.flatMap((section) => section.figures.map(({ id, value }) => [id, value])));

async function run(device: "sim" | "cpu", only?: readonly string[]): Promise<MicrobenchReport> {
  const opened = await openDevice(device);
  try {
    return await runMicrobench(opened, { quick: true, ...(only === undefined ? {} : { only }) });
  } finally {
    await opened.close();
  }
}

describe("on sim", async () => {
  const report = await run("sim");
  it("everything is verified and nothing is timed", () => {
    expect(report).toMatchObject({ device: "sim", timeKind: "none", verified: true, machine: null });
    const results = report.sections.flatMap((section) => section.results);
    expect(results.length).toBeGreaterThan(60);
    expect(results.filter(({ value, timeMs }) => value !== null || timeMs !== null)).toEqual([]);
    expect(results.filter(({ counters, skipped }) => counters === null && !skipped)).toEqual([]);
  });
  it("there is nothing to plot", () => expect(microbenchPlots(report)).toEqual([]));
});

describe("on cpu", async () => {
  const report = await run("cpu", ["chase", "launch", "occupancy"]);
  it("every result has a value, a unit and a spread", () => {
    expect(report).toMatchObject({ device: "cpu", timeKind: "measured", verified: true });
    for (const { value, spread, id } of report.sections.flatMap((section) => section.results)) {
      expect(value, id).toBeGreaterThan(0);
      expect(spread, id).toBeGreaterThanOrEqual(0);
    }
  });
  it("a larger footprint takes longer, and the knee is among the settings", () => {
    const found = figures(report);
    expect(found.get("memoryLatencyNs")).toBeGreaterThan(3 * (found.get("firstLevelLatencyNs") as number));
    expect([32, 128, 512]).toContain(found.get("blockKnee"));
  });
  it("plots have every measurement at a place that their axes can show", () => {
    const plots = microbenchPlots(report);
    expect(plots.map(({ id }) => id)).toEqual([
      "chase",
      "occupancy-workgroups",
      "occupancy-block",
      "occupancy-shared",
    ]);
    for (const plot of plots)
      for (const series of plot.series) expect(visiblePoints(plot, series)).toEqual(series.points);
  });
  it("its profile says what was measured and what was not, and is read back as it is", () => {
    const profile = profileOf(report);
    expect(profile.launchMicroseconds).toEqual({
      value: figures(report).get("launchMicroseconds"),
      source: "measured",
    });
    expect(profile.memoryGBPerSecond).toEqual({ value: 4800, source: "assumed" });
    expect(profile.source).toBe("assumed");
    expect(parseProfile(JSON.stringify(profile))).toEqual(profile);
  });
});

describe("a report of a GPU", () => {
  const gpu: MicrobenchReport = {
    device: "cuda",
    deviceName: "A & B",
    subgroup: 32,
    timeKind: "measured",
    quick: false,
    clock: { gigahertz: 2, source: "the driver" },
    machine: {
      multiprocessors: 100,
      clockGHz: 2,
      cacheBytes: 1,
      maxInvocationsPerMultiprocessor: 2048,
      maxWorkgroupsPerMultiprocessor: 32,
      sharedBytesPerMultiprocessor: 1000,
    },
    multiprocessors: 100,
    sections: [
      {
        id: "all",
        title: "",
        about: "",
        results: [],
        plots: [],
        figures: Object.entries({
          fmaPeak: 51_200,
          exp2FlushedPeak: 3200,
          shufflePeak: 6400,
          sharedGBPerSecond: 25_600,
          firstLevelGBPerSecond: 12_800,
          cacheGBPerSecond: 5000,
          copyGBPerSecond: 4000,
          firstLevelLatencyNs: 20,
          cacheLatencyNs: 100,
          memoryLatencyNs: 300,
          sharedLatencyNs: 15,
          barrierNs: 10,
          fmaLatencyNs: 2,
          launchMicroseconds: 3,
          contendedAtomicsPerMicrosecond: 1000,
          globalAtomicsPerMicrosecond: 9000,
          sharedAtomicsPerMicrosecond: 50_000,
        }).map(([id, value]) => ({ id, name: id, value, unit: "" })),
      },
    ],
    verified: true,
    seconds: 1,
  };

  it("gives a profile that is measured, for each multiprocessor and clock", () => {
    const profile = profileOf(gpu);
    const rate = (value: number, source = "measured"): Rate => ({ value, source }) as Rate;
    expect(profile).toMatchObject({
      source: "measured",
      multiprocessors: rate(100, "driver"),
      clockGHz: rate(2, "driver"),
      // 51,200 GFLOP/s are 25,600 fma per nanosecond, 128 per clock and multiprocessor.
      arithmeticLanesPerClock: rate(128),
      issuesPerClock: rate(4),
      specialLanesPerClock: rate(16),
      shuffleLanesPerClock: rate(32),
      sharedPassesPerClock: rate(1),
      sectorsPerClock: rate(2),
      globalLatencyClocks: rate(600),
      arithmeticLatencyClocks: rate(4),
      sharedAtomicsPerMicrosecond: rate(500),
    });
    expect(Object.keys(profile).toSorted()).toEqual(Object.keys(h200Datasheet).toSorted());
  });
  it("gives a roofline with a corner for each memory", () => {
    const [roofline] = microbenchPlots(gpu);
    expect(roofline).toMatchObject({ id: "roofline", title: "Roofline of A & B" });
    expect(roofline?.notes).toEqual([
      "Measured: 51.2 TFLOP/s; memory 4.00 TB/s; second-level cache 5.00 TB/s. Memory's ridge is at 12.8 FLOPs per byte.",
    ]);
    expect(roofline?.series.map(({ points }) => points[1])).toEqual([
      { x: 12.8, y: 51_200 },
      { x: 10.24, y: 51_200 },
    ]);
  });
});

it("a test that does not exist is refused, with those that do", async () => {
  await expect(run("sim", ["streams", "nothing"])).rejects.toThrow(/no microbenchmark "nothing"[^]*chase/);
});

it("a test that is named twice is run once, and a list of none is refused", async () => {
  const { sections } = await run("sim", ["launch", "launch"]);
  expect(sections.map(({ id }) => id)).toEqual(["launch"]);
  await expect(run("sim", [])).rejects.toMatchObject({ code: "NO_TESTS" });
});
