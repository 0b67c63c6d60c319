/** Arithmetic of f32: every operation that rounds exactly, at its edges. */

import {
  abs,
  buffer,
  ceil,
  clamp,
  f32,
  floor,
  fma,
  kernel,
  max,
  min,
  round,
  select,
  sqrt,
  trunc,
  u32,
} from "@evolver/kernel";
import type { F32, U32 } from "@evolver/kernel";
import { array, launch, type Case, type KernelCase, type Target } from "../case.ts";
import { binary, unary, type Binary, type Unary } from "./operation.ts";

const { fround } = Math;

const LARGEST = 3.4028234663852886e38;

/** Normal numbers, zeros and what stands for none; those below the normal range are in a case of their own. */
const EDGES: readonly number[] = [
  0,
  -0,
  1,
  -1,
  0.5,
  -0.5,
  1.5,
  2.5,
  -2.5,
  3.7,
  -3.7,
  0.1,
  16777215,
  16777217,
  8388607.5,
  -8388608.5,
  2147483648,
  1e10,
  1e-20,
  LARGEST,
  -LARGEST,
  Infinity,
  -Infinity,
  NaN,
].map(fround);

const SUBNORMAL: readonly number[] = [
  1e-40, -1e-40, 1.4e-45, -1.4e-45, 1.1754942e-38, 1.1754944e-38, 1, -2,
].map(fround);

const LITERALS = [0, -0, 1, -1, 0.1, LARGEST, Infinity, -Infinity, NaN];

type Extra = Partial<Pick<Binary<"f32", "f32">, "needs" | "zeros" | "tolerance">>;

const f32Binary = (
  name: string,
  apply: Binary<"f32", "f32">["apply"],
  expect: (a: number, b: number) => number,
  extra: Extra = {},
): Case[] => {
  const common = { from: "f32", to: "f32", literals: LITERALS, apply, expect, ...extra } as const;
  return [
    binary({ name: `f32 ${name}`, values: EDGES, scalars: [2.5, -0.1], ...common }),
    binary({
      name: `f32 ${name} of subnormals`,
      values: SUBNORMAL,
      scalars: [1e-40, 3],
      ...common,
      needs: [...(extra.needs ?? []), "subnormals"],
    }),
  ];
};

const compares = (
  name: string,
  apply: (a: F32, b: F32 | number) => U32,
  expect: (a: number, b: number) => boolean,
): KernelCase =>
  binary({
    name: `f32 ${name}`,
    from: "f32",
    to: "u32",
    values: EDGES,
    literals: LITERALS,
    scalars: [NaN, 1],
    apply,
    expect: (a, b) => Number(expect(a, b)),
  });

const f32Unary = (
  name: string,
  apply: (a: F32) => F32,
  expect: (a: number) => number,
  extra: Partial<Unary<"f32", "f32">> = {},
): KernelCase =>
  unary({ name: `f32 ${name}`, from: "f32", to: "f32", values: EDGES, apply, expect, ...extra });

function roundHalfToEven(x: number): number {
  if (!Number.isFinite(x) || Number.isInteger(x)) return x;
  const low = Math.floor(x);
  const nearest = x - low === 0.5 ? (low % 2 === 0 ? low : low + 1) : x - low < 0.5 ? low : low + 1;
  return nearest === 0 && x < 0 ? -0 : nearest;
}

const HALVES = [
  0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5, 0.49999997, -0.49999997, 0.2, -0.2, 4194303.5, 4194304.5, 8388607.5,
];

/** WGSL allows division and square root 2.5 units in the last place and more. */
const inexact = (ulps: number) => ({
  tolerance: (target: Target) =>
    target.capabilities.has("exactDivision") ? undefined : (): { ulps: number } => ({ ulps }),
});

/** In WGSL division is exact only within this range of the divisor. */
const DIVISORS = EDGES.filter((x) => !Number.isFinite(x) || Math.abs(x) < 1e37);

const skipsNaN =
  (choose: (a: number, b: number) => number) =>
  (a: number, b: number): number =>
    Number.isNaN(a) ? b : Number.isNaN(b) ? a : choose(a, b);

/** a·b + c by exact integers, rounded once. */
function exactFma(a: number, b: number, c: number): number {
  const product = a * b;
  if (![a, b, c].every(Number.isFinite)) return fround(product + c);
  if (product === 0 || c === 0) return fround(product + c);
  const [ma, ea] = parts(a);
  const [mb, eb] = parts(b);
  const [mc, ec] = parts(c);
  const low = Math.min(ea + eb, ec);
  const sum = ((ma * mb) << BigInt(ea + eb - low)) + (mc << BigInt(ec - low));
  if (sum === 0n) return 0;
  return roundOnce(sum, low);
}

