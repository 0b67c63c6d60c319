/** f16 and bf16: rounding of every operation, conversions, memory in twos, fours and eights, subgroups. */

import {
  abs,
  bf16,
  buffer,
  ceil,
  f16,
  f32,
  floor,
  fma,
  i32,
  kernel,
  math,
  max,
  min,
  round,
  select,
  sqrt,
  trunc,
  u32,
} from "@evolver/kernel";
import type { BF16, F16, F32, Gpu, HalfType, I32, TypeDescriptor } from "@evolver/kernel";
import { fromBF16Bits, fromF16Bits } from "@evolver/device";
import { array, launch, noise, subgroupsOf, type Case, type KernelCase } from "../case.ts";

/** The two types have the same methods; the cases are written for one. */
type Half = typeof f16;

interface Format {
  readonly type: HalfType;
  readonly descriptor: Half;
  readonly round: (x: number) => number;
  readonly numbers: (bits: Uint16Array) => Float32Array;
  readonly fma: (a: number, b: number, c: number) => number;
  /** Bits after the leading one. */
  readonly fraction: number;
  readonly largest: number;
  readonly smallest: number;
  readonly convert: (x: F32 | I32 | F16 | BF16) => F16;
}

const F16_FORMAT: Format = {
  type: "f16",
  descriptor: f16,
  round: math.roundF16,
  numbers: fromF16Bits,
  fma: math.fmaF16,
  fraction: 10,
  largest: 65504,
  smallest: 2 ** -24,
  convert: (x) => x.toF16(),
};
const BF16_FORMAT: Format = {
  type: "bf16",
  descriptor: bf16 as TypeDescriptor<HalfType> as Half,
  round: math.roundBF16,
  numbers: fromBF16Bits,
  fma: math.fmaBF16,
  fraction: 7,
  largest: (2 - 2 ** -7) * 2 ** 127,
  smallest: 2 ** -126,
  convert: (x) => x.toBF16() as unknown as F16,
};
const FORMATS = [F16_FORMAT, BF16_FORMAT];

/** Numbers of all sizes, ties and edges; of f16 with subnormal ones, which no device flushes. */
function valuesOf(
  { round: to, fraction, largest, smallest, type }: Format,
  length: number,
  seed: number,
): number[] {
  const edges = [0, -0, 1, -1, 1.5, largest, -largest, Infinity, -Infinity, NaN, smallest, -3 * smallest];
  return Array.from({ length }, (_, i) => {
    const bits = noise(i, seed);
    if (bits % 5 === 0) return edges[(bits >>> 8) % edges.length] as number;
    const significand = 1 + ((bits >>> 4) % 2 ** fraction) / 2 ** fraction;
    const range = type === "f16" ? 12 : 60;
    const exponent = ((bits >>> 16) % (2 * range)) - range;
    return to((bits & 1 ? -1 : 1) * significand * 2 ** exponent);
  });
}

type Binary = (a: F16, b: F16) => F16;

const BINARY: readonly (readonly [string, Binary, (a: number, b: number) => number])[] = [
  ["add", (a, b) => a.add(b), (a, b) => a + b],
  ["sub", (a, b) => a.sub(b), (a, b) => a - b],
  ["mul", (a, b) => a.mul(b), (a, b) => a * b],
  ["neg", (a) => a.neg(), (a) => -a],
  ["abs", (a) => abs(a), (a) => Math.abs(a)],
  ["floor", (a) => floor(a), Math.floor],
  ["ceil", (a) => ceil(a), Math.ceil],
  ["trunc", (a) => trunc(a), Math.trunc],
  ["round", (a) => round(a), math.round],
  ["select by lt", (a, b) => select(a.lt(b), a, b), (a, b) => (a < b ? a : b)],
  ["select by ge", (a, b) => select(a.ge(b).and(b.le(a)), a, 2), (a, b) => (a >= b ? a : 2)],
  ["select by ne", (a, b) => select(a.ne(b).and(a.eq(b).not()), a, 3), (a, b) => (a !== b ? a : 3)],
  ["mul and add, apart", (a, b) => a.mul(b).add(a), (a, b) => a * b],
];

