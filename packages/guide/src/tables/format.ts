/** How numbers and points are written in the tables. */

import { digits, NOTHING } from "@evolver/base";
import type { Axis, Point } from "@evolver/lab";
import type { MeasuredStudy } from "../evidence/study.ts";

export const times = (value: number): string => `${value.toFixed(2)}×`;
export const microseconds = (timeMs: number): string => digits(timeMs * 1000);

/** The last word of the sentence about a file that is not there. */
export const notMeasured = (what: string, file: string): string => `${what}: not measured (no ${file}).`;

interface Change {
  readonly axis: string;
  readonly from: string;
  readonly to: string;
}

export const changesFrom = (axes: readonly Axis[], base: Point, point: Point): Change[] =>
  axes
    .filter(({ name }) => base[name] !== point[name])
    .map(({ name }) => ({ axis: name, from: String(base[name]), to: String(point[name]) }));

/** "k11 with queryRows 64 (128), unroll 8 (4)": the rung's own values in parentheses. */
export function byChanges(id: string, changes: readonly Change[]): string {
  if (changes.length === 0) return `the same point as ${id}`;
  return `${id} with ${changes.map(({ axis, from, to }) => `${axis} ${to} (${from})`).join(", ")}`;
}

/** In words, by the rung whose point is nearest. */
export function inWords({ rungs, axes }: MeasuredStudy, point: Point): string {
  const [nearest] = rungs
    .map(({ id, point: base }) => ({ id, changes: changesFrom(axes, base, point) }))
    .toSorted((a, b) => a.changes.length - b.changes.length);
  return nearest === undefined ? NOTHING : byChanges(nearest.id, nearest.changes);
}
