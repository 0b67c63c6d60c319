/** Arithmetic of i32 and u32: wrapping, division and its remainders, bits, shifts, comparisons; and of bool. */

import { abs, buffer, clamp, i32, kernel, max, min, select, u32 } from "@evolver/kernel";
import type { I32, Operand, U32 } from "@evolver/kernel";
import { array, launch, type Case, type KernelCase } from "../case.ts";
import { binary, unary } from "./operation.ts";

const I32_EDGES = [
  0, 1, -1, 2, -2, 3, 7, -7, 31, 33, 65536, -65536, 1234567, -7654321, 2147483647, -2147483648,
];
const U32_EDGES = [
  0, 1, 2, 3, 7, 31, 33, 65535, 65536, 1234567, 2147483647, 2147483648, 4294967294, 4294967295,
];

const I32_LITERALS = [0, 1, -1, 2, -3, 2147483647, -2147483648];
const U32_LITERALS = [0, 1, 2, 3, 2147483648, 4294967295];

type Big = (a: bigint, b: bigint) => bigint;

/** Division by 0 gives the dividend, and the remainder is then 0. */
const divTrunc: Big = (a, b) => (b === 0n ? a : a / b);
const remTrunc: Big = (a, b) => (b === 0n ? 0n : a % b);
const divFloor: Big = (a, b) => (b === 0n ? a : a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n));
const modFloor: Big = (a, b) => (b === 0n ? 0n : a - divFloor(a, b) * b);

interface Both {
  readonly name: string;
  apply(a: I32, b: Operand<"i32">): I32;
  readonly expect: Big;
  readonly dividesByZero?: boolean;
}

/** One case for each of i32 and u32; the methods have the same names. */
function both({ name, apply, expect, dividesByZero = false }: Both): KernelCase[] {
  const findings = dividesByZero ? { findings: ["division-by-zero"] as const } : {};
  return [
    binary({
      name: `i32 ${name}`,
      from: "i32",
      to: "i32",
      values: I32_EDGES,
      literals: I32_LITERALS,
      scalars: [-1234, 7],
      apply,
      expect: (a, b) => Number(BigInt.asIntN(32, expect(BigInt(a), BigInt(b)))),
      ...findings,
    }),
    binary({
      name: `u32 ${name}`,
      from: "u32",
      to: "u32",
      values: U32_EDGES,
      literals: U32_LITERALS,
      scalars: [4000000000, 7],
      apply: apply as unknown as (a: U32, b: Operand<"u32">) => U32,
      expect: (a, b) => Number(BigInt.asUintN(32, expect(BigInt(a), BigInt(b)))),
      ...findings,
    }),
  ];
}

function compare(
  name: string,
  apply: (a: I32, b: Operand<"i32">) => U32,
  expect: (a: number, b: number) => boolean,
): KernelCase[] {
  const common = { to: "u32", expect: (a: number, b: number) => Number(expect(a, b)) } as const;
  return [
    binary({
      name: `i32 ${name}`,
      from: "i32",
      values: I32_EDGES,
      literals: I32_LITERALS,
      scalars: [-1, 1],
      apply,
      ...common,
    }),
    binary({
      name: `u32 ${name}`,
      from: "u32",
      values: U32_EDGES,
      literals: U32_LITERALS,
      scalars: [4294967295, 1],
      apply: apply as unknown as (a: U32, b: Operand<"u32">) => U32,
      ...common,
    }),
  ];
}

/** The amount counts modulo 32, also where it is a literal. */
const AMOUNTS = [0, 1, 5, 31, 32, 33, 63, 4294967295];

