/**
 * Inputs to try attention on: seeded random tensors, plain and hostile. The same seed gives the same numbers on every
 * machine.
 */

import { Random } from "@evolver/base";
import type { AttentionProblem } from "./problem.ts";
import { elementCount, extentsOf, toStrided } from "./tensor.ts";

/**
 * - normal: N(0, 1).
 * - outlier: the same, and 0.1 % of the entries of each tensor have a further normal of standard deviation 10 added.
 * - deep: scores from about −1e4 down to about −2.45e5, so that a finite stand-in for −∞ shows.
 * - flat: scores so close to 0 that o is about the mean of the visible values.
 */
export type Distribution = "normal" | "outlier" | "deep" | "flat";

/** All kinds of data that `randomInputs` draws. */
export const DISTRIBUTIONS: readonly Distribution[] = ["normal", "outlier", "deep", "flat"];

/** Inputs as a launch takes them. */
export interface FloatInputs {
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
}

/** How inputs are drawn. The same seed gives the same data. */
export interface InputOptions {
  readonly seed: number;
  readonly distribution?: Distribution;
  /** Elements of NaN behind the end of each tensor; what lies between strided elements is NaN anyhow. */
  readonly padding?: number;
}

/** Inputs of a problem, laid out by its strides in arrays filled with NaN elsewhere. */
export function randomInputs(problem: AttentionProblem, options: InputOptions): FloatInputs {
  const { seed, distribution = "normal", padding = 0 } = options;
  const random = new Random(seed);
  const extents = extentsOf(problem.shape);
  const dense = {
    q: draw(random, elementCount(extents.q), distribution),
    k: draw(random, elementCount(extents.k), distribution),
    v: draw(random, elementCount(extents.v), distribution === "outlier" ? "outlier" : "normal"),
  };
  if (distribution === "flat") dense.q.forEach((value, i) => (dense.q[i] = value / 1024));
  if (distribution === "deep") deepen(problem, dense, random);
  return {
    q: toStrided(dense.q, extents.q, problem.strides.q, padding),
    k: toStrided(dense.k, extents.k, problem.strides.k, padding),
    v: toStrided(dense.v, extents.v, problem.strides.v, padding),
  };
}

function draw(random: Random, length: number, distribution: Distribution): Float32Array {
  const data = Float32Array.from({ length }, () => random.normal());
  if (distribution !== "outlier") return data;
  for (let i = 0; i < length; i++) {
    if (random.below(1000) === 0) data[i] = (data[i] as number) + 10 * random.normal();
  }
  return data;
}

/** Replaces q and k so that the scores run over the keys from about −1e4 to −2.45e5, all terms of one sign. */
function deepen(problem: AttentionProblem, dense: FloatInputs, random: Random): void {
  const { seqK, dim } = problem.shape;
  const size = Math.sqrt(1 / (Math.abs(problem.scale) * dim || 1));
  const sign = problem.scale < 0 ? 1 : -1;
  // Terms that differ a little: equal ones would round the same way in every row.
  const about = (value: number): number => value * (0.95 + 0.1 * random.uniform());
  for (let i = 0; i < dense.q.length; i++) dense.q[i] = about(size);
  for (let i = 0; i < dense.k.length; i++) {
    const key = Math.floor(i / dim) % seqK;
    dense.k[i] = about(sign * size * (1e4 + (2.35e5 * key) / Math.max(seqK - 1, 1)));
  }
}