interface ArithmeticOptions {
  readonly needs?: KernelCase["needs"];
  readonly zeros?: boolean;
  readonly noNaN?: boolean;
  /** WGSL lets compilers assume that there is no NaN: NVIDIA's makes a minimum of a select by lt. */
  readonly noNaNInWgsl?: boolean;
  /** Instead of numbers of all sizes: operand k of element i. */
  readonly operands?: (i: number, k: number) => number;
}

/** The product lies halfway between two neighbours; what is added is smaller than f32 has room for beside it. */
const nearTies =
  ({ type }: Format): NonNullable<ArithmeticOptions["operands"]> =>
  (i, k) => {
    const [high, low, tiny] = type === "f16" ? [5, 6, 2 ** -24] : [3, 5, 2 ** -60];
    if (k === 2) return i % 2 === 0 ? tiny : -tiny;
    return k === 0 ? (i % 4 < 2 ? 1 : -1) * (1 + 2 ** -high) : 1 + 2 ** -low;
  };

const arithmetic = (
  format: Format,
  name: string,
  apply: (a: F16, b: F16, c: F16) => F16,
  expect: (a: number, b: number, c: number) => number,
  options: ArithmeticOptions = {},
): KernelCase => ({
  name: `${format.type}: ${name}`,
  ...(options.needs === undefined ? {} : { needs: options.needs }),
  prepare({ width, id }) {
    const { descriptor } = format;
    const n = width * Math.ceil(600 / width);
    const { operands } = options;
    const noNaN = options.noNaN === true || (options.noNaNInWgsl === true && id === "webgpu");
    const [a, b, c] = [0, 1, 2].map((k) => {
      if (operands !== undefined) return Array.from({ length: n }, (_, i) => operands(i, k));
      return valuesOf(format, n, k + 1).map((x) => (noNaN && x !== x ? 1 : x));
    }) as [number[], number[], number[]];
    const held = (list: number[]): Uint16Array => array(descriptor, n, (i) => list[i] as number);
    // What is smaller than the normal numbers of bf16 may be flushed: such results are given to none.
    const flushed = (x: number): boolean => format.type === "bf16" && x !== 0 && Math.abs(x) < 2 ** -126;
    const results = a.map((x, i) => format.round(expect(x, b[i] as number, c[i] as number)));
    results.forEach((result, i) => {
      if (!flushed(result)) return;
      for (const list of [a, b, c]) list[i] = 1;
      results[i] = format.round(expect(1, 1, 1));
    });
    return launch({
      kernel: kernel(
        "half",
        {
          params: {
            a: buffer(descriptor),
            b: buffer(descriptor),
            c: buffer(descriptor),
            y: buffer(descriptor, "write"),
          },
          workgroup: [width],
        },
        ({ a: as, b: bs, c: cs, y }, gpu) => {
          const i = gpu.globalId.x;
          y.set(i, apply(as.get(i), bs.get(i), cs.get(i)));
        },
      ),
      workgroups: n / width,
      args: { a: held(a), b: held(b), c: held(c), y: array(descriptor, n) },
      expected: {
        y: {
          values: held(results),
          half: format.type,
          ...(options.zeros === undefined ? {} : { zeros: options.zeros }),
        },
      },
    });
  },
});

const operations = (format: Format): KernelCase[] => [
  ...BINARY.map(([name, apply, expect]) =>
    name === "mul and add, apart"
      ? arithmetic(format, name, apply, (a, b) => format.round(a * b) + a, { needs: ["separateRounding"] })
      : arithmetic(format, name, apply, expect, { noNaNInWgsl: name.startsWith("select") }),
  ),
  arithmetic(
    format,
    "div",
    (a, b) => a.div(b),
    (a, b) => a / b,
    { needs: ["exactDivision"] },
  ),
  arithmetic(format, "sqrt", (a) => sqrt(a), Math.sqrt, { needs: ["exactDivision"] }),
  arithmetic(
    format,
    "min and max",
    (a, b, c) => max(min(a, b), c),
    (a, b, c) => Math.max(Math.min(a, b), c),
    {
      zeros: true,
      noNaN: true,
    },
  ),
  // WGSL's own f16 may round an fma twice; in bf16 it is made of integers.
  arithmetic(
    format,
    "fma",
    (a, b, c) => fma(a, b, c),
    format.fma,
    format.type === "f16" ? { needs: ["exactDivision"] } : {},
  ),
  arithmetic(format, "fma where two roundings go wrong", (a, b, c) => fma(a, b, c), format.fma, {
    ...(format.type === "f16" ? { needs: ["exactDivision"] } : {}),
    operands: nearTies(format),
  }),
];

