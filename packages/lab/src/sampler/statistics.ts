/**
 * What the trials so far say about each axis value: its effect on log time, others being equal, and how often it
 * failed. Small data, so effects are shrunk towards zero (ridge, fitted by backfitting).
 */

import type { Point, Space } from "../study/point.ts";
import type { Memory } from "./sampler.ts";

interface ValueStatistics {
  /** Trials with this value that have a time. */
  timed: number;
  failed: number;
  /** On the natural logarithm of the time, relative to the mean. */
  effect: number;
}

export interface Statistics {
  /** Estimated probability that the judge rejects it. */
  failure(point: Point): number;
  /** How little is known of the point's values: 1 if nothing, towards 0 with more trials. */
  novelty(point: Point): number;
  of(axis: string, value: number | string): Readonly<ValueStatistics>;
}

/** Pseudo-trials that pull an effect to zero. */
const SHRINKAGE = 0.7;
const SWEEPS = 25;

export function gatherStatistics(space: Space, memory: readonly Memory[]): Statistics {
  const table = new Map<string, ValueStatistics>();
  const keyOf = (axis: string, value: number | string | undefined): string => `${axis}=${value}`;
  for (const axis of space.axes)
    for (const value of axis.values) table.set(keyOf(axis.name, value), { timed: 0, failed: 0, effect: 0 });
  const at = (axis: string, value: number | string | undefined): ValueStatistics =>
    table.get(keyOf(axis, value)) ?? { timed: 0, failed: 0, effect: 0 };

  const timed: { readonly point: Point; readonly y: number }[] = [];
  for (const { point, timeMs, judged } of memory) {
    if (!judged) continue;
    for (const { name } of space.axes) at(name, point[name])[timeMs === null ? "failed" : "timed"]++;
    if (timeMs !== null) timed.push({ point, y: Math.log(timeMs) });
  }
  const mean = timed.reduce((sum, { y }) => sum + y, 0) / Math.max(1, timed.length);
  const predict = (point: Point): number =>
    space.axes.reduce((sum, { name }) => sum + at(name, point[name]).effect, 0);

  for (let sweep = 0; sweep < SWEEPS; sweep++)
    for (const axis of space.axes)
      for (const value of axis.values) {
        const row = at(axis.name, value);
        if (row.timed === 0) continue;
        let sum = 0;
        for (const { point, y } of timed)
          if (point[axis.name] === value) sum += y - mean - (predict(point) - row.effect);
        row.effect = sum / (row.timed + SHRINKAGE);
      }

  return {
    failure(point) {
      let passes = 1;
      for (const { name } of space.axes) {
        const { timed: ok, failed } = at(name, point[name]);
        // A value is to blame only as far as it fails more often than it passes.
        passes *= 1 - Math.max(0, failed - ok) / (failed + ok + 1);
      }
      return 1 - passes;
    },
    novelty(point) {
      const sum = space.axes.reduce((total, { name }) => {
        const { timed: ok, failed } = at(name, point[name]);
        return total + 1 / Math.sqrt(1 + ok + failed);
      }, 0);
      return sum / Math.max(1, space.axes.length);
    },
    of: at,
  };
}
