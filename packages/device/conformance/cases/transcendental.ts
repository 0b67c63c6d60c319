/**
 * Transcendental functions, each within the device's accuracy: one unit in the last place on the reference devices,
 * a vendor library's on native ones, WGSL's table on WebGPU (https://www.w3.org/TR/WGSL/#concrete-float-accuracy).
 */

import { cos, exp, exp2, exp2Flushed, log, log2, rsqrt, sin, tanh } from "@evolver/kernel";
import type { F32 } from "@evolver/kernel";
import type { Accuracy, Case } from "../case.ts";
import { unary } from "./operation.ts";

const { fround } = Math;

interface Allowed {
  readonly ulps?: number;
  readonly absolute?: number;
}

interface Function {
  readonly name: string;
  apply(a: F32): F32;
  expect(a: number): number;
  readonly values: readonly number[];
  /** What WGSL allows at an argument. */
  wgsl(x: number): Allowed;
}

/** CUDA's and HIP's own tables for single precision stay within this. */
const NATIVE_ULPS = 4;

const between = (low: number, high: number, count = 48): number[] =>
  Array.from({ length: count }, (_, i) => fround(low + ((high - low) * (i + 0.37)) / count));

const POSITIVE = [...between(0.01, 0.49), ...between(0.5, 2), ...between(2, 1e4), 1e-30, 1e30].map(fround);

const logarithm = (x: number): Allowed => (x >= 0.5 && x <= 2 ? { absolute: 2 ** -21 } : { ulps: 3 });
const exponential = (x: number): Allowed => ({ ulps: 3 + 2 * Math.abs(x) });

const functions: readonly Function[] = [
  { name: "exp", apply: exp, expect: Math.exp, values: [...between(-80, 80), 0, 1, -0.5], wgsl: exponential },
  {
    name: "exp2",
    apply: exp2,
    expect: (x) => 2 ** x,
    values: [...between(-120, 120), 0, 1, -3, 10],
    wgsl: exponential,
  },
  {
    name: "exp2Flushed",
    apply: exp2Flushed,
    expect: (x) => 2 ** x,
    values: [...between(-120, 120), 0, 1, -3, 10],
    wgsl: exponential,
  },
  { name: "log", apply: log, expect: Math.log, values: POSITIVE, wgsl: logarithm },
  { name: "log2", apply: log2, expect: Math.log2, values: POSITIVE, wgsl: logarithm },
  {
    name: "rsqrt",
    apply: rsqrt,
    expect: (x) => 1 / Math.sqrt(x),
    values: POSITIVE,
    wgsl: () => ({ ulps: 2 }),
  },
  {
    name: "sin",
    apply: sin,
    expect: Math.sin,
    values: between(-3.1, 3.1),
    wgsl: () => ({ absolute: 2 ** -11 }),
  },
  {
    name: "cos",
    apply: cos,
    expect: Math.cos,
    values: between(-3.1, 3.1),
    wgsl: () => ({ absolute: 2 ** -11 }),
  },
  {
    name: "tanh",
    apply: tanh,
    expect: Math.tanh,
    values: [...between(-5, 5), 0],
    wgsl: () => ({ absolute: 1e-4 }),
  },
];

function tolerance(accuracy: Accuracy, { wgsl }: Function): (x: number) => Allowed {
  if (accuracy === "reference") return () => ({ ulps: 1 });
  return accuracy === "native" ? () => ({ ulps: NATIVE_ULPS, absolute: 2 ** -24 }) : wgsl;
}

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
      tolerance: (target) => tolerance(target.accuracy, entry),
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