const conversions = (format: Format): KernelCase => ({
  name: `${format.type}: from and to f32, i32 and u32`,
  prepare({ width }) {
    const { descriptor, fraction } = format;
    const n = width * Math.ceil(400 / width);
    // Halfway between neighbours, and just beside.
    const floats = array(f32, n, (i) => {
      const bits = noise(i, 7);
      const tie = 1 + (2 * (bits % 2 ** fraction) + 1) / 2 ** (fraction + 1);
      const beside = [0, 2 ** -22, -(2 ** -22)][(bits >>> 12) % 3] as number;
      return (tie + beside) * 2 ** (((bits >>> 16) % 20) - 10);
    });
    const integers = array(i32, n, (i) => (noise(i, 8) | 0) >> (noise(i, 9) % 24));
    return launch({
      kernel: kernel(
        "convert",
        {
          params: {
            x: buffer(f32),
            n: buffer(i32),
            fromFloat: buffer(descriptor, "write"),
            fromInteger: buffer(descriptor, "write"),
            toFloat: buffer(f32, "write"),
            toInteger: buffer(i32, "write"),
            toUnsigned: buffer(u32, "write"),
          },
          workgroup: [width],
        },
        ({ x, n: whole, fromFloat, fromInteger, toFloat, toInteger, toUnsigned }, gpu) => {
          const i = gpu.globalId.x;
          const half = format.convert(x.get(i));
          fromFloat.set(i, half);
          fromInteger.set(i, format.convert(whole.get(i)));
          toFloat.set(i, half.toF32());
          toInteger.set(i, half.neg().toI32());
          toUnsigned.set(i, half.toU32());
        },
      ),
      workgroups: n / width,
      args: {
        x: floats,
        n: integers,
        fromFloat: array(descriptor, n),
        fromInteger: array(descriptor, n),
        toFloat: array(f32, n),
        toInteger: array(i32, n),
        toUnsigned: array(u32, n),
      },
      expected: {
        fromFloat: array(descriptor, n, (i) => floats[i] as number),
        fromInteger: array(descriptor, n, (i) => integers[i] as number),
        toFloat: array(f32, n, (i) => format.round(floats[i] as number)),
        toInteger: array(i32, n, (i) => -Math.trunc(format.round(floats[i] as number))),
        toUnsigned: array(u32, n, (i) => Math.trunc(format.round(floats[i] as number))),
      },
    });
  },
});

/** Every bit pattern that is no NaN comes back, through memory and through f32. */
const patterns = (format: Format): KernelCase => ({
  name: `${format.type}: all bits, through memory and through f32`,
  prepare({ width }) {
    const { descriptor, type } = format;
    const infinity = type === "f16" ? 0x7c00 : 0x7f80;
    const all = Array.from({ length: 65536 }, (_, bits) => bits).filter(
      (bits) => (bits & 0x7fff) <= infinity,
    );
    const isFlushed = (bits: number): boolean => type === "bf16" && (bits & 0x7f80) === 0;
    const kept = all.filter((bits) => !isFlushed(bits));
    const n = kept.length - (kept.length % width);
    const x = Uint16Array.from(kept.slice(0, n));
    return launch({
      kernel: kernel(
        "patterns",
        {
          params: { x: buffer(descriptor), y: buffer(descriptor, "write"), z: buffer(descriptor, "write") },
          workgroup: [width],
        },
        ({ x: xs, y, z }, gpu) => {
          const i = gpu.globalId.x;
          const value = xs.get(i);
          y.set(i, value);
          z.set(i, format.convert(value.toF32()));
        },
      ),
      workgroups: n / width,
      args: { x, y: array(descriptor, n), z: array(descriptor, n) },
      expected: { y: x, z: x },
    });
  },
});

const small = (i: number, seed = 1): number => ((noise(i, seed) % 129) - 64) / 8;