/** x = mantissa · 2^exponent. */
function parts(x: number): [bigint, number] {
  let exponent = 0;
  while (!Number.isInteger(x)) {
    x *= 2;
    exponent--;
  }
  return [BigInt(x), exponent];
}

/** mantissa · 2^exponent as an f32, halves to even. */
function roundOnce(mantissa: bigint, exponent: number): number {
  const sign = mantissa < 0n ? -1 : 1;
  let m = mantissa < 0n ? -mantissa : mantissa;
  const bits = m.toString(2).length;
  // 24 bits are kept, and fewer where the last would be below 2⁻¹⁴⁹.
  const drop = Math.max(bits - 24, -149 - exponent, 0);
  if (drop > 0) {
    const half = 1n << BigInt(drop - 1);
    const rest = m & ((1n << BigInt(drop)) - 1n);
    m >>= BigInt(drop);
    if (rest > half || (rest === half && (m & 1n) === 1n)) m += 1n;
  }
  return fround(sign * Number(m) * 2 ** (exponent + drop));
}

const threeOperands = (
  name: string,
  triples: readonly (readonly [number, number, number])[],
  apply: (a: F32, b: F32, c: F32) => F32,
  expect: (a: number, b: number, c: number) => number,
  extra: Pick<KernelCase, "needs"> = {},
): KernelCase => ({
  name: `f32 ${name}`,
  ...extra,
  prepare(target) {
    const n = triples.length;
    const at = (k: 0 | 1 | 2) => array(f32, n, (i) => (triples[i] as readonly number[])[k] as number);
    const [a, b, c] = [at(0), at(1), at(2)];
    return launch({
      kernel: kernel(
        "three",
        {
          params: { a: buffer(f32), b: buffer(f32), c: buffer(f32), n: u32, out: buffer(f32, "write") },
          workgroup: [target.width],
        },
        ({ a, b, c, n, out }, gpu) => {
          const i = gpu.globalId.x;
          gpu.if(i.lt(n), () => out.set(i, apply(a.get(i), b.get(i), c.get(i))));
        },
      ),
      workgroups: Math.ceil(n / target.width),
      args: { a, b, c, n, out: array(f32, n) },
      expected: {
        out: array(f32, n, (i) => expect(a[i] as number, b[i] as number, c[i] as number)),
      },
    });
  },
});

const ROUNDED_TWICE: readonly (readonly [number, number, number])[] = [
  [1 + 2 ** -12, 1 + 2 ** -12, -1],
  [1 + 2 ** -12, 1 - 2 ** -12, -1],
  [3, 1 / 3, -1],
  [0.1, 10, -1],
  [16777215, 16777215, 1],
  [16777215, 16777215, -1],
  [1e20, 1e20, -Infinity],
  [1e30, 1e30, 1],
  [2 ** 12 + 1, 2 ** 12 + 1, 2 ** -1],
  [2 ** -60, 2 ** -60, 1],
  [-(2 ** -60), 2 ** -60, 1 + 2 ** -23],
  [0, Infinity, 1],
  [NaN, 1, 1],
  [1, 1, NaN],
  [-1, 1, 1],
  [-0, 1, -0],
  ...Array.from({ length: 40 }, (_, i): [number, number, number] => {
    const a = fround(Math.sin(i + 1) * 3 ** (i % 7));
    const b = fround(Math.cos(3 * i) * 2 ** (i % 5));
    return [a, b, i % 2 === 0 ? fround(-a * b) : fround(Math.tan(i))];
  }),
].map(([a, b, c]): [number, number, number] => [fround(a), fround(b), fround(c)]);

const CHOICES = EDGES.map((a, i): [number, number, number] => [
  a,
  EDGES[(i * 7 + 3) % EDGES.length] as number,
  EDGES[(i * 5 + 11) % EDGES.length] as number,
]);

