/** Global memory: accesses, wide loads and stores, parameters, buffers that launches share. */

import { buffer, f32, i32, kernel, u32, vec } from "@evolver/kernel";
import type { WordType } from "@evolver/kernel";
import { array, launch, noise, smallFloat, type Case, type KernelCase, type Values } from "../case.ts";
import { TYPES } from "./operation.ts";

const numberOf = (type: WordType, i: number, seed = 1): number => {
  if (type === "f32") return smallFloat(i, seed);
  return type === "u32" ? noise(i, seed) : noise(i, seed) | 0;
};

const everyAccess = (type: WordType): KernelCase => ({
  name: `buffers of ${type}: read, write and read_write`,
  prepare({ width }) {
    const descriptor = TYPES[type] as typeof f32;
    const n = 3 * width;
    const x = array(descriptor, n, (i) => numberOf(type, i));
    const z = array(descriptor, n, (i) => numberOf(type, i, 2));
    return launch({
      kernel: kernel(
        "access",
        {
          params: {
            x: buffer(descriptor),
            y: buffer(descriptor, "write"),
            z: buffer(descriptor, "read_write"),
          },
          workgroup: [width],
        },
        ({ x, y, z }, gpu) => {
          const i = gpu.globalId.x;
          const before = z.get(i);
          z.set(i, x.get(i));
          y.set(i, before);
          y.set(i, z.get(i).max(before));
        },
      ),
      workgroups: 3,
      args: { x, y: array(descriptor, n), z },
      expected: {
        x,
        y: array(descriptor, n, (i) => Math.max(x[i] as number, z[i] as number)),
        z: x,
      },
    });
  },
});

/** Wide accesses alone, and beside narrow ones to the same buffer, which some targets must lower. */
const wide = (type: WordType, n: 2 | 4, mixed: boolean): KernelCase => ({
  name: `${n} elements of ${type} at once${mixed ? ", beside single ones" : ""}`,
  prepare({ width }) {
    const descriptor = TYPES[type] as typeof f32;
    const length = n * width * 2;
    const x = array(descriptor, length, (i) => numberOf(type, i));
    const z = array(descriptor, length, (i) => numberOf(type, i, 3));
    const reversed = array(descriptor, length, (i) => x[i - (i % n) + (n - 1 - (i % n))] as number);
    const lengthOfSingles = mixed ? length / n : 0;
    return launch({
      kernel: kernel(
        "wide",
        {
          params: {
            x: buffer(descriptor),
            y: buffer(descriptor, "write"),
            z: buffer(descriptor, "read_write"),
            singles: buffer(descriptor, "write"),
          },
          workgroup: [width],
        },
        ({ x, y, z, singles }, gpu) => {
          const i = gpu.globalId.x;
          const at = i.mul(n);
          const given = x.getVec(n, at);
          const list = given.components.toReversed();
          const [a, b, c, d] = list as [typeof given.x, typeof given.x, typeof given.x, typeof given.x];
          y.setVec(at, n === 2 ? vec(a, b) : vec(a, b, c, d));
          const old = z.getVec(n, at);
          z.setVec(
            at,
            old.map((component, k) => (k === 0 ? given.x : component)),
          );
          if (mixed) {
            singles.set(i, x.get(at.add(1)));
            z.set(at.add(1), x.get(at));
          }
        },
      ),
      workgroups: 2,
      args: { x, y: array(descriptor, length), z, singles: array(descriptor, lengthOfSingles) },
      expected: {
        y: reversed,
        z: array(descriptor, length, (i) => {
          if (i % n === 0) return x[i] as number;
          return (mixed && i % n === 1 ? x[i - 1] : z[i]) as number;
        }),
        singles: array(descriptor, lengthOfSingles, (i) => x[i * n + 1] as number),
      },
    });
  },
});

const componentArithmetic: KernelCase = {
  name: "arithmetic of vectors by component, with vectors and with numbers",
  prepare({ width }) {
    const x = array(i32, 4 * width, (i) => (noise(i) | 0) >> 4);
    return launch({
      kernel: kernel(
        "components",
        { params: { x: buffer(i32), y: buffer(i32, "write") }, workgroup: [width] },
        ({ x, y }, gpu) => {
          const v = x.getVec(4, gpu.localIndex.mul(4));
          y.setVec(gpu.localIndex.mul(4), v.mul(3).add(v).sub(v.mul(v)));
        },
      ),
      workgroups: 1,
      args: { x, y: array(i32, 4 * width) },
      expected: {
        y: array(i32, 4 * width, (i) => {
          const a = x[i] as number;
          return (4 * a - Math.imul(a, a)) | 0;
        }),
      },
    });
  },
};