/** Lanes that store single elements leave those beside them alone. */
const neighbours = ({ type, descriptor }: Format): KernelCase => ({
  name: `${type}: single stores leave their neighbours alone, in buffers and in shared memory`,
  prepare({ width }) {
    const n = 4 * width;
    const y = array(descriptor, n, (i) => small(i, 4));
    return launch({
      kernel: kernel(
        "neighbours",
        {
          params: { y: buffer(descriptor, "read_write"), z: buffer(descriptor, "write") },
          workgroup: [2 * width],
        },
        ({ y: ys, z }, gpu) => {
          const i = gpu.globalId.x;
          const tile = gpu.shared(descriptor, 4 * width);
          const local = gpu.localIndex;
          tile.set(local, ys.get(i));
          tile.set(local.add(2 * width), 0);
          gpu.barrier();
          // Even lanes write one, odd lanes the other half of the same words.
          gpu.if(local.and(1).eq(0), () => tile.set(local.add(2 * width), tile.get(local)));
          gpu.if(local.and(1).eq(1), () => tile.set(local.add(2 * width), tile.get(local).neg()));
          gpu.barrier();
          gpu.if(i.remTrunc(3).eq(0), () => ys.set(i, tile.get(local.xor(1))));
          z.set(i, tile.get(local.add(2 * width)));
        },
      ),
      workgroups: 2,
      args: { y, z: array(descriptor, n) },
      expected: {
        y: Uint16Array.from(y, (bits, i) => (i % 3 === 0 ? (y[i ^ 1] as number) : bits)),
        z: Uint16Array.from(y, (bits, i) => (i % 2 === 0 ? bits : bits ^ 0x8000)),
      },
    });
  },
});

const wide = ({ type, descriptor }: Format, n: 2 | 4 | 8, mixed: boolean): KernelCase => ({
  name: `${type}: ${n} elements at once${mixed ? ", beside single ones" : ""}`,
  prepare({ width }) {
    const length = 2 * n * width;
    const x = array(descriptor, length, (i) => small(i));
    const at = (i: number): number => x[i - (i % n) + (n - 1 - (i % n))] as number;
    const y = Uint16Array.from(x, (_, i) => at(i));
    return launch({
      kernel: kernel(
        "wide",
        {
          params: {
            x: buffer(descriptor),
            y: buffer(descriptor, "read_write"),
            z: buffer(descriptor, "write"),
          },
          workgroup: [width],
        },
        ({ x: xs, y: ys, z }, gpu) => {
          const i = gpu.globalId.x;
          const tile = gpu.shared(descriptor, n * width);
          const given = xs.getVec(n, i.mul(n));
          ys.setVec(
            i.mul(n),
            given.map((_, k) => given.at(n - 1 - k)),
          );
          tile.setVec(gpu.localIndex.mul(n), given);
          gpu.barrier();
          z.setVec(i.mul(n), tile.getVec(n, gpu.localIndex.xor(1).mul(n)));
          if (mixed) {
            ys.set(i.mul(n).add(1), xs.get(i.mul(n)));
            ys.set(i.mul(n), tile.get(gpu.localIndex.mul(n).add(1)));
          }
        },
      ),
      workgroups: 2,
      args: { x, y: array(descriptor, length), z: array(descriptor, length) },
      expected: {
        y: mixed
          ? Uint16Array.from(y, (bits, i) => (i % n < 2 ? (x[i - (i % n) + (1 - (i % n))] as number) : bits))
          : y,
        z: Uint16Array.from(x, (_, i) => x[i ^ n] as number),
      },
    });
  },
});

const stateful = ({ type, descriptor, round: to }: Format): KernelCase => ({
  name: `${type}: variables, registers, loops and uniform loads`,
  prepare({ width }) {
    const x = array(descriptor, width, (i) => small(i));
    return launch({
      kernel: kernel(
        "stateful",
        { params: { x: buffer(descriptor), y: buffer(descriptor, "write") }, workgroup: [width] },
        ({ x: xs, y }, gpu) => {
          const i = gpu.localIndex;
          const tile = gpu.shared(descriptor, width);
          const total = gpu.var(descriptor, 0);
          const parts = gpu.registers(descriptor, 2, 1);
          tile.set(i, xs.get(i));
          const first = gpu.uniformLoad(tile, 1);
          gpu.for({ from: 0, to: 5 }, (k) => {
            total.add(xs.get(i).mul(0.3));
            gpu.if(k.gt(i), () => parts.set(1, total.get()));
          });
          gpu.if(first.gt(100), () => total.set(0));
          y.set(i, total.get().add(parts.get(1)).sub(parts.get(0)));
        },
      ),
      workgroups: 1,
      args: { x, y: array(descriptor, width) },
      expected: {
        y: array(descriptor, width, (i) => {
          const each = to(small(i) * to(0.3));
          let total = 0;
          let part = 1;
          for (let k = 0; k < 5; k++) {
            total = to(total + each);
            if (k > i) part = total;
          }
          return to(total + part) - 1;
        }),
      },
    });
  },
});

