/** Where an axis begins and ends, and at which values it is marked. */

import { binaryBytes, type ValueAxis } from "@evolver/base";

export interface Ticks {
  readonly low: number;
  readonly high: number;
  readonly at: readonly number[];
  label(value: number): string;
}

/** @param values all that the axis has to show */
export function ticksOf(axis: ValueAxis, values: readonly number[]): Ticks {
  const all = [...values, ...[axis.from, axis.to].filter((end) => end !== undefined)];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const label = axis.unit === "bytes" ? binaryBytes : shortNumber;
  return { ...(axis.log ? logarithmic(axis, all, low, high) : linear(low, high)), label };
}

function linear(low: number, high: number): Omit<Ticks, "label"> {
  const from = Math.min(0, low) * 1.05;
  const to = high > 0 ? high * 1.05 : from < 0 ? 0 : 1;
  return { low: from, high: to, at: evenly(from, to) };
}

/** Steps of 1, 2 or 5 times a power of ten, 8 at most between the ends. */
function evenly(low: number, high: number): number[] {
  const span = high - low;
  const unit = 10 ** Math.floor(Math.log10(span / 5));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((size) => span / size <= 8) ?? span;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, k) => tidy((first + k) * step));
}

const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));

/** Of the length of an axis, beyond its first and its last value. */
const ROOM = 0.04;
const MOST_TICKS = 10;

function logarithmic(
  { unit }: ValueAxis,
  values: readonly number[],
  low: number,
  high: number,
): Omit<Ticks, "label"> {
  const room = Math.max(high / low, 1.2) ** ROOM;
  const ends = { low: low / room, high: high * room };
  const inside = (ticks: readonly number[]): number[] =>
    ticks.filter((tick) => tick >= ends.low && tick <= ends.high);
  // Settings are mostly powers of two, and are then their own ticks, if need be every second or third of them.
  if (unit === "bytes" || values.every(isPowerOfTwo)) {
    const [from, to] = [Math.ceil(Math.log2(low)), Math.floor(Math.log2(high))];
    const step = Math.ceil((to - from + 1) / MOST_TICKS);
    const count = Math.floor((to - from) / step) + 1;
    return { ...ends, at: Array.from({ length: Math.max(0, count) }, (_, k) => 2 ** (from + k * step)) };
  }
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const steps = high / low > 1000 ? [1] : [1, 2, 5];
  const decades = Array.from({ length: last - first + 1 }, (_, k) => first + k);
  const round = inside(decades.flatMap((power) => steps.map((step) => tidy(step * 10 ** power))));
  return { ...ends, at: round.length > 2 ? round : inside(evenly(ends.low, ends.high)) };
}

/** Without what binary arithmetic leaves behind: 0.30000000000000004 → 0.3. */
const tidy = (value: number): number => Number(value.toPrecision(12));

/** 51200 → "51.2k": without a space, since many stand in a row. */
function shortNumber(value: number): string {
  if (Math.abs(value) < 10_000) return String(Number(value.toPrecision(4)));
  const [prefix, scale] = (
    [
      ["T", 1e12],
      ["G", 1e9],
      ["M", 1e6],
      ["k", 1e3],
    ] as const
  ).find(([, least]) => Math.abs(value) >= least) ?? ["", 1];
  return `${Number((value / scale).toPrecision(3))}${prefix}`;
}
