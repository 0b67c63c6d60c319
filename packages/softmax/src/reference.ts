/** The truth in float64, and how far a float32 result may be from it. */

import { allowedError } from "@evolver/base";
import { EPSILON, type RowOperation, type RowProblem } from "./problem.ts";

/** Rounds each operation: to float32, or not at all. */
type Round = (value: number) => number;

const exact: Round = (value) => value;

/**
 * One row by its definition. Sums begin at an element of one's choice and wrap round, so that several orders of summation
 * show how much rounding matters.
 */
type RowFunction = (row: Float64Array | Float32Array, round: Round, first: number) => number[];

const operations: Readonly<Record<RowOperation, RowFunction>> = {
  /** Zeros for a row of nothing but −∞. */
  softmax(row, round, first) {
    let maximum = -Infinity;
    for (const value of row) maximum = Math.max(maximum, value);
    if (maximum === -Infinity) return Array.from(row, () => 0);
    const weights = Array.from(row, (value) => round(Math.exp(round(value - maximum))));
    const sum = sumOf(weights, round, first);
    return weights.map((weight) => round(weight / sum));
  },
  layerNorm(row, round, first) {
    const { length } = row;
    const mean = round(sumOf(row, round, first) / length);
    const differences = Array.from(row, (value) => round(value - mean));
    const squares = differences.map((difference) => round(difference * difference));
    const variance = round(sumOf(squares, round, first) / length);
    const factor = round(1 / round(Math.sqrt(round(variance + EPSILON))));
    return differences.map((difference) => round(difference * factor));
  },
};

function sumOf(values: ArrayLike<number>, round: Round, first: number): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum = round(sum + (values[(first + i) % values.length] as number));
  return sum;
}

/** In float64. NaN and +∞ make NaN of their row; in layer norm −∞ does, too. */
export function referenceRows({ operation, rows, columns }: RowProblem, x: Float32Array): Float64Array {
  const result = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    const from = row * columns;
    result.set(operations[operation](x.subarray(from, from + columns), exact, 0), from);
  }
  return result;
}

/** The right results in float64, with the largest error that passes. */
export interface RowTruth {
  readonly values: Float64Array;
  /** The largest absolute error that passes. */
  readonly bound: number;
}

/** Orders of summation in which plain float32 is tried, and rows that it is tried on at most. */
const ORDERS = 4;
const SAMPLED_ROWS = 64;

/** The reference and the error that `allowedError` grants, by plain float32 on rows from everywhere. */
export function rowTruth(problem: RowProblem, x: Float32Array): RowTruth {
  const { operation, rows, columns } = problem;
  const values = referenceRows(problem, x);
  const step = Math.max(1, Math.floor(rows / SAMPLED_ROWS));
  let lowError = 0;
  for (let row = 0; row < rows; row += step) {
    const from = row * columns;
    for (let order = 0; order < ORDERS; order++) {
      const first = Math.floor((order * columns) / ORDERS);
      const low = operations[operation](x.subarray(from, from + columns), Math.fround, first);
      for (const [i, value] of low.entries()) {
        const error = Math.abs(value - (values[from + i] as number));
        if (Number.isFinite(error)) lowError = Math.max(lowError, error);
      }
    }
  }
  return { values, bound: allowedError(values, lowError) };
}
