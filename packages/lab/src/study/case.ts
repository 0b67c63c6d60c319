/** What a candidate is verified on: inputs, and the truth about the outputs. */

import type { AnyTypedArray } from "@evolver/device";
import type { ElementType, HalfType } from "@evolver/kernel";
import type { Json } from "@evolver/base";

/** What a plan may know of a case: sizes and options, never data. */
export type Shape = Json;

/** Inputs that a candidate is verified on. */
export interface Case<S extends Shape = Shape> {
  /** Names the case for people and, with the seed, makes it again: "random 17×33". */
  readonly id: string;
  /** `random` cases are typical data, on which trivial answers must fail; `hostile` ones probe an edge. */
  readonly kind: "random" | "hostile";
  readonly seed: number;
  readonly shape: S;
  readonly inputs: Readonly<Record<string, AnyTypedArray>>;
  /** Which type the inputs are of that are held as 16 bits; f16 where left out. */
  readonly halves?: Readonly<Record<string, HalfType>>;
  readonly outputs: Readonly<Record<string, { readonly element: ElementType; readonly length: number }>>;
  /** Run it on the simulator with every check (small cases), or only on the fast device (large ones). */
  readonly checks: "full" | "fast";
}

/** What one output has to be, as only the judge knows it. */
export type Expected = Truth | Trusted;

/**
 * Where the reference would take too long: the answer of the study's baseline, which was verified on smaller cases. The
 * outputs must be as near to it as `relative` of its largest magnitude.
 */
export interface Trusted {
  readonly trusted: "baseline";
  readonly length: number;
  /** 0 for integers, which must be equal. */
  readonly relative: number;
}

/** Whether nothing but the baseline's answer is known. */
export const isTrusted = (expected: Expected): expected is Trusted => "trusted" in expected;

/** The truth about one output. */
export interface Truth {
  /** Float64, for outputs of f16 and bf16, too; ±∞ must be met exactly, and NaN is not allowed. */
  readonly values: Float64Array;
  /** The largest absolute error that passes, for all elements or for each. */
  readonly bound: number | Float64Array;
  /**
   * Where the whole truth would take too long: which elements of `values` it is known for. Chosen by the case's seed,
   * which no candidate knows. The others are compared with what the baseline gives, within a few times the bound.
   */
  readonly known?: Uint8Array;
}
