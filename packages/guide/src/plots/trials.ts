/** An evolution as a plot: the times of all trials that were right, and the champion's after each. */

import { valueAxis, type PlotPoint, type PlotSpec } from "@evolver/base";
import type { KeptRecord } from "../evidence/records.ts";

/** Null where no trial was timed. @param name of the run, where its records do not say what it worked on */
export function trialsPlot(records: readonly KeptRecord[], name: string): PlotSpec | null {
  const trials = records.flatMap((record) => record.trials);
  const points = trials.flatMap(({ number, verdict: { timeMs } }): PlotPoint[] =>
    timeMs === null ? [] : [{ x: number, y: timeMs * 1000 }],
  );
  if (points.length === 0) return null;
  const { inputTitle = name, device = "?" } = records[0]?.objective ?? {};
  return {
    id: "trials",
    title: `Trials on ${device}: ${inputTitle}`,
    x: valueAxis("trial"),
    y: valueAxis("time", "µs", { log: true }),
    series: [
      { kind: "points", name: "a trial", points },
      { kind: "line", name: "champion", marked: false, points: championSteps(records) },
    ],
    notes: [],
  };
}

/** A champion stays as fast as it is until another takes its place. */
function championSteps(records: readonly KeptRecord[]): PlotPoint[] {
  const after = records.flatMap(({ trials, outcome }): PlotPoint[] => {
    const last = trials.at(-1);
    return last === undefined ? [] : [{ x: last.number, y: outcome.champion.timeMs * 1000 }];
  });
  return after.flatMap((point, k) => {
    const before = after[k - 1];
    return before === undefined || before.y === point.y ? [point] : [{ x: point.x, y: before.y }, point];
  });
}