const scalars: KernelCase = {
  name: "scalar parameters of each type, at their extremes",
  prepare: ({ width }) =>
    launch({
      kernel: kernel(
        "scalars",
        {
          params: {
            a: f32,
            b: i32,
            c: u32,
            d: f32,
            e: i32,
            f: u32,
            floats: buffer(f32, "write"),
            ints: buffer(i32, "write"),
            words: buffer(u32, "write"),
          },
          workgroup: [width],
        },
        ({ a, b, c, d, e, f, floats, ints, words }, gpu) => {
          gpu.if(gpu.localIndex.eq(0), () => {
            floats.set(0, a);
            floats.set(1, d);
            ints.set(0, b);
            ints.set(1, e);
            words.set(0, c);
            words.set(1, f);
          });
        },
      ),
      workgroups: 1,
      args: {
        a: 0.1,
        b: -2147483648,
        c: 4294967295,
        d: -Infinity,
        e: 2147483647,
        f: 0,
        floats: array(f32, 2),
        ints: array(i32, 2),
        words: array(u32, 2),
      },
      expected: {
        floats: Float32Array.of(0.1, -Infinity),
        ints: Int32Array.of(-2147483648, 2147483647),
        words: Uint32Array.of(4294967295, 0),
      },
    }),
};

const literals: KernelCase = {
  name: "literals of each type, written as they are",
  prepare({ width }) {
    const floats = [0, -0, 1e-30, 3.4028234663852886e38, 16777217, 0.1, Infinity, -Infinity, NaN, 1 / 3];
    const ints = [0, -1, 2147483647, -2147483648, -2147483647];
    const words = [0, 4294967295, 2147483648];
    return launch({
      kernel: kernel(
        "literals",
        {
          params: { f: buffer(f32, "write"), i: buffer(i32, "write"), u: buffer(u32, "write") },
          workgroup: [width],
        },
        ({ f, i, u }, gpu) => {
          gpu.if(gpu.localIndex.eq(0), () => {
            for (const [k, value] of floats.entries()) f.set(k, value);
            for (const [k, value] of ints.entries()) i.set(k, value);
            for (const [k, value] of words.entries()) u.set(k, gpu.constant(u32, value));
          });
        },
      ),
      workgroups: 1,
      args: { f: array(f32, floats.length), i: array(i32, ints.length), u: array(u32, words.length) },
      expected: { f: Float32Array.from(floats), i: Int32Array.from(ints), u: Uint32Array.from(words) },
    });
  },
};

const zeroLength: KernelCase = {
  name: "buffers of length zero that no invocation touches",
  prepare({ width }) {
    return launch({
      kernel: kernel(
        "empty",
        {
          params: { x: buffer(f32), y: buffer(f32, "write"), n: u32, ran: buffer(u32, "write") },
          workgroup: [width],
        },
        ({ x, y, n, ran }, gpu) => {
          const i = gpu.globalId.x;
          gpu.if(i.lt(n), () => y.set(i, x.get(i)));
          ran.set(i, 1);
        },
      ),
      workgroups: 2,
      args: { x: array(f32, 0), y: array(f32, 0), n: 0, ran: array(u32, 2 * width) },
      expected: { x: array(f32, 0), y: array(f32, 0), ran: array(u32, 2 * width, () => 1) },
    });
  },
};

const nothingWritten: KernelCase = {
  name: "a kernel that writes no buffer leaves them as they are",
  prepare({ width }) {
    const x = array(f32, width, (i) => smallFloat(i));
    return launch({
      kernel: kernel("reads", { params: { x: buffer(f32), n: u32 }, workgroup: [width] }, ({ x, n }, gpu) => {
        const sum = gpu.var(f32, 0);
        gpu.for({ from: 0, to: n }, (i) => sum.add(x.get(i)));
      }),
      workgroups: 2,
      args: { x, n: width },
      expected: { x },
    });
  },
};

