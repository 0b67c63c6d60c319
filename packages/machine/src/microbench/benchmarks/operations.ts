/** The operations whose chains the arithmetic test times, and what each chain comes to. */

import { cos, exp2, exp2Flushed, fma, log, rsqrt, sin, sqrt } from "@evolver/kernel";
import type { F32, Gpu, U32 } from "@evolver/kernel";

export interface Operation {
  readonly name: string;
  readonly title: string;
  readonly step: (x: F32, a: F32, b: F32, gpu: Gpu, source: U32) => F32;
  /** Operands that are known at run time only. */
  readonly a: number;
  readonly b: number;
  /** A chain's result is keep · (what it started from) + gain · steps + fixed. */
  readonly keep: 0 | 1;
  readonly gain: number;
  readonly fixed: number;
  readonly tolerance: number;
  /** Floating-point operations of a step, or "Gop/s". */
  readonly flops: 1 | 2 | null;
  /** A function of many instructions. */
  readonly long?: boolean;
  /** The lanes of a subgroup turn by one each step. */
  readonly turns?: boolean;
  /** Each step changes the sign. */
  readonly flips?: boolean;
}

/** Repeats f from 1 until it stays where it is, as a chain of it does. */
function fixedPoint(f: (x: number) => number): number {
  let x = 1;
  for (let k = 0; k < 200; k++) x = f(x);
  return x;
}

const exact = { fixed: 0, tolerance: 0 } as const;
const settles = { keep: 0, gain: 0, flops: null, tolerance: 1e-4, long: true } as const;

export const OPERATIONS: readonly Operation[] = [
  // x · 1 + 1 counts every step exactly, and no compiler knows the operands.
  {
    ...exact,
    name: "fma",
    title: "fused multiply-add",
    step: (x, a, b) => fma(x, a, b),
    a: 1,
    b: 1,
    keep: 1,
    gain: 1,
    flops: 2,
  },
  {
    ...exact,
    name: "add",
    title: "add",
    step: (x, _, b) => x.add(b),
    a: 0,
    b: 1,
    keep: 1,
    gain: 1,
    flops: 1,
  },
  {
    ...exact,
    name: "mul",
    title: "multiply",
    step: (x, a) => x.mul(a),
    a: -1,
    b: 0,
    keep: 1,
    gain: 0,
    flops: 1,
    flips: true,
  },
  {
    ...settles,
    name: "exp2",
    title: "exp2 (of −x)",
    step: (x) => exp2(x.neg()),
    a: 0,
    b: 0,
    fixed: fixedPoint((x) => 2 ** -x),
  },
  {
    ...settles,
    name: "exp2Flushed",
    title: "exp2 (of −x) that may flush",
    step: (x) => exp2Flushed(x.neg()),
    a: 0,
    b: 0,
    fixed: fixedPoint((x) => 2 ** -x),
  },
  {
    ...settles,
    name: "log",
    title: "log (of x + 3)",
    step: (x, a) => log(x.add(a)),
    a: 3,
    b: 0,
    fixed: fixedPoint((x) => Math.log(x + 3)),
  },
  { ...settles, name: "sqrt", title: "square root", step: (x) => sqrt(x), a: 0, b: 0, fixed: 1 },
  { ...settles, name: "rsqrt", title: "1 / square root", step: (x) => rsqrt(x), a: 0, b: 0, fixed: 1 },
  {
    ...settles,
    name: "div",
    title: "division (of 2 by x + 1)",
    step: (x, a, b) => a.div(x.add(b)),
    a: 2,
    b: 1,
    fixed: 1,
  },
  { ...settles, name: "cos", title: "cosine", step: (x) => cos(x), a: 0, b: 0, fixed: fixedPoint(Math.cos) },
  {
    ...settles,
    name: "sin",
    title: "sine (of x + 1)",
    step: (x, a) => sin(x.add(a)),
    a: 1,
    b: 0,
    fixed: fixedPoint((x) => Math.sin(x + 1)),
  },
  {
    ...exact,
    name: "shuffle",
    title: "shuffle",
    step: (x, _a, _b, gpu, source) => gpu.subgroup.shuffle(x, source),
    a: 0,
    b: 0,
    keep: 1,
    gain: 0,
    flops: null,
    turns: true,
  },
];
