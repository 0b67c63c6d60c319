/** What a test of the suite is, and helpers that all of them use to lay out cases and to read outcomes. */

import type { PlotPoint, PlotSeries, PlotSpec } from "@evolver/base";
import type { Figure } from "./report.ts";
import type { Outcome } from "./runner.ts";
import type { CaseSpec, LaunchSpec, Setup } from "./spec.ts";

export interface Context {
  readonly setup: Setup;
  readonly multiprocessors: number;
  readonly clockGHz: number | null;
  /** Of the cache that all multiprocessors share, where the driver says. */
  readonly cacheBytes: number | null;
}

/** What several results say together. */
interface Reading {
  readonly figures: readonly Figure[];
  readonly plots: readonly PlotSpec[];
}

export interface TestPlan {
  /** Launches that make the inputs, once. */
  readonly fills: readonly LaunchSpec[];
  readonly cases: readonly CaseSpec[];
  read(outcomes: readonly Outcome[], context: Context): Reading;
}

export interface Test {
  readonly id: string;
  readonly title: string;
  /** What it measures and how to read it, in a sentence or two. */
  readonly about: string;
  plan(setup: Setup): TestPlan;
}

/** The value for the size of the machine: tiny (sim), small (a processor), full (a GPU). */
export const bySize = <T>({ size }: Setup, tiny: T, small: T, full: T): T =>
  size === "tiny" ? tiny : size === "small" ? small : full;

/** The largest power of two that is at most n. */
export const powerOfTwo = (n: number): number => 2 ** Math.floor(Math.log2(n));

/** From `from` to `to`, doubling. */
export function doubling(from: number, to: number): number[] {
  const values: number[] = [];
  for (let value = from; value <= to; value *= 2) values.push(value);
  return values;
}

type Chosen = Outcome & { readonly value: number };

/** Outcomes with a value that is right. */
export const measured = (outcomes: readonly Outcome[]): Chosen[] =>
  outcomes.filter((outcome): outcome is Chosen => outcome.value !== null && outcome.verified);

export function best(outcomes: readonly Outcome[], better: "more" | "less" = "more"): Chosen | null {
  const sorted = measured(outcomes).toSorted((a, b) => b.value - a.value);
  return (better === "more" ? sorted[0] : sorted.at(-1)) ?? null;
}

/** One line for each value of the setting `by`, over the setting `x`. */
export function seriesBy(outcomes: readonly Outcome[], x: string, by: string): PlotSeries[] {
  const lines = new Map<string, PlotPoint[]>();
  for (const { spec, value } of measured(outcomes)) {
    const at = spec.settings[x];
    if (typeof at !== "number") continue;
    const name = String(spec.settings[by] ?? "");
    const line = lines.get(name) ?? [];
    line.push({ x: at, y: value });
    lines.set(name, line);
  }
  return [...lines].map(([name, points]) => ({
    kind: "line",
    name,
    points: points.toSorted((a, b) => a.x - b.x),
  }));
}

export function figure(id: string, name: string, value: number | null, unit: string): Figure[] {
  return value === null || !Number.isFinite(value) ? [] : [{ id, name, value, unit }];
}

/** A latency in nanoseconds, and in clocks where the clock is known. */
export function latencyFigures(id: string, name: string, ns: number | null, context: Context): Figure[] {
  if (ns === null) return [];
  const clocks = context.clockGHz === null ? null : ns * context.clockGHz;
  return [...figure(`${id}Ns`, name, ns, "ns"), ...figure(`${id}Clocks`, name, clocks, "clocks")];
}