function shifts(type: "i32" | "u32", name: "shl" | "shr", values: readonly number[]): KernelCase {
  const expect = (a: number, by: number): number => {
    const amount = BigInt(by) % 32n;
    const shifted = name === "shl" ? BigInt(a) << amount : BigInt(a) >> amount;
    return Number(type === "i32" ? BigInt.asIntN(32, shifted) : BigInt.asUintN(32, shifted));
  };
  const descriptor = (type === "i32" ? i32 : u32) as typeof i32;
  const n = values.length * AMOUNTS.length;
  const x = array(descriptor, n, (i) => values[Math.floor(i / AMOUNTS.length)] as number);
  const by = array(u32, n, (i) => AMOUNTS[i % AMOUNTS.length] as number);
  return {
    name: `${type} ${name}, the amount modulo 32`,
    prepare: ({ width }) =>
      launch({
        kernel: kernel(
          "shift",
          {
            params: {
              x: buffer(descriptor),
              by: buffer(u32),
              n: u32,
              out: buffer(descriptor, "write"),
              literal: buffer(descriptor, "write"),
            },
            workgroup: [width],
          },
          ({ x, by, n, out, literal }, gpu) => {
            const i = gpu.globalId.x;
            gpu.if(i.lt(n), () => {
              out.set(i, x.get(i)[name](by.get(i)));
              AMOUNTS.forEach((amount, k) => literal.set(n.mul(k).add(i), x.get(i)[name](amount)));
            });
          },
        ),
        workgroups: Math.ceil(n / width),
        args: { x, by, n, out: array(descriptor, n), literal: array(descriptor, n * AMOUNTS.length) },
        expected: {
          out: array(descriptor, n, (i) => expect(x[i] as number, by[i] as number)),
          literal: array(descriptor, n * AMOUNTS.length, (i) =>
            expect(x[i % n] as number, AMOUNTS[Math.floor(i / n)] as number),
          ),
        },
      }),
  };
}

const ones = (x: number): number => (x >>> 0).toString(2).replaceAll("0", "").length;
const leadingZeros = (x: number): number => (x === 0 ? 32 : 32 - (x >>> 0).toString(2).length);

function counts(name: "popcount" | "clz", expect: (x: number) => number): KernelCase[] {
  return [
    unary({
      name: `i32 ${name}`,
      from: "i32",
      to: "i32",
      values: I32_EDGES,
      apply: (a) => a[name](),
      expect,
    }),
    unary({
      name: `u32 ${name}`,
      from: "u32",
      to: "u32",
      values: U32_EDGES,
      apply: (a) => a[name](),
      expect,
    }),
  ];
}

const wrapI32 = (x: bigint): number => Number(BigInt.asIntN(32, x));

const boolCase: KernelCase = {
  name: "bool and, or, xor, not, select, conversions",
  prepare: ({ width }) => {
    const n = 4 * width;
    const bits = array(u32, n, (i) => i % 8);
    return launch({
      kernel: kernel(
        "bools",
        { params: { bits: buffer(u32), out: buffer(i32, "write") }, workgroup: [width] },
        ({ bits, out }, gpu) => {
          const i = gpu.globalId.x;
          const x = bits.get(i);
          const a = x.and(1).toBool();
          const b = x.and(2).ne(0);
          const c = x.ge(4);
          const terms = [
            a.and(b).toI32(),
            a.or(c).toI32().mul(2),
            a.xor(b).toU32().mul(4).toI32(),
            a.not().toF32().mul(8).toI32(),
            select(c, a, b).toI32().mul(16),
            a.and(b.not()).or(c.and(b)).toI32().mul(32),
            select(a, 64, x.toI32().mul(0)),
            select(b.not(), gpu.constant(i32, 128), 0),
          ];
          out.set(
            i,
            terms.reduce((sum, term) => sum.add(term)),
          );
        },
      ),
      workgroups: 4,
      args: { bits, out: array(i32, n) },
      expected: {
        out: array(i32, n, (i) => {
          const [a, b, c] = [(i & 1) !== 0, (i & 2) !== 0, (i & 4) !== 0];
          const list = [a && b, a || c, a !== b, !a, c ? a : b, (a && !b) || (c && b), a, !b];
          return list.reduce((sum, value, k) => sum + (value ? 1 << k : 0), 0);
        }),
      },
    });
  },
};

