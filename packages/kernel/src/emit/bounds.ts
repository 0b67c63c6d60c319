/**
 * How far the results of operations may be off, by target: one row per operation that is not exact everywhere. Bounds hold over
 * the whole range of the arguments. Where arguments or results are below 2^-126, a target that flushes them to zero does so.
 */

import type { OpName } from "../ir/ops.ts";
import type { EmitTarget } from "./targets.ts";

/** In units in the last place of the result; the parts add up. Half a unit is the right rounding. */
export interface Bound {
  readonly ulps: number;
  /** As many more units per unit of the argument's magnitude. */
  readonly perArgument?: number;
  /** Where this is more: an absolute bound, however small the result is. */
  readonly absolute?: number;
}

/** Right rounding, of a value that is itself worked out in doubles. */
export const ROUNDED_ONCE = 0.51;

/** `js` is also what sim and cpu do. */
type Bounds = Readonly<Record<EmitTarget, Bound>>;

/** Rounded from doubles, whose functions are right to a unit of theirs. */
const REFERENCE: Bound = { ulps: ROUNDED_ONCE };
const EXACT: Bound = { ulps: 0.5 };

/** NVIDIA's and AMD's own tables of their libraries: what they promise, which is more than was ever measured. */
const library = (cuda: number, hip: number): { readonly cuda: Bound; readonly hip: Bound } => ({
  cuda: { ulps: cuda },
  hip: { ulps: hip },
});

const EXPONENTIAL: Bound = { ulps: 3, perArgument: 2 };

/** Of WGSL: what its table promises for its own functions, else what the functions of emit/wgsl/functions.ts keep. */
const rows = {
  exp: { js: REFERENCE, wgsl: EXPONENTIAL, ...library(2, 2) },
  exp2: { js: REFERENCE, wgsl: EXPONENTIAL, ...library(2, 2) },
  exp2Flushed: { js: REFERENCE, wgsl: EXPONENTIAL, ...library(2, 2) },
  log: { js: REFERENCE, wgsl: { ulps: 4 }, ...library(2, 2) },
  log2: { js: REFERENCE, wgsl: { ulps: 4 }, ...library(2, 2) },
  sin: { js: REFERENCE, wgsl: { ulps: 4 }, ...library(2, 2) },
  cos: { js: REFERENCE, wgsl: { ulps: 4 }, ...library(2, 2) },
  tanh: { js: REFERENCE, wgsl: { ulps: 6 }, ...library(2, 2) },
  rsqrt: { js: REFERENCE, wgsl: { ulps: 2 }, ...library(2, 2) },
  sqrt: { js: EXACT, wgsl: { ulps: 5 }, cuda: EXACT, hip: EXACT },
  div: { js: EXACT, wgsl: { ulps: 2.5 }, cuda: EXACT, hip: EXACT },
} as const satisfies Readonly<Partial<Record<OpName, Bounds>>>;

/** An operation whose result is not exact everywhere. */
export type BoundedOp = keyof typeof rows;

/** How far each inexact operation may be off, by target. */
export const numericBounds: Readonly<Record<BoundedOp, Bounds>> = Object.freeze(rows);

/** The bound at an argument, in units in the last place. */
export const ulpsAt = ({ ulps, perArgument = 0 }: Bound, x: number): number =>
  ulps + (perArgument === 0 ? 0 : perArgument * Math.abs(x));

/** For people: "3 + 2·|x| units in the last place". */
export function describeBound({ ulps, perArgument, absolute }: Bound): string {
  if (ulps <= ROUNDED_ONCE && absolute === undefined) return "rounded once";
  const relative = perArgument === undefined ? String(ulps) : `${ulps} + ${perArgument}·|x|`;
  return `${relative} ulp${absolute === undefined ? "" : `, or ${absolute.toExponential(0)} absolutely`}`;
}
