/** What a measured curve says: the smallest setting that is good enough, and the levels of a staircase. */

import { median } from "@evolver/base";

export interface Point {
  /** What grows: a block size, workgroups, bytes. */
  readonly setting: number;
  readonly value: number;
}

/**
 * The knee of a curve: the smallest setting whose value is within `tolerance` of the best. Null without points.
 * @param better which end is best; "more" if absent
 */
export function findKnee(
  points: readonly Point[],
  tolerance = 0.03,
  better: "more" | "less" = "more",
): Point | null {
  if (points.length === 0) return null;
  const values = points.map(({ value }) => value);
  const best = better === "more" ? Math.max(...values) : Math.min(...values);
  const isGood = ({ value }: Point): boolean =>
    better === "more" ? value >= best * (1 - tolerance) : value <= best * (1 + tolerance);
  return points.toSorted((a, b) => a.setting - b.setting).find(isGood) ?? null;
}

export interface Plateau {
  /** The smallest and the largest setting on it. */
  readonly from: number;
  readonly to: number;
  /** The median of its values. */
  readonly value: number;
}

/**
 * The levels of a rising staircase, such as latency over footprint: runs of at least two neighbours of which none differs
 * from the run's median by more than `tolerance`. What lies between the levels belongs to none.
 */
export function findPlateaus(points: readonly Point[], tolerance = 0.1): Plateau[] {
  const sorted = points.toSorted((a, b) => a.setting - b.setting);
  const found: Plateau[] = [];
  for (let start = 0; start < sorted.length;) {
    let end = start + 1;
    while (end < sorted.length && isLevel(sorted.slice(start, end + 1), tolerance)) end++;
    const run = sorted.slice(start, end);
    if (run.length >= 2) {
      const value = median(run.map((point) => point.value));
      const [first, last] = [run[0] as Point, run.at(-1) as Point];
      found.push({ from: first.setting, to: last.setting, value });
    }
    start = end;
  }
  return found;
}

function isLevel(run: readonly Point[], tolerance: number): boolean {
  const middle = median(run.map(({ value }) => value));
  return run.every(({ value }) => Math.abs(value - middle) <= tolerance * middle);
}