const several: KernelCase = {
  name: "i32 min and max of three, clamp, select",
  prepare: ({ width }) => {
    const n = I32_EDGES.length * 4;
    const x = array(i32, n, (i) => I32_EDGES[i % I32_EDGES.length] as number);
    const y = array(i32, n, (i) => I32_EDGES[(i * 5 + 3) % I32_EDGES.length] as number);
    return launch({
      kernel: kernel(
        "several",
        { params: { x: buffer(i32), y: buffer(i32), n: u32, out: buffer(i32, "write") }, workgroup: [width] },
        ({ x, y, n, out }, gpu) => {
          const i = gpu.globalId.x;
          gpu.if(i.lt(n), () => {
            const [a, b] = [x.get(i), y.get(i)];
            const low = min(a, b, 100);
            const high = max(a, b, -100);
            out.set(i, select(a.lt(b), low.xor(high), clamp(a, -5, 5)));
          });
        },
      ),
      workgroups: Math.ceil(n / width),
      args: { x, y, n, out: array(i32, n) },
      expected: {
        out: array(i32, n, (i) => {
          const [a, b] = [x[i] as number, y[i] as number];
          return a < b ? Math.min(a, b, 100) ^ Math.max(a, b, -100) : Math.min(Math.max(a, -5), 5);
        }),
      },
    });
  },
};

export const integerCases: readonly Case[] = [
  ...both({ name: "add wraps", apply: (a, b) => a.add(b), expect: (a, b) => a + b }),
  ...both({ name: "sub wraps", apply: (a, b) => a.sub(b), expect: (a, b) => a - b }),
  ...both({ name: "mul wraps", apply: (a, b) => a.mul(b), expect: (a, b) => a * b }),
  ...both({ name: "min", apply: (a, b) => a.min(b), expect: (a, b) => (a < b ? a : b) }),
  ...both({ name: "max", apply: (a, b) => a.max(b), expect: (a, b) => (a > b ? a : b) }),
  ...both({ name: "and", apply: (a, b) => a.and(b), expect: (a, b) => a & b }),
  ...both({ name: "or", apply: (a, b) => a.or(b), expect: (a, b) => a | b }),
  ...both({ name: "xor", apply: (a, b) => a.xor(b), expect: (a, b) => a ^ b }),
  ...both({ name: "divTrunc", apply: (a, b) => a.divTrunc(b), expect: divTrunc, dividesByZero: true }),
  ...both({ name: "remTrunc", apply: (a, b) => a.remTrunc(b), expect: remTrunc, dividesByZero: true }),
  ...both({ name: "divFloor", apply: (a, b) => a.divFloor(b), expect: divFloor, dividesByZero: true }),
  ...both({ name: "modFloor", apply: (a, b) => a.modFloor(b), expect: modFloor, dividesByZero: true }),
  ...compare(
    "lt",
    (a, b) => a.lt(b).toU32(),
    (a, b) => a < b,
  ),
  ...compare(
    "le",
    (a, b) => a.le(b).toU32(),
    (a, b) => a <= b,
  ),
  ...compare(
    "gt",
    (a, b) => a.gt(b).toU32(),
    (a, b) => a > b,
  ),
  ...compare(
    "ge",
    (a, b) => a.ge(b).toU32(),
    (a, b) => a >= b,
  ),
  ...compare(
    "eq",
    (a, b) => a.eq(b).toU32(),
    (a, b) => a === b,
  ),
  ...compare(
    "ne",
    (a, b) => a.ne(b).toU32(),
    (a, b) => a !== b,
  ),
  shifts("i32", "shl", I32_EDGES),
  shifts("i32", "shr", I32_EDGES),
  shifts("u32", "shl", U32_EDGES),
  shifts("u32", "shr", U32_EDGES),
  ...counts("popcount", ones),
  ...counts("clz", leadingZeros),
  unary({
    name: "i32 not",
    from: "i32",
    to: "i32",
    values: I32_EDGES,
    apply: (a) => a.not(),
    expect: (a) => -1 - a,
  }),
  unary({
    name: "u32 not",
    from: "u32",
    to: "u32",
    values: U32_EDGES,
    apply: (a) => a.not(),
    expect: (a) => 4294967295 - a,
  }),
  unary({
    name: "i32 neg wraps",
    from: "i32",
    to: "i32",
    values: I32_EDGES,
    apply: (a) => a.neg(),
    expect: (a) => wrapI32(-BigInt(a)),
  }),
  unary({
    name: "i32 abs wraps",
    from: "i32",
    to: "i32",
    values: I32_EDGES,
    apply: (a) => abs(a),
    expect: (a) => wrapI32(BigInt(Math.abs(a))),
  }),
  several,
  boolCase,
];