const nothingPassed: KernelCase = {
  name: "a kernel without parameters",
  prepare: ({ width }) =>
    launch({
      kernel: kernel("alone", { params: {}, workgroup: [width] }, (_, gpu) => {
        gpu.shared(u32, width).set(gpu.localIndex, gpu.localIndex);
      }),
      workgroups: 3,
      args: {},
      expected: {},
    }),
};

const untouched: KernelCase = {
  name: "parameters that the kernel never touches",
  prepare: ({ width }) =>
    launch({
      kernel: kernel(
        "untouched",
        {
          params: {
            unused: buffer(f32),
            p: f32,
            x: buffer(i32, "read_write"),
            q: u32,
            spare: buffer(i32, "write"),
          },
          workgroup: [width],
        },
        ({ x }, gpu) => x.set(gpu.localIndex, gpu.localIndex.toI32()),
      ),
      workgroups: 1,
      args: { unused: array(f32, 3), p: 1, x: array(i32, width), q: 2, spare: array(i32, 2, () => 7) },
      expected: { x: array(i32, width, (i) => i), unused: array(f32, 3), spare: array(i32, 2, () => 7) },
    }),
};

const sharedBetweenPrograms: KernelCase = {
  name: "launches repeated with state, and two programs that share a buffer",
  prepare({ width }) {
    const n = 2 * width;
    const params = { x: buffer(i32, "read_write"), k: i32 } as const;
    const add = kernel("add", { params, workgroup: [width] }, ({ x, k }, gpu) => {
      x.set(gpu.globalId.x, x.get(gpu.globalId.x).add(k));
    });
    const times = kernel("times", { params, workgroup: [width] }, ({ x, k }, gpu) => {
      x.set(gpu.globalId.x, x.get(gpu.globalId.x).mul(k));
    });
    const from = { from: "x" } as const;
    const after = (change: (i: number) => number): Values<"i32"> => array(i32, n, change);
    const [first, ...others] = [
      { kernel: add, k: 5, result: after((i) => i + 5) },
      { kernel: add, k: -2, result: after((i) => i + 3) },
      { kernel: times, k: 10, result: after((i) => 10 * i + 30) },
      { kernel: times, k: -1, result: after((i) => -10 * i - 30) },
      { kernel: add, k: 31, result: after((i) => 1 - 10 * i) },
    ] as const;
    return [
      launch({
        kernel: first.kernel,
        workgroups: 2,
        args: { x: array(i32, n, (i) => i), k: first.k },
        expected: { x: first.result },
      }),
      ...others.map(({ kernel, k, result }) =>
        launch({ kernel, workgroups: 2, args: { x: from, k }, expected: { x: result } }),
      ),
    ];
  },
};

const passedTwice: KernelCase = {
  name: "one buffer passed for two parameters that are read",
  prepare({ width }) {
    const x = array(f32, 2 * width, (i) => smallFloat(i));
    const program = kernel(
      "twice",
      { params: { x: buffer(f32), same: buffer(f32), y: buffer(f32, "write") }, workgroup: [width] },
      ({ x, same, y }, gpu) => {
        const i = gpu.localIndex;
        y.set(i, x.get(i).sub(same.get(i.add(width))));
      },
    );
    const copy = kernel("copy", { params: { x: buffer(f32) }, workgroup: [width] }, () => {});
    return [
      launch({ kernel: copy, workgroups: 1, args: { x }, expected: { x } }),
      launch({
        kernel: program,
        workgroups: 1,
        args: { x: { from: "x" }, same: { from: "x" }, y: array(f32, width) },
        expected: { y: array(f32, width, (i) => (x[i] as number) - (x[i + width] as number)) },
      }),
    ];
  },
};

const TYPE_NAMES = ["f32", "i32", "u32"] as const;

export const bufferCases: readonly Case[] = [
  ...TYPE_NAMES.map(everyAccess),
  ...TYPE_NAMES.flatMap((type) => [wide(type, 2, false), wide(type, 4, false)]),
  wide("f32", 2, true),
  wide("u32", 4, true),
  componentArithmetic,
  scalars,
  literals,
  zeroLength,
  nothingWritten,
  nothingPassed,
  untouched,
  sharedBetweenPrograms,
  passedTwice,
];