type Lanes = readonly number[];

const overLanes = (
  { type, descriptor }: Format,
  name: string,
  apply: (x: F16, gpu: Gpu) => F16,
  expect: (lanes: Lanes, lane: number) => number,
): KernelCase => ({
  name: `${type}: subgroup ${name}`,
  needs: ["subgroups"],
  prepare(device) {
    const { width } = device;
    const threads = width * subgroupsOf(device, 2);
    const value = (i: number): number => small(i) * 2 ** (noise(i, 5) % 7);
    return launch({
      kernel: kernel(
        "lanes",
        { params: { x: buffer(descriptor), y: buffer(descriptor, "write") }, workgroup: [threads] },
        ({ x, y }, gpu) => y.set(gpu.globalId.x, apply(x.get(gpu.globalId.x), gpu)),
      ),
      workgroups: 2,
      args: { x: array(descriptor, 2 * threads, value), y: array(descriptor, 2 * threads) },
      expected: {
        y: array(descriptor, 2 * threads, (i) => {
          const start = i - (i % width);
          return expect(
            Array.from({ length: width }, (_, lane) => value(start + lane)),
            i % width,
          );
        }),
      },
    });
  },
});

const subgroups = (format: Format): KernelCase[] => {
  const { round: to } = format;
  const scanned = (lanes: Lanes): number[] => {
    let now = [...lanes];
    for (let o = 1; o < lanes.length; o *= 2)
      now = now.map((v, lane) => (lane >= o ? to((now[lane - o] as number) + v) : v));
    return now;
  };
  return [
    overLanes(
      format,
      "sum, rounded at each step",
      (x, gpu) => gpu.subgroup.sum(x),
      (lanes, lane) => {
        let now = [...lanes];
        for (let o = lanes.length / 2; o >= 1; o /= 2)
          now = now.map((v, l) => to(v + (now[l ^ o] as number)));
        return now[lane] as number;
      },
    ),
    overLanes(
      format,
      "min and max",
      (x, gpu) => gpu.subgroup.max(x).sub(gpu.subgroup.min(x)),
      (lanes) => to(Math.max(...lanes) - Math.min(...lanes)),
    ),
    overLanes(
      format,
      "inclusive sum",
      (x, gpu) => gpu.subgroup.inclusiveSum(x),
      (lanes, lane) => scanned(lanes)[lane] as number,
    ),
    overLanes(
      format,
      "exclusive sum",
      (x, gpu) => gpu.subgroup.exclusiveSum(x),
      (lanes, lane) => (lane === 0 ? 0 : (scanned(lanes)[lane - 1] as number)),
    ),
    overLanes(
      format,
      "shuffle, shuffleXor and broadcast",
      (x, gpu) =>
        gpu.subgroup
          .shuffle(x, gpu.lane.xor(3))
          .add(gpu.subgroup.shuffleXor(x, 1))
          .add(gpu.subgroup.broadcast(x, 2))
          .add(gpu.subgroup.broadcastFirst(x)),
      (lanes, lane) =>
        to(
          to(to((lanes[lane ^ 3] as number) + (lanes[lane ^ 1] as number)) + (lanes[2] as number)) +
            (lanes[0] as number),
        ),
    ),
  ];
};

export const halfCases: readonly Case[] = FORMATS.flatMap((format) => [
  ...operations(format),
  conversions(format),
  patterns(format),
  neighbours(format),
  ...([2, 4, 8] as const).flatMap((n) => [wide(format, n, false), wide(format, n, true)]),
  stateful(format),
  ...subgroups(format),
]);
