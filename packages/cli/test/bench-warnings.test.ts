/** Figures that are doubtful are said to be. */

import type { MicrobenchReport, Section } from "@evolver/machine";
import { expect, it } from "vitest";
import { benchWarnings } from "evolver/internal";

type Report = Pick<MicrobenchReport, "sections" | "timeKind">;

const result = (spread: number | null): Section["results"][number] => ({
  id: "copy",
  name: "copy",
  value: 1,
  unit: "GB/s",
  spread,
  verified: true,
  note: null,
  skipped: false,
  timeMs: 1,
  settings: {},
  counters: null,
});

function reportOf(spreads: readonly (number | null)[], memory: number, cache: number): Report {
  const figure = (id: string, value: number): Section["figures"][number] => ({
    id,
    name: id,
    value,
    unit: "GB/s",
  });
  const section: Section = {
    id: "streams",
    title: "",
    about: "",
    results: spreads.map(result),
    figures: [figure("copyGBPerSecond", memory), figure("cacheGBPerSecond", cache)],
    plots: [],
  };
  return { sections: [section], timeKind: "measured" };
}

it("a wide spread is warned of, a narrow one and none are not", () => {
  expect(benchWarnings(reportOf([0.05, 0.2, null], 10, 20), true)).toEqual([]);
  expect(benchWarnings(reportOf([0.05, 0.21, null], 10, 20), false)).toEqual([
    "warning: 1 of 2 results vary by more than 20 %; is the machine busy?",
  ]);
  expect(benchWarnings(reportOf([0.3], 10, 20), true)[0]).toMatch(/1 of 1 .* The profile is only as good/);
});

it("a cache slower than memory is warned of where a profile is saved", () => {
  expect(benchWarnings(reportOf([0.01], 20, 10), true)).toEqual([
    expect.stringMatching(/shared cache was measured slower \(10\.0 GB\/s\) than memory \(20\.0 GB\/s\)/),
  ]);
  expect(benchWarnings(reportOf([0.01], 20, 10), false)).toEqual([]);
});

it("where nothing is measured nothing is warned of", () => {
  expect(benchWarnings({ ...reportOf([0.9], 20, 10), timeKind: "none" }, true)).toEqual([]);
});
