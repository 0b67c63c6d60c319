/**
 * Whether a result of attention is right: by the rule of `allowedError`, with factor 2, or 3 with a softcap. The same rule is
 * used for the finite entries of the LSE; −Infinity must be −Infinity. A NaN never passes, not even where the truth is NaN.
 *
 * `low` is one sample of rounding errors, and its largest error comes from a few sensitive rows. An honest kernel would exceed
 * it now and then. So `low` is evaluated in several orders of summation on the rows with its largest errors.
 *
 * The error of a float32 sum in one sequence grows with its terms: over 131,072 equal keys it is 1e-3, and a `low` that adds so
 * would allow every kernel as much. `low` adds at most 1024 terms one after another, then the sums of so many, as a blocked
 * sum does (Blanchard, Higham and Mary 2020, "A class of fast and accurate summation algorithms"). So the bound does not grow with
 * the keys, and says nothing about how a kernel has to add: only that long rows need better than one sequence.
 *
 * Where a few keys have nearly all of the weight, most of a block's terms are too small to round anything: the longer the
 * blocks, the smaller the error. But each of their sums rounds what stands already, and a kernel that goes tile by tile has many
 * such sums. With values far from zero, that error is all there is to see. So every second order is a kernel's: tiles of 64.
 */

import { allowedError, EvolverError, largestMagnitude } from "@evolver/base";
import type { AttentionProblem } from "./problem.ts";
import type { Summation } from "./blocked-sums.ts";
import { lowAttention, referenceAttention } from "./reference.ts";
import type { AttentionInputs, AttentionResult } from "./reference.ts";
import { extentsOf, forEachRow, spanOf, unflatten } from "./tensor.ts";
import type { Extents } from "./tensor.ts";

/** What a kernel gave: o laid out as the problem's strides say, lse dense as [batch, headsQ, seqQ], if asked for. */
export interface AttentionOutput {
  readonly o: Float32Array;
  readonly lse: Float32Array | null;
}

/** The truth about one problem on given inputs; worth keeping where several outputs are compared with it. */
export interface AttentionTruth {
  readonly reference: AttentionResult<Float64Array>;
  /** The largest absolute error of o that passes. */
  readonly bound: number;
  /** The largest absolute error of a finite lse that passes. */
  readonly lseBound: number;
}

/** An element that was compared. */
export interface ComparedElement {
  readonly tensor: "o" | "lse";
  /** [batch, head, row, dim] of o, [batch, head, row] of lse. */
  readonly index: readonly number[];
  readonly actual: number;
  readonly expected: number;
}

/** Results beside the reference: the errors, and the largest ones that pass. */
export interface AttentionComparison {
  readonly pass: boolean;
  /** The largest absolute error of o; Infinity where o is not a finite number. 0 where there is nothing to compare. */
  readonly error: number;
  readonly bound: number;
  /** As `error`, of lse; Infinity also where only one of the two is −Infinity. Null where no lse was given. */
  readonly lseError: number | null;
  readonly lseBound: number;
  /** The element that is furthest off, in bounds; null where there is nothing to compare. */
  readonly where: ComparedElement | null;
}

/** Rows for which `low` is evaluated again: those with the largest errors of o, and of the lse. */
const SENSITIVE_ROWS = 256;
/** The same where the truth is known for some rows only, and every second counts. */
const SENSITIVE_CHOSEN_ROWS = 32;
const SUMMATION_ORDERS = 8;
/** As a kernel that adds up tiles does. */
const TILES: Summation = { terms: 64, sums: 256 };
/** How `low` adds up over the keys: each order of summation takes the next. */
const SUMMATIONS: readonly Summation[] = [1024, 512, 768, 256].flatMap((block) => [
  { terms: block, sums: block },
  TILES,
]);
/** A few rows are few samples: problems of up to this many rows get four times as many orders of summation. */
const FEW_ROWS = 32;

/**
 * Computes the float64 reference of a problem and the errors that the rule allows.
 *
 * @param chosen only for these rows of the dense [batch, headsQ, seqQ]; the reference of the others means nothing
 */
export function attentionTruth(
  problem: AttentionProblem,
  inputs: AttentionInputs,
  chosen?: ReadonlySet<number>,
): AttentionTruth {
  const reference = referenceAttention(problem, inputs, chosen);
  const low = lowAttention(problem, inputs, chosen === undefined ? {} : { rows: chosen });
  const first = rowErrors(low, reference, chosen);
  let lowError = largestMagnitude(first.o);
  let lowLseError = largestMagnitude(first.lse);
  const candidates = chosen === undefined ? [...first.lse.keys()] : [...chosen];
  const count = chosen === undefined ? SENSITIVE_ROWS : SENSITIVE_CHOSEN_ROWS;
  const rows = new Set([first.o, first.lse].flatMap((errors) => sensitiveRows(errors, candidates, count)));
  const orders = (chosen?.size ?? reference.lse.length) <= FEW_ROWS ? 4 * SUMMATION_ORDERS : SUMMATION_ORDERS;
  for (let order = 1; order < orders; order++) {
    const summation = SUMMATIONS[order % SUMMATIONS.length] as Summation;
    const again = lowAttention(problem, inputs, {
      firstDim: order * 5,
      firstKey: order * 3,
      summation,
      rows,
    });
    const errors = rowErrors(again, reference, rows);
    lowError = Math.max(lowError, largestMagnitude(errors.o));
    lowLseError = Math.max(lowLseError, largestMagnitude(errors.lse));
  }
  const factor = problem.softcap > 0 ? 3 : 2;
  return {
    reference,
    bound: allowedError(reference.o, lowError, { factor }),
    lseBound: allowedError(reference.lse, lowLseError, { factor, limited: false }),
  };
}

