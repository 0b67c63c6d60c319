/** Compares outputs with the truth. A NaN never passes, nor does an element that was never written. */

import { mean } from "@evolver/base";
import type { AnyTypedArray } from "@evolver/device";
import { isTrusted, type Case, type Expected, type Truth, type Trusted } from "./case.ts";

export type Outputs = Readonly<Record<string, AnyTypedArray>>;

export interface Comparison {
  /** Of the element closest to, or furthest beyond, its bound; null if there are no elements. */
  readonly error: number | null;
  readonly bound: number | null;
  /** What is wrong, naming output and index; null if nothing. */
  readonly problem: string | null;
}

/** @param values one array for each output; float64 allowed, to try made-up answers */
export function compareOutputs(
  values: Readonly<Record<string, AnyTypedArray | Float64Array>>,
  expected: Readonly<Record<string, Expected>>,
): Comparison {
  let worst: Comparison = { error: null, bound: null, problem: null };
  let worstRatio = -1;
  for (const [name, truth] of Object.entries(expected)) {
    const actual = values[name];
    const length = isTrusted(truth) ? truth.length : truth.values.length;
    if (!actual || actual.length !== length)
      return { error: null, bound: null, problem: `The output ${name} is missing or has the wrong length.` };
    if (isTrusted(truth)) {
      const at = firstNaN(actual);
      if (at < 0) continue;
      const problem = `${name}[${at}] is NaN: it was never written, or computed so.`;
      return { error: null, bound: null, problem };
    }
    const { furthest, ratio, wrong } = furthestOff(actual, truth);
    if (furthest === null) continue;
    const { error, bound } = furthest;
    if (wrong > 0)
      return { error: finite(error), bound, problem: explain(name, furthest, wrong, actual.length) };
    if (ratio > worstRatio) worst = { error, bound, problem: null };
    worstRatio = Math.max(ratio, worstRatio);
  }
  return worst;
}

/** The index of the first NaN; −1 if there is none. */
function firstNaN(values: AnyTypedArray | Float64Array): number {
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value !== value) return i;
  }
  return -1;
}

interface ComparedElement {
  readonly index: number;
  readonly got: number;
  readonly want: number;
  /** The absolute difference; NaN where `got` is. */
  readonly error: number;
  readonly bound: number;
}

interface Furthest {
  /** The first NaN, else the element whose error is largest in terms of its bound; null if no truth is known. */
  readonly furthest: ComparedElement | null;
  readonly ratio: number;
  /** Elements that are beyond their bounds. */
  readonly wrong: number;
}

function furthestOff(
  actual: AnyTypedArray | Float64Array,
  { values, known, bound: bounds }: Truth,
): Furthest {
  let furthest: ComparedElement | null = null;
  let most = -1;
  let wrong = 0;
  for (let index = 0; index < actual.length; index++) {
    const got = actual[index] as number;
    if (known?.[index] === 0 && !Number.isNaN(got)) continue;
    const want = values[index] as number;
    const bound = typeof bounds === "number" ? bounds : (bounds[index] as number);
    const error = got === want ? 0 : Math.abs(got - want);
    const isRight = error <= bound;
    if (!isRight) wrong++;
    // A NaN is beyond all: no comparison with it holds.
    const ratio = Number.isNaN(error) ? Infinity : error === 0 ? 0 : error / bound;
    const isFirstNaN = Number.isNaN(error) && !Number.isNaN(furthest?.error);
    if (ratio <= most && !isFirstNaN) continue;
    furthest = { index, got, want, error, bound };
    most = ratio;
  }
  return { furthest, ratio: most, wrong };
}

/** How much larger the bound is against another answer than against the truth, since that answer has an error of its own. */
const TRUSTED_FACTOR = 8;

/**
 * Compares where the truth is not known with an answer that is trusted, though computed in f32.
 *
 * @returns what is wrong, naming output and index; null if nothing
 */
export function compareUnknown(
  outputs: Outputs,
  trusted: Outputs,
  expected: Readonly<Record<string, Expected>>,
): string | null {
  for (const [name, truth] of Object.entries(expected)) {
    const [actual, other] = [outputs[name], trusted[name]];
    if (actual === undefined || other === undefined) continue;
    if (isTrusted(truth)) {
      const differs = differenceFrom(name, actual, other, truth);
      if (differs !== null) return differs;
      continue;
    }
    const { known, bound } = truth;
    if (known === undefined) continue;
    for (let i = 0; i < actual.length; i++) {
      if (known[i] !== 0) continue;
      const [got, want] = [actual[i] as number, other[i] as number];
      const limit = TRUSTED_FACTOR * (typeof bound === "number" ? bound : (bound[i] as number));
      const difference = Math.abs(got - want);
      if (got === want || difference <= limit) continue;
      return `${name}[${i}] is ${got}, and the study's baseline gives ${want}; they may differ by ${limit.toExponential(2)}: ${overBy(difference, limit)}.`;
    }
  }
  return null;
}

