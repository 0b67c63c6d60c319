/** What buffers of an example hold, where it is not written out: rules from which a tool makes the numbers. */

import { type Random } from "@evolver/base";
import { isInteger, scalarTypes, type ElementType } from "../../ir/types.ts";

/** Numbers made by a rule. Without one, floats are normal (mean 0, variance 1) and integers are any. */
export interface ContentsRule {
  /** In elements. */
  readonly length: number;
  /** With `max`: uniform from `min` to `max`; of integers both ends are included. */
  readonly min?: number;
  readonly max?: number;
  /** All elements are this number. */
  readonly value?: number;
  /** The element of an index. Called in order from 0. */
  make?(random: Random, index: number): number;
}

/** The contents of a buffer: made up to a length, given, or by a rule. */
export type Contents = number | Float32Array | Int32Array | Uint32Array | Uint16Array | ContentsRule;

/** A scalar with several values: the first where time is measured, each of them elsewhere. */
export interface OneOf {
  readonly oneOf: readonly number[];
}

/** Whether contents are a rule, and not an array or a length. */
export const isContentsRule = (contents: unknown): contents is ContentsRule =>
  typeof contents === "object" && contents !== null && !ArrayBuffer.isView(contents);

/** How many elements the contents are. */
export const contentsLength = (contents: Contents): number =>
  typeof contents === "number" ? contents : contents.length;

/** Whether a rule says more than a length. */
export const isMade = ({ min, max, value, make }: ContentsRule): boolean =>
  min !== undefined || max !== undefined || value !== undefined || make !== undefined;

/** The elements of a rule that says more than a length, encoded as a buffer of the type holds them. */
export function madeContents(
  element: ElementType,
  rule: ContentsRule,
  random: Random,
): Float32Array | Int32Array | Uint32Array | Uint16Array {
  const { array, encode, round } = scalarTypes[element];
  const { length, min = 0, max = 1, value, make } = rule;
  const of = (index: number): number => {
    if (make !== undefined) return make.call(rule, random, index);
    if (value !== undefined) return value;
    return isInteger(element) ? random.integer(min, max) : min + (max - min) * random.uniform();
  };
  const made = new array(length);
  for (let index = 0; index < length; index++) made[index] = encode(round(of(index)));
  return made;
}
