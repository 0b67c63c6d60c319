/** Atomic operations on every type, in buffers and in shared memory, within and between workgroups. */

import { atomic, buffer, f32, i32, kernel, u32, type AtomicArray, type Gpu, type I32 } from "@evolver/kernel";
import { array, invocations, launch, noise, type Case, type KernelCase } from "../case.ts";
import { TYPES } from "./operation.ts";

type Name = "add" | "min" | "max" | "and" | "or" | "xor";

const FIRST: Readonly<Record<Name, number>> = {
  add: 7,
  min: 2147483647,
  max: 0,
  and: -1,
  or: 0,
  xor: 0x5555,
};

const bigOf: Readonly<Record<Name, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  min: Math.min,
  max: Math.max,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

/** All invocations of two workgroups hit three cells; the result does not depend on their order. */
const combined = (type: "i32" | "u32", name: Name, space: "global" | "shared"): KernelCase => ({
  name: `atomic ${name} of ${type} in ${space === "global" ? "a buffer" : "shared memory"}`,
  prepare(target) {
    const threads = invocations(target, 64);
    const descriptor = (type === "i32" ? i32 : u32) as typeof i32;
    const wrap = (v: number): number => (type === "i32" ? v | 0 : v >>> 0);
    const x = array(descriptor, 2 * threads, (i) => wrap(noise(i)));
    const first = wrap(FIRST[name]);
    const combine = (a: number, b: number): number => wrap(bigOf[name](a, b));
    const groups = space === "global" ? 1 : 2;
    return launch({
      kernel: kernel(
        "combined",
        { params: { x: buffer(descriptor), cells: buffer(atomic(descriptor)) }, workgroup: [threads] },
        ({ x, cells }, gpu) => {
          const i = gpu.localIndex;
          const value = x.get(gpu.globalId.x);
          const cell = i.remTrunc(3);
          if (space === "global") {
            cells[name](cell, value);
            return;
          }
          const own = gpu.shared(atomic(descriptor), 3);
          gpu.if(i.lt(3), () => own.set(i, gpu.constant(descriptor, first)));
          gpu.barrier();
          own[name](cell, value);
          gpu.barrier();
          gpu.if(i.lt(3), () => cells.set(gpu.workgroupId.x.mul(3).add(i), own.get(i)));
        },
      ),
      workgroups: 2,
      args: { x, cells: array(descriptor, 3 * groups, () => first) },
      expected: {
        cells: array(descriptor, 3 * groups, (k) => {
          let result = first;
          for (let i = 0; i < 2 * threads; i++) {
            const here = space === "global" || Math.floor(i / threads) === Math.floor(k / 3);
            if (here && (i % threads) % 3 === k % 3) result = combine(result, x[i] as number);
          }
          return result;
        }),
      },
    });
  },
});

/** What each operation gives back is the value before: a permutation, whatever the order was. */
const oldValues = (space: "global" | "shared"): KernelCase => ({
  name: `atomic add gives each invocation another old value, in ${space === "global" ? "a buffer" : "shared memory"}`,
  prepare(target) {
    const threads = invocations(target, 64);
    const groups = space === "global" ? 3 : 1;
    const n = groups * threads;
    return launch({
      kernel: kernel(
        "tickets",
        { params: { counter: buffer(atomic(u32)), tickets: buffer(u32, "write") }, workgroup: [threads] },
        ({ counter, tickets }, gpu) => {
          const own = gpu.shared(atomic(u32), 1);
          gpu.if(gpu.localIndex.eq(0), () => own.set(0, 0));
          gpu.barrier();
          tickets.set(gpu.globalId.x, (space === "global" ? counter : own).add(0, 3));
          gpu.barrier();
          if (space === "shared") gpu.if(gpu.localIndex.eq(0), () => counter.set(0, own.get(0)));
        },
      ),
      workgroups: groups,
      args: { counter: array(u32, 1), tickets: array(u32, n) },
      expected: {
        counter: Uint32Array.of(3 * n),
        tickets: { values: array(u32, n, (i) => 3 * i), anyOrder: true },
      },
    });
  },
});