/** The first element that is too far from the baseline's answer, in words; null if none is. */
function differenceFrom(
  name: string,
  actual: AnyTypedArray,
  other: AnyTypedArray,
  { relative }: Trusted,
): string | null {
  const limit = relative * largestOf(other);
  for (let i = 0; i < actual.length; i++) {
    const got = actual[i] as number;
    const want = other[i] as number;
    if (got === want) continue;
    const difference = Math.abs(got - want);
    if (difference <= limit) continue;
    return `${name}[${i}] is ${got}, and the study's baseline gives ${want}; they may differ by ${limit.toExponential(2)}: ${overBy(difference, limit)}.`;
  }
  return null;
}

/** The largest magnitude of the finite values. */
function largestOf(values: AnyTypedArray): number {
  let largest = 0;
  for (let i = 0; i < values.length; i++) {
    const magnitude = Math.abs(values[i] as number);
    if (magnitude > largest && magnitude < Infinity) largest = magnitude;
  }
  return largest;
}

/** Whether the baseline has to be asked. */
export const needsBaseline = (expected: Readonly<Record<string, Expected>>): boolean =>
  Object.values(expected).some((truth) => isTrusted(truth) || truth.known !== undefined);

/** Why the outputs of a case could be met by an answer that computes nothing; null if none would pass. */
export function trivialAnswer(expected: Readonly<Record<string, Expected>>): string | null {
  for (const [name, truth] of Object.entries(expected)) {
    if (isTrusted(truth)) continue;
    const { values } = truth;
    const only = { [name]: truth };
    for (const [what, answer] of trivialAnswers(values))
      if (compareOutputs({ [name]: answer }, only).problem === null)
        return `${what} would pass for the output ${name}`;
  }
  return null;
}

function trivialAnswers(values: Float64Array): [string, Float64Array][] {
  const { length } = values;
  if (length === 0) return [];
  // Of one element, all of the others would be the answer itself.
  if (length === 1) return [["Zero", new Float64Array(1)]];
  const finiteValues = values.filter((value) => Number.isFinite(value));
  const middle = finiteValues.length === 0 ? 0 : mean(finiteValues);
  const answers: [string, Float64Array][] = [
    ["All zeros", new Float64Array(length)],
    ["The mean everywhere", new Float64Array(length).fill(middle)],
    ["The first element everywhere", new Float64Array(length).fill(values[0] as number)],
  ];
  answers.push(["The answer in reverse order", values.toReversed()]);
  answers.push([
    "The answer shifted by one element",
    values.map((_, i) => values[(i + 1) % length] as number),
  ]);
  return answers;
}

/** The inputs of `input` that the truth does not depend on, as far as a second set of data of the same sizes shows. */
export function ignoredInputs<S extends Case>(
  input: S,
  other: S,
  expected: Readonly<Record<string, Expected>>,
  evaluate: (changed: S) => Readonly<Record<string, Expected>>,
): string[] {
  return Object.entries(input.inputs)
    .filter(([name, data]) => {
      const fresh = other.inputs[name];
      if (!fresh || fresh.length !== data.length || data.length === 0) return false;
      // What the study always gives alike shows nothing.
      if (fresh.every((value, i) => Object.is(value, data[i]))) return false;
      const moved = evaluate({ ...input, inputs: { ...input.inputs, [name]: fresh } });
      const answer = Object.fromEntries(
        Object.entries(moved).flatMap(([output, truth]) =>
          isTrusted(truth) ? [] : [[output, truth.values] as const],
        ),
      );
      return compareOutputs(answer, expected).problem === null;
    })
    .map(([name]) => name);
}

function explain(
  name: string,
  { index, got, want, error, bound }: ComparedElement,
  wrong: number,
  of: number,
): string {
  const where = `${name}[${index}]`;
  if (Number.isNaN(got)) return `${where} is NaN: it was never written, or computed so; ${want} is right.`;
  const count = wrong === 1 ? "No other element is" : `${wrong} of ${of} elements are`;
  return `${where} is ${got}, and ${want} is right to within ${bound.toExponential(2)}: ${overBy(error, bound)}. ${count} off by too much.`;
}

/** By how much an error is beyond its bound. */
function overBy(error: number, bound: number): string {
  const off = `it is off by ${error.toExponential(2)}`;
  if (!(bound > 0 && error < Infinity)) return off;
  const times = error / bound;
  const rounded = (value: number): number => Number(value.toPrecision(2));
  return times < 2
    ? `${off}, over by ${rounded(100 * (times - 1))} %`
    : `${off}, ${rounded(times)} times what may be`;
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