/**
 * Compares a kernel's output with the truth.
 *
 * @throws ATTENTION_OUTPUT where o or lse have not as many elements as the problem says
 */
export function compareWithTruth(
  problem: AttentionProblem,
  truth: AttentionTruth,
  output: AttentionOutput,
): AttentionComparison {
  const extents = extentsOf(problem.shape).o;
  const { reference, bound, lseBound } = truth;
  checkLength("o", output.o, spanOf(extents, problem.strides.o));
  const o = worstOfRows(output.o, reference.o, extents, problem);
  if (output.lse === null)
    return { pass: o.error <= bound, error: o.error, bound, lseError: null, lseBound, where: o.where };
  checkLength("lse", output.lse, reference.lse.length);
  const lse = worstOfLse(output.lse, reference.lse, extents);
  return {
    pass: o.error <= bound && lse.error <= lseBound,
    error: o.error,
    bound,
    lseError: lse.error,
    lseBound,
    where: inBounds(lse.error, lseBound) > inBounds(o.error, bound) ? lse.where : o.where,
  };
}

/** `compareWithTruth` for one output; computes the reference itself, which takes about as long as the attention. */
export function compareAttention(
  problem: AttentionProblem,
  inputs: AttentionInputs,
  output: AttentionOutput,
): AttentionComparison {
  return compareWithTruth(problem, attentionTruth(problem, inputs), output);
}

interface Worst {
  readonly error: number;
  readonly where: ComparedElement | null;
}

function worstOfRows(
  actual: Float32Array,
  expected: Float64Array,
  extents: Extents,
  problem: AttentionProblem,
): Worst {
  const strideOfDim = problem.strides.o[3];
  let error = -1;
  let worst = -1;
  let worstActual = 0;
  let position = 0;
  forEachRow(extents, problem.strides.o, (offset) => {
    for (let d = 0; d < extents[3]; d++, position++) {
      const value = actual[offset + d * strideOfDim] as number;
      const difference = errorOf(value, expected[position] as number);
      if (difference <= error) continue;
      error = difference;
      worst = position;
      worstActual = value;
    }
  });
  if (worst < 0) return { error: 0, where: null };
  const index = unflatten(worst, extents);
  return { error, where: { tensor: "o", index, actual: worstActual, expected: expected[worst] as number } };
}

function worstOfLse(actual: Float32Array, expected: Float64Array, [batch, heads, rows]: Extents): Worst {
  let error = -1;
  let worst = -1;
  for (let i = 0; i < expected.length; i++) {
    const difference = errorOf(actual[i] as number, expected[i] as number);
    if (difference <= error) continue;
    error = difference;
    worst = i;
  }
  if (worst < 0) return { error: 0, where: null };
  const index = unflatten(worst, [batch, heads, rows, 1]).slice(0, 3);
  return {
    error,
    where: { tensor: "lse", index, actual: actual[worst] as number, expected: expected[worst] as number },
  };
}

/** The absolute error; 0 for equal infinities, Infinity for anything that is not a number or infinitely far off. */
function errorOf(actual: number, expected: number): number {
  if (actual === expected) return 0;
  const difference = Math.abs(actual - expected);
  return Number.isNaN(difference) ? Infinity : difference;
}

/** How many bounds an error is; for choosing the worst of two tensors. */
function inBounds(error: number, bound: number): number {
  return error === 0 ? 0 : error / bound;
}

interface RowErrors {
  /** The largest finite error of each row. */
  readonly o: Float64Array;
  readonly lse: Float64Array;
}

function rowErrors(
  low: AttentionResult<Float32Array>,
  reference: AttentionResult<Float64Array>,
  rows?: ReadonlySet<number>,
): RowErrors {
  const count = reference.lse.length;
  const dim = count === 0 ? 0 : reference.o.length / count;
  const errors = { o: new Float64Array(count), lse: new Float64Array(count) };
  for (const row of rows ?? errors.lse.keys()) {
    const lseError = Math.abs((low.lse[row] as number) - (reference.lse[row] as number));
    if (Number.isFinite(lseError)) errors.lse[row] = lseError;
    let most = 0;
    for (let i = row * dim; i < (row + 1) * dim; i++) {
      const error = Math.abs((low.o[i] as number) - (reference.o[i] as number));
      if (error > most && error !== Infinity) most = error;
    }
    errors.o[row] = most;
  }
  return errors;
}

function sensitiveRows(errors: Float64Array, candidates: readonly number[], count: number): number[] {
  const order = candidates.toSorted((a, b) => (errors[b] as number) - (errors[a] as number));
  return order.slice(0, count);
}

function checkLength(tensor: "o" | "lse", data: Float32Array, needed: number): void {
  if (data.length >= needed) return;
  throw new EvolverError(
    "ATTENTION_OUTPUT",
    `${tensor} has ${data.length} elements; the problem's shape and strides need ${needed}`,
    { hint: "compare the whole output buffer with the problem that it was computed for" },
  );
}