/** Each operation by one invocation after another on its own cell: old and new values in full. */
const ownCells = (type: "i32" | "u32"): KernelCase => ({
  name: `every atomic operation of ${type} on a cell of its own: old and new values`,
  prepare({ width }) {
    const descriptor = (type === "i32" ? i32 : u32) as typeof i32;
    const wrap = (v: number): number => (type === "i32" ? v | 0 : v >>> 0);
    const start = array(descriptor, width, (i) => wrap(noise(i)));
    const STEPS = 10;
    const steps = (cells: AtomicArray<"i32">, i: Gpu["lane"], put: (k: number, value: I32) => void): void => {
      put(0, cells.get(i));
      put(1, cells.add(i, 5));
      put(2, cells.min(i, 100));
      put(3, cells.max(i, 7));
      put(4, cells.or(i, 8));
      put(5, cells.and(i, 29));
      put(6, cells.xor(i, 3));
      put(7, cells.exchange(i, 1234));
      put(8, cells.compareExchange(i, 1234, 77));
      put(9, cells.compareExchange(i, 5, 6));
    };
    const simulate = (first: number): number[] => {
      const olds: number[] = [];
      let v = first;
      const step = (next: number): void => {
        olds.push(v);
        v = wrap(next);
      };
      step(v);
      step(v + 5);
      step(Math.min(v, 100));
      step(Math.max(v, 7));
      step(v | 8);
      step(v & 29);
      step(v ^ 3);
      step(1234);
      step(v === 1234 ? 77 : v);
      step(v === 5 ? 6 : v);
      return [...olds, v];
    };
    const olds = array(
      descriptor,
      width * STEPS,
      (i) => simulate(start[Math.floor(i / STEPS)] as number)[i % STEPS] as number,
    );
    return launch({
      kernel: kernel(
        "ownCells",
        {
          params: {
            start: buffer(descriptor),
            cells: buffer(atomic(descriptor)),
            olds: buffer(descriptor, "write"),
            sharedOlds: buffer(descriptor, "write"),
          },
          workgroup: [width],
        },
        ({ start, cells, olds, sharedOlds }, gpu) => {
          const i = gpu.localIndex;
          steps(cells, i, (k, value) => olds.set(i.mul(STEPS).add(k), value));
          const own = gpu.shared(atomic(descriptor), width);
          own.set(i, start.get(i));
          steps(own, i, (k, value) => sharedOlds.set(i.mul(STEPS).add(k), value));
        },
      ),
      workgroups: 1,
      args: {
        start,
        cells: start.slice(),
        olds: array(descriptor, width * STEPS),
        sharedOlds: array(descriptor, width * STEPS),
      },
      expected: {
        cells: array(descriptor, width, () => 77),
        olds,
        sharedOlds: olds,
      },
    });
  },
});

/** Sums of few bits are exact in any order. */
const floatAdd = (space: "global" | "shared"): KernelCase => ({
  name: `atomic add of f32 in ${space === "global" ? "a buffer" : "shared memory"}`,
  prepare(target) {
    const threads = invocations(target, 64);
    const n = 2 * threads;
    const x = array(f32, n, (i) => (noise(i) % 64) / 4 - 5);
    const total = x.reduce((sum, v) => sum + v, 0);
    return launch({
      kernel: kernel(
        "floatAdd",
        { params: { x: buffer(f32), sums: buffer(atomic(f32)) }, workgroup: [threads] },
        ({ x, sums }, gpu) => {
          const value = x.get(gpu.globalId.x);
          if (space === "global") {
            sums.add(0, value);
            return;
          }
          const own = gpu.shared(atomic(f32), 1);
          gpu.if(gpu.localIndex.eq(0), () => own.set(0, 0));
          gpu.barrier();
          own.add(0, value);
          gpu.barrier();
          gpu.if(gpu.localIndex.eq(0), () => sums.add(0, own.get(0)));
        },
      ),
      workgroups: 2,
      args: { x, sums: Float32Array.of(0.5) },
      expected: { sums: Float32Array.of(total + 0.5) },
    });
  },
});

