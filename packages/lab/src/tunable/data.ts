/** The data that a tunable plan is verified on: typical data, and data that probe an edge, made from the buffers' types. */

import { deriveSeed, Random } from "@evolver/base";
import type { AnyTypedArray, PlanBuffer } from "@evolver/device";
import {
  isContentsRule,
  isInteger,
  isMade,
  madeContents,
  scalarTypes,
  type Contents,
  type ContentsRule,
  type ElementType,
} from "@evolver/kernel";

/** How an element is drawn where nobody says what buffers hold: of floats, and of integers from `least` to `greatest`. */
interface Flavour {
  float(random: Random, index: number): number;
  integer(random: Random, index: number, least: number, greatest: number): number;
  /** Between the ends of a rule, both included. */
  ruled(random: Random, index: number, min: number, max: number): number;
}

const middle = (min: number, max: number): number => min + (max - min) / 2;

/** Data by name. The first is typical; the others probe an edge. */
export const flavours = {
  "normal values": {
    float: (random) => random.normal(),
    integer: (random, _, least, greatest) => random.integer(least, greatest),
    ruled: (random, _, min, max) => min + (max - min) * random.uniform(),
  },
  zeros: { float: () => 0, integer: () => 0, ruled: (_, __, min) => min },
  "equal values": {
    float: () => 3,
    integer: (_, __, ___, greatest) => greatest,
    ruled: (_, __, ___, max) => max,
  },
  // In no order of the signs: the error of a sum would depend on who adds up what.
  "mixed signs": {
    float: (random) => (random.below(2) === 0 ? 1 : -1) * (1 + random.uniform()),
    integer: (_, index, least, greatest) => (index % 2 === 0 ? least : greatest),
    ruled: (_, index, min, max) => (index % 2 === 0 ? min : max),
  },
  "large values": {
    float: (random) => 1e15 * random.normal(),
    integer: (random, _, __, greatest) => greatest - random.below(3),
    ruled: (_, __, min, max) => middle(min, max),
  },
  "small values": {
    float: (random) => 1e-6 * random.normal(),
    integer: (random) => random.below(3),
    ruled: (random, _, min, max) => min + (max - min) * random.uniform() ** 8,
  },
  "values far from zero": {
    float: (random) => 1000 + random.normal(),
    integer: (random, _, least, greatest) => Math.floor(middle(least, greatest)) + random.below(3),
    ruled: (random, _, min, max) => max - (max - min) * random.uniform() ** 8,
  },
  "few outliers": {
    float: (random) => random.normal() * (random.below(64) === 0 ? 1000 : 1),
    integer: (random, _, __, greatest) => (random.below(16) === 0 ? greatest : random.below(8)),
    ruled: (random, _, min, max) => (random.below(16) === 0 ? max : min),
  },
} as const satisfies Readonly<Record<string, Flavour>>;

export type FlavourName = keyof typeof flavours;

/** What an f16 holds well within its range. */
const LARGEST_HALF = 1000;

/** More elements than this repeat stretches of the first ones: to draw all of them would take seconds. */
const DRAWN = 2 ** 16;

/**
 * The contents of a buffer that a plan is given.
 *
 * @param contents what its author says of it; a length where that is all
 */
export function drawContents(
  { name, element, length }: PlanBuffer,
  contents: Contents | undefined,
  { flavour, seed }: { readonly flavour: FlavourName; readonly seed: number },
): AnyTypedArray {
  if (contents !== undefined && ArrayBuffer.isView(contents)) return contents.slice() as AnyTypedArray;
  const rule: ContentsRule = isContentsRule(contents) ? contents : { length };
  const random = new Random(deriveSeed(seed, name));
  const isFixed = rule.make !== undefined || rule.value !== undefined;
  if (isFixed && isMade(rule)) return madeContents(element, rule, random);
  const draw = drawer(element, rule, flavours[flavour], random);
  return length <= DRAWN ? filled(element, length, draw) : repeated(element, length, draw, random);
}

function drawer(
  element: ElementType,
  { min, max }: ContentsRule,
  flavour: Flavour,
  random: Random,
): (index: number) => number {
  if (min !== undefined || max !== undefined) {
    const [from, to] = [min ?? 0, max ?? 1];
    const ruled = (index: number): number => flavour.ruled(random, index, from, to);
    if (!isInteger(element)) return ruled;
    // Each whole number of the range is as likely as the others.
    return flavour === flavours["normal values"]
      ? () => random.integer(from, to)
      : (index) => Math.round(ruled(index));
  }
  const { least, greatest } = scalarTypes[element];
  if (isInteger(element)) return (index) => flavour.integer(random, index, least, greatest);
  if (element !== "f16") return (index) => flavour.float(random, index);
  return (index) => Math.max(-LARGEST_HALF, Math.min(LARGEST_HALF, flavour.float(random, index)));
}

function filled(element: ElementType, length: number, draw: (index: number) => number): AnyTypedArray {
  const { array, encode, round } = scalarTypes[element];
  const values = new array(length);
  for (let index = 0; index < length; index++) values[index] = encode(round(draw(index)));
  return values;
}

/** Of a stretch of the table: no size that people choose. */
const STRETCH = 1021;

/** Stretches of a table of drawn elements, each from a place of its own. */
function repeated(
  element: ElementType,
  length: number,
  draw: (index: number) => number,
  random: Random,
): AnyTypedArray {
  const table = filled(element, DRAWN, draw);
  const values = new scalarTypes[element].array(length);
  for (let at = 0; at < length; at += STRETCH) {
    const from = random.below(DRAWN - STRETCH);
    values.set(table.subarray(from, from + Math.min(STRETCH, length - at)), at);
  }
  return values;
}
