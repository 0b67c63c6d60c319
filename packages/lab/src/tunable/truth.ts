/**
 * The truth about a tunable plan's outputs by its reference, and how far a kernel may be off: FlashAttention-3's rule, where the
 * reference says which steps a plain kernel rounds; else a bound from how much the truth moves when its inputs do.
 */

import { allowedError, deriveSeed, EvolverError, largestMagnitude, Random } from "@evolver/base";
import type { AnyTypedArray, Plan, Problem, Tunable } from "@evolver/device";
import { isInteger, ops, scalarTypes, visitNodes, type ElementType } from "@evolver/kernel";
import type { Truth } from "../study/case.ts";

/** What a truth is worked out from. */
export interface TruthRequest {
  readonly tunable: Tunable;
  readonly problem: Problem;
  /** For the names, types and lengths of buffers. */
  readonly plan: Plan;
  readonly inputs: Readonly<Record<string, AnyTypedArray>>;
  readonly seed: number;
}

/**
 * Plain computations whose errors are looked at, of which one may have a small error by luck: so many that there are some dozens of
 * errors, as far as their operations allow.
 */
const LEAST_DRAWS = 3;
const WANTED_ERRORS = 64;
const MOST_ELEMENTS = 2 ** 24;
/** With fewer errors than this, the largest that was seen may be far from the largest that there is. */
const FEW_ERRORS = 16;
/** Relative: half of what is between two neighbouring floats. */
const ROUNDING = 2 ** -24;
/** Results below are no normal numbers in f32, and devices may take them for 0. */
const SMALLEST_NORMAL = 2 ** -126;
const LARGEST = 3.4e38;

type Numbers = Readonly<Record<string, Float64Array>>;

/**
 * @throws EvolverError REFERENCE_INVALID where the reference gives no output, or one of another length
 */
export function truthOf(request: TruthRequest): Readonly<Record<string, Truth>> {
  const { plan, inputs, seed } = request;
  const given = numbersOf(plan, inputs);
  const exact = evaluate(request, given, false);
  const lows = lowOf(request, given, exact.values, new Random(deriveSeed(seed, "rounding")));
  const truths = Object.entries(exact.values).map(([name, values]): [string, Truth] => {
    const element = elementOf(plan, name);
    if (isInteger(element)) return [name, { values: values.map(wrapped(element)), bound: 0 }];
    const low = Math.max(lows[name] ?? 0, roundingOf(element) * largestMagnitude(values));
    const bound = allowedError(values, low, { factor: factorOf(plan) });
    return [name, { values, bound: Math.max(bound, 4 * SMALLEST_NORMAL) }];
  });
  return Object.fromEntries(truths);
}

/**
 * Whether data can be judged on: neither the truth nor a plain computation in f32 leaves the range of f32, or is not a number.
 */
export function canJudge(request: TruthRequest): boolean {
  const given = numbersOf(request.plan, request.inputs);
  const [exact, low] = [evaluate(request, given, false), evaluate(request, given, true)];
  const isFine = (values: Float64Array): boolean => values.every((value) => Math.abs(value) <= LARGEST);
  return [exact, low].every(({ values }) => Object.values(values).every(isFine));
}

/** FlashAttention-3's factor. */
const FACTOR = 2;
/** Functions such as exp may be off by several roundings, of which `round` in a reference counts one. */
const APPROXIMATE_FACTOR = 4;

function factorOf({ kernels }: Plan): number {
  let isApproximate = false;
  for (const { body } of kernels)
    visitNodes(body, (node) => {
      isApproximate ||= node.kind === "op" && ops[node.op].approximate === true;
    });
  return isApproximate ? APPROXIMATE_FACTOR : FACTOR;
}

interface Evaluation {
  readonly values: Numbers;
  /** How often it rounded. */
  readonly roundings: number;
}

/** Runs the reference. @param low whether its steps round to f32 */
function evaluate({ tunable, problem, plan }: TruthRequest, given: Numbers, low: boolean): Evaluation {
  let roundings = 0;
  const round = (value: number): number => {
    roundings++;
    return low ? Math.fround(value) : value;
  };
  const copies = Object.entries(given).map(([name, values]) => [name, values.slice()] as const);
  const results = tunable.reference(Object.fromEntries(copies), problem, round);
  const outputs = plan.buffers.flatMap(({ name, role, length }): [string, Float64Array][] => {
    if (role !== "output" && role !== "inout") return [];
    const values = results[name];
    if (values === undefined) throw invalidReference(tunable, `gives nothing for the output "${name}"`);
    if (values.length !== length)
      throw invalidReference(
        tunable,
        `gives ${values.length} elements for "${name}", which has ${length} (sizes ${JSON.stringify(problem.sizes)})`,
      );
    return [[name, Float64Array.from(values)]];
  });
  return { values: Object.fromEntries(outputs), roundings };
}

