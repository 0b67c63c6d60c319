/** How numbers and points are written in the tables. */

import { axes, ladder, rungById, type FlashPoint } from "@evolver/attention";
import { EvolverError } from "@evolver/base";
import { parseShape } from "../../../packages/attention/src/study/shape.ts";

export const NOTHING = "–";

/** Three digits that matter, or all of a whole part that has more. */
export function digits(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toPrecision(3);
}

/** 4297064448 → "4.30 G" */
export function compact(value: number): string {
  const [scale, unit] = (
    [
      [1e9, " G"],
      [1e6, " M"],
      [1e3, " k"],
    ] as const
  ).find(([least]) => value >= least) ?? [1, ""];
  return scale === 1 ? String(value) : `${(value / scale).toPrecision(3)}${unit}`;
}

export const orNothing = (value: number | null, print: (value: number) => string): string =>
  value === null ? NOTHING : print(value);

export const share = (value: number): string => `${(100 * value).toFixed(1)} %`;
export const times = (value: number): string => `${value.toFixed(2)}×`;
export const microseconds = (timeMs: number): string => digits(timeMs * 1000);

/** The last word of the sentence about a file that is not there. */
export const notMeasured = (what: string, file: string): string => `${what}: not measured (no ${file}).`;

interface Change {
  readonly axis: string;
  readonly from: string;
  readonly to: string;
}

export const changesFrom = (base: FlashPoint, point: FlashPoint): Change[] =>
  axes
    .filter(({ name }) => base[name] !== point[name])
    .map(({ name }) => ({ axis: name, from: String(base[name]), to: String(point[name]) }));

/** "k11 with queryRows 64 (128), unroll 8 (4)": the rung's own values in parentheses. */
export function byChanges(id: string, changes: readonly Change[]): string {
  if (changes.length === 0) return `the same point as ${id}`;
  return `${id} with ${changes.map(({ axis, from, to }) => `${axis} ${to} (${from})`).join(", ")}`;
}

/** In words, by the rung whose point is nearest. */
export function inWords(point: FlashPoint): string {
  const [nearest] = ladder
    .map(({ id, point: base }) => ({ id, changes: changesFrom(base, point) }))
    .toSorted((a, b) => a.changes.length - b.changes.length);
  return nearest === undefined ? NOTHING : byChanges(nearest.id, nearest.changes);
}

/** What champions are told by: the fastest rung that was written by hand. */
export const REGISTER_TILES = rungById("k11");

/** The problem that a run's input names; null where it is no shape, such as a file of tensors. */
export function problemIn(input: string): ReturnType<typeof parseShape> | null {
  try {
    return parseShape(input.replace(/, random data$/, ""));
  } catch (error) {
    if (error instanceof EvolverError) return null;
    throw error;
  }
}