const floatCells: KernelCase = {
  name: "atomic get, set, add and exchange of f32 on cells of their own",
  prepare({ width }) {
    return launch({
      kernel: kernel(
        "floatCells",
        { params: { cells: buffer(atomic(f32)), out: buffer(f32, "write") }, workgroup: [width] },
        ({ cells, out }, gpu) => {
          const i = gpu.localIndex;
          const at = i.mul(4);
          out.set(at, cells.add(i, 0.25));
          out.set(at.add(1), cells.exchange(i, -0.5));
          cells.set(i, cells.get(i).mul(4));
          out.set(at.add(2), cells.get(i));
          out.set(at.add(3), cells.add(i, i.toF32()));
        },
      ),
      workgroups: 1,
      args: { cells: array(f32, width, (i) => i), out: array(f32, 4 * width) },
      expected: {
        cells: array(f32, width, (i) => i - 2),
        out: array(f32, 4 * width, (k) => [k >> 2, (k >> 2) + 0.25, -2, -2][k & 3] as number),
      },
    });
  },
};

const exchangeLoop = (type: "i32" | "u32"): KernelCase => ({
  name: `a loop of compareExchange of ${type} between workgroups`,
  prepare(target) {
    const threads = invocations(target, 64);
    const descriptor = TYPES[type] as typeof i32;
    return launch({
      kernel: kernel(
        "exchangeLoop",
        { params: { cell: buffer(atomic(descriptor)) }, workgroup: [threads] },
        ({ cell }, gpu) => {
          // Adds 3 and takes the result modulo 1009: no atomic operation does that.
          const expected = gpu.var(descriptor, cell.get(0));
          const isDone = gpu.var(u32, 0);
          gpu.while(
            () => isDone.get().eq(0),
            () => {
              const before = expected.get();
              const seen = cell.compareExchange(0, before, before.add(3).remTrunc(1009));
              gpu.if(
                seen.eq(before),
                () => isDone.set(1),
                () => expected.set(seen),
              );
            },
          );
        },
      ),
      workgroups: 6,
      args: { cell: array(descriptor, 1) },
      expected: { cell: array(descriptor, 1, () => (3 * 6 * threads) % 1009) },
    });
  },
});

const histogram: KernelCase = {
  name: "a histogram: shared counters joined in a buffer, by 40 workgroups",
  prepare(target) {
    const threads = invocations(target, 64);
    const n = 40 * threads - 5;
    const x = array(u32, n, (i) => noise(i));
    const counts = array(u32, 16);
    for (const v of x) counts[v % 16] = (counts[v % 16] as number) + 1;
    return launch({
      kernel: kernel(
        "histogram",
        { params: { x: buffer(u32), n: u32, counts: buffer(atomic(u32)) }, workgroup: [threads] },
        ({ x, n, counts }, gpu) => {
          const own = gpu.shared(atomic(u32), 16);
          gpu.for({ from: gpu.localIndex, to: 16, step: threads }, (k) => own.set(k, 0));
          gpu.barrier();
          gpu.if(gpu.globalId.x.lt(n), () => {
            own.add(x.get(gpu.globalId.x).and(15), 1);
          });
          gpu.barrier();
          gpu.for({ from: gpu.localIndex, to: 16, step: threads }, (k) => {
            counts.add(k, own.get(k));
          });
        },
      ),
      workgroups: 40,
      args: { x, n, counts: array(u32, 16) },
      expected: { counts },
    });
  },
};

const NAMES: readonly Name[] = ["add", "min", "max", "and", "or", "xor"];

export const atomicCases: readonly Case[] = [
  ...NAMES.flatMap((name) => [
    combined("u32", name, "global"),
    combined("i32", name, "global"),
    combined("u32", name, "shared"),
    combined("i32", name, "shared"),
  ]),
  ownCells("u32"),
  ownCells("i32"),
  oldValues("global"),
  oldValues("shared"),
  floatAdd("global"),
  floatAdd("shared"),
  floatCells,
  exchangeLoop("u32"),
  exchangeLoop("i32"),
  histogram,
];