function invalidReference({ name, site }: Tunable, what: string): EvolverError {
  return new EvolverError("REFERENCE_INVALID", `the reference of "${name}" ${what}`, {
    where: [site.location],
    hint: "return each output by its name: return { y }",
  });
}

/** The largest error of plain f32 computations, for each output. */
function lowOf(
  request: TruthRequest,
  given: Numbers,
  exact: Numbers,
  random: Random,
): Record<string, number> {
  const worst: Record<string, number> = {};
  let factor = 1;
  const draws = drawsFor(request.plan, exact);
  for (let draw = 0; draw < draws; draw++) {
    const moved = draw === 0 ? given : perturbed(request.plan, given, random);
    const { values, roundings } = evaluate(request, moved, true);
    if (roundings === 0) factor = growthOf(request, exact);
    for (const [name, low] of Object.entries(values)) {
      const truth = exact[name] as Float64Array;
      worst[name] = Math.max(worst[name] ?? 0, largestError(low, truth));
    }
  }
  const limits = Object.entries(worst).map(([name, error]) => {
    const errors = draws * (exact[name]?.length ?? 0);
    return [name, (errors < FEW_ERRORS ? 2 : 1) * factor * error];
  });
  return Object.fromEntries(limits);
}

function drawsFor({ buffers }: Plan, exact: Numbers): number {
  const elements = buffers.reduce((sum, { length }) => sum + length, 1);
  const fewest = Math.min(...Object.values(exact).map(({ length }) => Math.max(1, length)));
  const wanted = Math.ceil(WANTED_ERRORS / fewest);
  return Math.max(LEAST_DRAWS, Math.min(wanted, Math.floor(MOST_ELEMENTS / elements)));
}

function largestError(low: Float64Array, truth: Float64Array): number {
  let largest = 0;
  for (let i = 0; i < low.length; i++) {
    const error = Math.abs((low[i] as number) - (truth[i] as number));
    if (Number.isFinite(error) && error > largest) largest = error;
  }
  return largest;
}

/** Floats made smaller by less than a rounding: they stay within any range that they were drawn from. */
function perturbed(plan: Plan, given: Numbers, random: Random): Numbers {
  const moved = Object.entries(given).map(([name, values]) => {
    if (isInteger(elementOf(plan, name))) return [name, values] as const;
    return [name, values.map((value) => value * (1 - 2 * ROUNDING * random.uniform()))] as const;
  });
  return Object.fromEntries(moved);
}

/**
 * By how much the errors of a plain kernel exceed those of its inputs, where the reference does not say how it rounds: the
 * root of how many terms a sum may have, which is the largest size, or the inputs for each output.
 */
function growthOf({ problem, plan }: TruthRequest, exact: Numbers): number {
  const count = (role: string): number =>
    plan.buffers.reduce((sum, buffer) => sum + (buffer.role === role ? buffer.length : 0), 0);
  const outputs = Object.values(exact).reduce((sum, { length }) => sum + length, 0);
  const inputs = count("input") + count("inout");
  const terms = Math.max(16, ...Object.values(problem.sizes), inputs / Math.max(1, outputs));
  return Math.sqrt(terms);
}

function numbersOf(plan: Plan, inputs: Readonly<Record<string, AnyTypedArray>>): Numbers {
  const numbers = Object.entries(inputs).map(([name, values]) => {
    const { decode } = scalarTypes[elementOf(plan, name)];
    return [
      name,
      values instanceof Uint16Array ? Float64Array.from(values, decode) : Float64Array.from(values),
    ] as const;
  });
  return Object.fromEntries(numbers);
}

const elementOf = ({ buffers }: Plan, name: string): ElementType =>
  buffers.find((buffer) => buffer.name === name)?.element ?? "f32";

/** What rounding the result to its type may add, relative; nothing for f32, whose bound has it. */
const ROUNDINGS: Readonly<Partial<Record<ElementType, number>>> = { f16: 2 ** -11, bf16: 2 ** -8 };
const roundingOf = (element: ElementType): number => ROUNDINGS[element] ?? 0;

/** A whole number as the type holds it: modulo 2^32. */
const wrapped =
  (element: ElementType) =>
  (value: number): number => {
    const rest = ((value % 2 ** 32) + 2 ** 32) % 2 ** 32;
    return element === "i32" && rest >= 2 ** 31 ? rest - 2 ** 32 : rest;
  };