export const floatCases: readonly Case[] = [
  ...f32Binary(
    "add",
    (a, b) => a.add(b),
    (a, b) => fround(a + b),
  ),
  ...f32Binary(
    "sub",
    (a, b) => a.sub(b),
    (a, b) => fround(a - b),
  ),
  ...f32Binary(
    "mul",
    (a, b) => a.mul(b),
    (a, b) => fround(a * b),
  ),
  f32Unary(
    "minus itself",
    (x) => x.sub(x),
    (x) => x - x,
  ),
  f32Unary(
    "over itself",
    (x) => x.div(x),
    (x) => x / x,
    inexact(2.5),
  ),
  f32Unary(
    "over infinity",
    (x) => x.div(Infinity),
    (x) => x / Infinity,
  ),
  f32Unary(
    "over minus infinity",
    (x) => x.div(-Infinity),
    (x) => x / -Infinity,
  ),
  ...f32Binary("min", (a, b) => a.min(b), skipsNaN(Math.min), { zeros: true }),
  ...f32Binary("max", (a, b) => a.max(b), skipsNaN(Math.max), { zeros: true }),
  binary({
    name: "f32 div",
    from: "f32",
    to: "f32",
    values: DIVISORS,
    literals: [0, -0, 1, -1, 0.1, 3, Infinity, -Infinity, NaN],
    scalars: [2.5, -0.1],
    apply: (a, b) => a.div(b),
    expect: (a, b) => fround(a / b),
    ...inexact(2.5),
  }),
  binary({
    name: "f32 div beyond the range that WGSL promises",
    from: "f32",
    to: "f32",
    values: [...EDGES, ...SUBNORMAL],
    literals: [LARGEST, 1e-40],
    scalars: [1, LARGEST],
    apply: (a, b) => a.div(b),
    expect: (a, b) => fround(a / b),
    needs: ["exactDivision", "subnormals"],
  }),
  compares(
    "lt",
    (a, b) => a.lt(b).toU32(),
    (a, b) => a < b,
  ),
  compares(
    "le",
    (a, b) => a.le(b).toU32(),
    (a, b) => a <= b,
  ),
  compares(
    "gt",
    (a, b) => a.gt(b).toU32(),
    (a, b) => a > b,
  ),
  compares(
    "ge",
    (a, b) => a.ge(b).toU32(),
    (a, b) => a >= b,
  ),
  compares(
    "eq",
    (a, b) => a.eq(b).toU32(),
    (a, b) => a === b,
  ),
  compares(
    "ne",
    (a, b) => a.ne(b).toU32(),
    (a, b) => a !== b,
  ),
  f32Unary(
    "neg",
    (a) => a.neg(),
    (a) => -a,
  ),
  f32Unary("abs", (a) => abs(a), Math.abs),
  f32Unary("floor", floor, Math.floor, { zeros: true }),
  f32Unary("ceil", ceil, Math.ceil, { zeros: true }),
  f32Unary("trunc", trunc, Math.trunc, { zeros: true }),
  f32Unary("round, halves to even", round, roundHalfToEven, {
    values: [...EDGES, ...HALVES.map(fround)],
    zeros: true,
  }),
  f32Unary("sqrt", sqrt, (a) => fround(Math.sqrt(a)), {
    values: EDGES.filter((x) => !(x < 0)),
    ...inexact(4),
  }),
  f32Unary("sqrt of negative numbers", sqrt, (a) => fround(Math.sqrt(a)), {
    values: [-1, -Infinity, -LARGEST, -0].map(fround),
  }),
  threeOperands("fma", ROUNDED_TWICE, (a, b, c) => fma(a, b, c), exactFma, { needs: ["exactDivision"] }),
  threeOperands(
    "min and max of three, clamp",
    CHOICES.filter((values) => values.every((x) => !Number.isNaN(x) && x !== 0)),
    (a, b, c) =>
      min(a, b, c)
        .add(max(a, b, c).mul(2))
        .add(clamp(a, -2, 2)),
    (a, b, c) =>
      fround(fround(Math.min(a, b, c) + fround(Math.max(a, b, c) * 2)) + Math.min(Math.max(a, -2), 2)),
  ),
  threeOperands(
    "select",
    CHOICES,
    (a, b, c) => select(a.lt(b), c, a.neg()),
    (a, b, c) => (a < b ? c : -a),
  ),
  threeOperands(
    "a·b + c in two steps, each of which rounds",
    ROUNDED_TWICE.filter(([a, b, c]) => Math.abs(a * b) > 1e-30 && Number.isFinite(a * b * c)),
    (a, b, c) => a.mul(b).add(c),
    (a, b, c) => fround(fround(a * b) + c),
    { needs: ["separateRounding"] },
  ),
];
