/**
 * Transcendental functions, each within what its target states (numericBounds of the kernel package); bounds.ts beside these
 * cases measures them at many more arguments.
 */

import {
  cos,
  exp,
  exp2,
  exp2Flushed,
  log,
  log2,
  numericBounds,
  rsqrt,
  sin,
  tanh,
  ulpsAt,
} from "@evolver/kernel";
import type { BoundedOp, F32 } from "@evolver/kernel";
import { deviceRows } from "@evolver/device";
import type { Case, Target } from "../case.ts";
import { unary } from "./operation.ts";

const { fround } = Math;

interface Function {
  readonly name: BoundedOp;
  apply(a: F32): F32;
  expect(a: number): number;
  readonly values: readonly number[];
}

const between = (low: number, high: number, count = 48): number[] =>
  Array.from({ length: count }, (_, i) => fround(low + ((high - low) * (i + 0.37)) / count));

const POSITIVE = [
  ...between(0.01, 0.49),
  ...between(0.5, 2),
  ...between(2, 1e4),
  1e-30,
  1e30,
  1 + 2 ** -23,
  1 - 2 ** -24,
].map(fround);
const ANGLES = [
  ...between(-3.1, 3.1),
  ...between(-1e6, 1e6),
  1e-20,
  48_039,
  131_071,
  1e10,
  -3e38,
  Math.PI,
  355,
].map(fround);

const functions: readonly Function[] = [
  { name: "exp", apply: exp, expect: Math.exp, values: [...between(-80, 80), 0, 1, -0.5] },
  { name: "exp2", apply: exp2, expect: (x) => 2 ** x, values: [...between(-120, 120), 0, 1, -3, 10] },
  {
    name: "exp2Flushed",
    apply: exp2Flushed,
    expect: (x) => 2 ** x,
    values: [...between(-120, 120), 0, 1, -3, 10],
  },
  { name: "log", apply: log, expect: Math.log, values: POSITIVE },
  { name: "log2", apply: log2, expect: Math.log2, values: POSITIVE },
  { name: "rsqrt", apply: rsqrt, expect: (x) => 1 / Math.sqrt(x), values: POSITIVE },
  { name: "sin", apply: sin, expect: Math.sin, values: ANGLES },
  { name: "cos", apply: cos, expect: Math.cos, values: ANGLES },
  {
    name: "tanh",
    apply: tanh,
    expect: Math.tanh,
    values: [...between(-5, 5), 0, 1e-3, 1e-10, -1e-30].map(fround),
  },
];

/** From the rounded value, which may be half a unit from the right one. */
const tolerance =
  ({ id }: Target, op: BoundedOp) =>
  (x: number): { readonly ulps: number } => ({
    ulps: ulpsAt(numericBounds[op][deviceRows[id].target ?? "js"], x) + 0.5,
  });

/** At the ends of their domains functions have exact values everywhere. */
const ENDS: readonly [string, (a: F32) => F32, readonly (readonly [number, number])[]][] = [
  [
    "exp",
    exp,
    [
      [-Infinity, 0],
      [Infinity, Infinity],
      [NaN, NaN],
      [-200, 0],
      [200, Infinity],
    ],
  ],
  [
    "exp2",
    exp2,
    [
      [-Infinity, 0],
      [Infinity, Infinity],
      [NaN, NaN],
      [-200, 0],
      [200, Infinity],
    ],
  ],
  [
    "exp2Flushed",
    exp2Flushed,
    [
      [-Infinity, 0],
      [Infinity, Infinity],
      [NaN, NaN],
      [-200, 0],
      [200, Infinity],
    ],
  ],
  [
    "log",
    log,
    [
      [0, -Infinity],
      [Infinity, Infinity],
      [NaN, NaN],
      [-1, NaN],
    ],
  ],
  [
    "log2",
    log2,
    [
      [0, -Infinity],
      [Infinity, Infinity],
      [NaN, NaN],
      [-1, NaN],
    ],
  ],
  [
    "rsqrt",
    rsqrt,
    [
      [0, Infinity],
      [Infinity, 0],
      [NaN, NaN],
      [-1, NaN],
    ],
  ],
  [
    "tanh",
    tanh,
    [
      [Infinity, 1],
      [-Infinity, -1],
      [NaN, NaN],
      [50, 1],
      [-50, -1],
    ],
  ],
];

export const transcendentalCases: readonly Case[] = [
  ...functions.map((entry) =>
    unary({
      name: `f32 ${entry.name}`,
      from: "f32",
      to: "f32",
      values: entry.values,
      apply: entry.apply,
      expect: (x) => fround(entry.expect(x)),
      tolerance: (target) => tolerance(target, entry.name),
    }),
  ),
  ...ENDS.map(([name, apply, points]) =>
    unary({
      name: `f32 ${name} at the ends of its domain`,
      from: "f32",
      to: "f32",
      values: points.map(([x]) => x),
      apply,
      expect: (x) => (points.find(([at]) => Object.is(at, x)) as readonly [number, number])[1],
    }),
  ),
];
