/**
 * What the trials so far say about points not tried: a Gaussian process on log time. Points are alike as far as few
 * axes differ, and by little; which axes matter is learnt from the trials (marginal likelihood). Exact, and quick for
 * the few hundred trials that a study has.
 */

import { mean, standardDeviation } from "@evolver/base";
import type { Axis, Point, Space } from "../study/point.ts";
import type { Memory } from "./sampler.ts";

interface Prediction {
  /** Of log time, in standard deviations of the trials' log times from their mean. */
  readonly mean: number;
  readonly deviation: number;
}

export interface Surrogate {
  predict(point: Point): Prediction;
  /** How much faster than the best trial it may be, on average over what it could be (expected improvement). */
  improvement(point: Point): number;
  /** Expected time over the best trial's time. */
  ratio(point: Point): number;
}

/** Share of the variance that is no function of the point. */
const NOISE = 1e-3;
/** How fast likeness falls along a whole axis: the choices, and where the search for them starts. */
const DECAYS = [0.05, 0.2, 0.6, 1.5, 4];
const FIRST_DECAY = 2;
const SWEEPS = 2;
/** Of more trials than these, the fastest and an even choice of the rest are used: to predict, and to learn decays. */
const MOST = 96;
const MOST_TO_LEARN = 40;

/** Needs at least one trial with a time. */
export function fitSurrogate(space: Space, memory: readonly Memory[]): Surrogate {
  const axes = space.axes.filter(({ values }) => values.length > 1);
  const timed = selectTrials(
    memory.filter(({ timeMs }) => timeMs !== null),
    MOST,
  );
  const places = timed.map(({ point }) => placeOf(axes, point));
  const logs = timed.map(({ timeMs }) => Math.log(timeMs as number));
  const middle = mean(logs);
  const scale = standardDeviation(logs) || 1;
  const y = logs.map((log) => (log - middle) / scale);
  const best = Math.min(...y);

  const learnt = new Set(selectTrials(timed, MOST_TO_LEARN));
  const chosen = [...timed.keys()].filter((i) => learnt.has(timed[i] as Memory));
  const decays = learnDecays(
    axes,
    chosen.map((i) => places[i] as number[]),
    chosen.map((i) => y[i] as number),
  );
  const factor = cholesky(covariance(places, decays));
  const weights = solveUpper(factor, solveLower(factor, y));

  const predict = (point: Point): Prediction => {
    const place = placeOf(axes, point);
    const likeness = places.map((other) => kernel(place, other, decays));
    const projected = solveLower(factor, likeness);
    return {
      mean: dot(likeness, weights),
      deviation: Math.sqrt(Math.max(1e-12, 1 + NOISE - dot(projected, projected))),
    };
  };
  return {
    predict,
    improvement(point) {
      const { mean: expected, deviation } = predict(point);
      const z = (best - expected) / deviation;
      return deviation * (z * normalBelow(z) + Math.exp(-z * z * 0.5) / Math.sqrt(2 * Math.PI));
    },
    ratio: (point) => Math.exp((predict(point).mean - best) * scale),
  };
}

function selectTrials(timed: readonly Memory[], most: number): readonly Memory[] {
  if (timed.length <= most) return timed;
  const ranked = timed.toSorted((a, b) => (a.timeMs as number) - (b.timeMs as number) || a.trial - b.trial);
  const half = most / 2;
  const rest = ranked.slice(half);
  const spread = Array.from({ length: half }, (_, i) => rest[Math.floor((i * rest.length) / half)] as Memory);
  return [...ranked.slice(0, half), ...spread];
}

/** Where a point lies on each axis, 0 to 1; words have no order, so they are their own index, negative. */
function placeOf(axes: readonly Axis[], point: Point): number[] {
  return axes.map(({ name, values }) => {
    const index = values.indexOf(point[name] as number | string);
    return typeof values[0] === "number" ? index / (values.length - 1) : -1 - index;
  });
}

function kernel(a: readonly number[], b: readonly number[], decays: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const [x, z] = [a[i] as number, b[i] as number];
    if (x !== z) sum += (decays[i] as number) * (x < 0 ? 1 : Math.abs(x - z));
  }
  return Math.exp(-sum);
}

function covariance(places: readonly (readonly number[])[], decays: readonly number[]): number[][] {
  return places.map((a, i) =>
    places.slice(0, i + 1).map((b, j) => kernel(a, b, decays) + (i === j ? NOISE : 0)),
  );
}

/** Axis by axis, the decay under which the trials are most likely. */
function learnDecays(
  axes: readonly Axis[],
  places: readonly (readonly number[])[],
  y: readonly number[],
): number[] {
  const decays = axes.map(() => DECAYS[FIRST_DECAY] as number);
  if (y.length < 4) return decays;
  let highest = likelihood(places, y, decays);
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    for (const i of axes.keys())
      for (const decay of DECAYS) {
        const before = decays[i] as number;
        if (decay === before) continue;
        decays[i] = decay;
        const value = likelihood(places, y, decays);
        if (value > highest) highest = value;
        else decays[i] = before;
      }
  return decays;
}

/** Log marginal likelihood, with a mild preference for axes that matter little. */
function likelihood(
  places: readonly (readonly number[])[],
  y: readonly number[],
  decays: readonly number[],
): number {
  const factor = cholesky(covariance(places, decays));
  const projected = solveLower(factor, y);
  const logDeterminant = factor.reduce((sum, row, i) => sum + Math.log(row[i] as number), 0);
  const preference = decays.reduce((sum, decay) => sum + decay, 0);
  return -0.5 * dot(projected, projected) - logDeterminant - 0.1 * preference;
}

/** The lower triangle L with L·Lᵀ = A, A given by its lower triangle and positive definite. */
function cholesky(a: readonly (readonly number[])[]): number[][] {
  const factor: number[][] = [];
  for (let i = 0; i < a.length; i++) {
    const row: number[] = [];
    for (let j = 0; j <= i; j++) {
      const other = j === i ? row : (factor[j] as number[]);
      let sum = (a[i] as number[])[j] as number;
      for (let k = 0; k < j; k++) sum -= (row[k] as number) * (other[k] as number);
      row.push(j === i ? Math.sqrt(Math.max(sum, 1e-12)) : sum / (other[j] as number));
    }
    factor.push(row);
  }
  return factor;
}

function solveLower(factor: readonly (readonly number[])[], b: readonly number[]): number[] {
  const x: number[] = [];
  for (const [i, row] of factor.entries()) {
    let sum = b[i] as number;
    for (let k = 0; k < i; k++) sum -= (row[k] as number) * (x[k] as number);
    x.push(sum / (row[i] as number));
  }
  return x;
}

function solveUpper(factor: readonly (readonly number[])[], b: readonly number[]): number[] {
  const x = [...b];
  for (let i = factor.length - 1; i >= 0; i--) {
    for (let k = i + 1; k < factor.length; k++)
      x[i] = (x[i] as number) - ((factor[k] as number[])[i] as number) * (x[k] as number);
    x[i] = (x[i] as number) / ((factor[i] as number[])[i] as number);
  }
  return x;
}

function dot(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** The standard normal distribution function (Zelen and Severo, absolute error below 1e-7). */
function normalBelow(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const tail =
    (Math.exp(-z * z * 0.5) / Math.sqrt(2 * Math.PI)) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z >= 0 ? 1 - tail : tail;
}
