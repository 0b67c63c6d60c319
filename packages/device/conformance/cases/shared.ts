/** Shared memory: layouts, wide accesses, barriers in loops, uniformLoad. */

import { buffer, f32, i32, kernel, padded, rowMajor, swizzled, u32, vec } from "@evolver/kernel";
import type { Layout } from "@evolver/kernel";
import { array, invocations, launch, noise, smallFloat, type Case, type KernelCase } from "../case.ts";

/** Writes a tile by rows and reads it by columns. */
const transposed = (what: string, rows: number, columns: number, layout: () => Layout): KernelCase => ({
  name: `shared memory, ${what}: by rows in, by columns out`,
  prepare(target) {
    const size = rows * columns;
    const threads = invocations(target, 64);
    const x = array(f32, size, (i) => smallFloat(i));
    return launch({
      kernel: kernel(
        "transposed",
        { params: { x: buffer(f32), y: buffer(f32, "write") }, workgroup: [threads] },
        ({ x, y }, gpu) => {
          const tile = gpu.shared(f32, layout());
          const i = gpu.localIndex;
          gpu.for({ from: i, to: size, step: threads }, (k) =>
            tile.set(k.divTrunc(columns), k.remTrunc(columns), x.get(k)),
          );
          gpu.barrier();
          gpu.for({ from: i, to: size, step: threads }, (k) =>
            y.set(k, tile.get(k.remTrunc(rows), k.divTrunc(rows))),
          );
        },
      ),
      workgroups: 1,
      args: { x, y: array(f32, size) },
      expected: {
        y: array(f32, size, (k) => x[(k % rows) * columns + Math.floor(k / rows)] as number),
      },
    });
  },
});

const wideTiles = (what: string, n: 2 | 4, layout: () => Layout): KernelCase => ({
  name: `shared memory, ${what}: ${n} elements at once, and one by one`,
  prepare(target) {
    const [rows, columns] = [8, 32];
    const threads = invocations(target, 64);
    const size = rows * columns;
    const x = array(f32, size, (i) => smallFloat(i));
    return launch({
      kernel: kernel(
        "wideTiles",
        {
          params: { x: buffer(f32), y: buffer(f32, "write"), z: buffer(f32, "write") },
          workgroup: [threads],
        },
        ({ x, y, z }, gpu) => {
          const tile = gpu.shared(f32, layout());
          const i = gpu.localIndex;
          gpu.for({ from: i.mul(n), to: size, step: threads * n }, (k) =>
            tile.setVec(k.divTrunc(columns), k.remTrunc(columns), x.getVec(n, k)),
          );
          gpu.barrier();
          gpu.for({ from: i.mul(n), to: size, step: threads * n }, (k) => {
            const row = k.divTrunc(columns).xor(1);
            y.setVec(k, tile.getVec(n, row, k.remTrunc(columns)));
          });
          gpu.for({ from: i, to: size, step: threads }, (k) =>
            z.set(k, tile.get(k.divTrunc(columns), k.remTrunc(columns).xor(5))),
          );
        },
      ),
      workgroups: 1,
      args: { x, y: array(f32, size), z: array(f32, size) },
      expected: {
        y: array(f32, size, (k) => x[k ^ columns] as number),
        z: array(f32, size, (k) => x[k ^ 5] as number),
      },
    });
  },
});

const onlyWide: KernelCase = {
  name: "shared memory that is only touched 4 elements at once",
  prepare(target) {
    const threads = invocations(target, 64);
    const x = array(u32, 4 * threads, (i) => noise(i));
    return launch({
      kernel: kernel(
        "onlyWide",
        { params: { x: buffer(u32), y: buffer(u32, "write") }, workgroup: [threads] },
        ({ x, y }, gpu) => {
          const tile = gpu.shared(u32, 4 * threads);
          const at = gpu.localIndex.mul(4);
          tile.setVec(at, x.getVec(4, at));
          gpu.barrier();
          const v = tile.getVec(4, gpu.localIndex.xor(1).mul(4));
          y.setVec(at, vec(v.w, v.z, v.y, v.x));
        },
      ),
      workgroups: 1,
      args: { x, y: array(u32, 4 * threads) },
      expected: {
        y: array(u32, 4 * threads, (i) => x[((i >> 2) ^ 1) * 4 + 3 - (i & 3)] as number),
      },
    });
  },
};

const severalArrays: KernelCase = {
  name: "several shared arrays of different types, and one of three dimensions",
  prepare(target) {
    const threads = invocations(target, 64);
    return launch({
      kernel: kernel(
        "several",
        { params: { y: buffer(i32, "write") }, workgroup: [threads] },
        ({ y }, gpu) => {
          const floats = gpu.shared(f32, threads);
          const ints = gpu.shared(i32, rowMajor([2, threads / 4, 2]), "ints");
          const words = gpu.shared(u32, 1);
          const i = gpu.localIndex;
          floats.set(i, i.toF32().mul(0.5));
          ints.set(i.and(1), i.shr(2), i.shr(1).and(1), i.toI32().neg());
          gpu.if(i.eq(threads - 1), () => words.set(0, 1000000));
          gpu.barrier();
          const other = gpu.constant(u32, threads - 1).sub(i);
          const sum = floats.get(other).mul(2).toI32().add(words.get(0).toI32());
          y.set(i, sum.add(ints.get(other.and(1), other.shr(2), other.shr(1).and(1))));
        },
      ),
      workgroups: 1,
      args: { y: array(i32, threads) },
      expected: { y: array(i32, threads, () => 1000000) },
    });
  },
};

/** Of what every WebGPU device has. Browsers clear shared memory, and SwiftShader takes long to compile that. */
const largest: KernelCase = {
  name: "16 KiB of shared memory",
  prepare(target) {
    const threads = invocations(target, 64);
    const length = Math.min(target.limits.maxSharedBytes, 16384) / 4;
    return launch({
      kernel: kernel(
        "largest",
        { params: { y: buffer(u32, "write") }, workgroup: [threads] },
        ({ y }, gpu) => {
          const all = gpu.shared(u32, length);
          const from = gpu.localIndex.mul(4);
          gpu.for({ from, to: length, step: 4 * threads }, (k) =>
            all.setVec(k, vec(k.mul(k), k.add(1), k.add(2), k.mul(3))),
          );
          gpu.barrier();
          gpu.for({ from, to: length, step: 4 * threads }, (k) =>
            y.setVec(k, all.getVec(4, gpu.constant(u32, length - 4).sub(k))),
          );
        },
      ),
      workgroups: 1,
      args: { y: array(u32, length) },
      expected: {
        y: array(u32, length, (i) => {
          const k = length - 4 - (i - (i % 4));
          return [Math.imul(k, k) >>> 0, k + 1, k + 2, 3 * k][i % 4] as number;
        }),
      },
    });
  },
};

const tree: KernelCase = {
  name: "a sum as a tree: barriers in a uniform loop",
  prepare(target) {
    const threads = 2 ** Math.floor(Math.log2(invocations(target, 128)));
    const x = array(f32, 3 * threads, (i) => smallFloat(i));
    return launch({
      kernel: kernel(
        "tree",
        { params: { x: buffer(f32), y: buffer(f32, "write") }, workgroup: [threads] },
        ({ x, y }, gpu) => {
          const sums = gpu.shared(f32, threads);
          const i = gpu.localIndex;
          sums.set(i, x.get(gpu.globalId.x));
          gpu.barrier();
          const offset = gpu.var(u32, threads / 2);
          gpu.while(
            () => offset.get().gt(0),
            () => {
              const by = offset.get();
              gpu.if(i.lt(by), () => sums.set(i, sums.get(i).add(sums.get(i.add(by)))));
              gpu.barrier();
              offset.set(by.shr(1));
            },
          );
          gpu.if(i.eq(0), () => y.set(gpu.workgroupId.x, sums.get(0)));
        },
      ),
      workgroups: 3,
      args: { x, y: array(f32, 3) },
      expected: {
        // Exact: the elements have few bits.
        y: array(f32, 3, (w) => x.subarray(w * threads, (w + 1) * threads).reduce((sum, v) => sum + v, 0)),
      },
    });
  },
};

const rotating: KernelCase = {
  name: "tiles that rotate between invocations: barriers in a counted loop and in a branch on a parameter",
  prepare(target) {
    const threads = invocations(target, 64);
    const rounds = 5;
    return launch({
      kernel: kernel(
        "rotating",
        { params: { y: buffer(u32, "write"), rounds: u32, mode: u32 }, workgroup: [threads] },
        ({ y, rounds, mode }, gpu) => {
          const ring = gpu.shared(u32, threads);
          const i = gpu.localIndex;
          const mine = gpu.var(u32, i);
          gpu.for({ from: 0, to: rounds }, (round) => {
            ring.set(i, mine.get().add(round));
            gpu.barrier();
            mine.set(ring.get(i.add(1).remTrunc(threads)));
            gpu.barrier();
          });
          gpu.if(
            mode.eq(1),
            () => {
              ring.set(i, mine.get().mul(3));
              gpu.barrier();
              y.set(i, ring.get(i.xor(1)));
            },
            () => y.set(i, 0),
          );
        },
      ),
      workgroups: 1,
      args: { y: array(u32, threads), rounds, mode: 1 },
      expected: {
        y: array(u32, threads, (i) => 3 * ((((i ^ 1) + rounds) % threads) + (rounds * (rounds - 1)) / 2)),
      },
    });
  },
};

const uniformLoads: KernelCase = {
  name: "uniformLoad decides loops and branches around barriers",
  prepare(target) {
    const threads = invocations(target, 64);
    return launch({
      kernel: kernel(
        "uniform",
        { params: { x: buffer(u32), y: buffer(u32, "write") }, workgroup: [threads] },
        ({ x, y }, gpu) => {
          const count = gpu.shared(u32, 2);
          const cells = gpu.shared(u32, threads);
          const i = gpu.localIndex;
          gpu.if(i.lt(2), () => count.set(i, x.get(gpu.workgroupId.x.mul(2).add(i))));
          const rounds = gpu.uniformLoad(count, 0);
          const flag = gpu.uniformLoad(count, 1);
          const total = gpu.var(u32, 0);
          gpu.for({ from: 0, to: rounds }, (round) => {
            cells.set(i, round.add(i));
            gpu.barrier();
            total.add(cells.get(i.xor(3)));
            gpu.barrier();
          });
          gpu.if(flag.eq(1), () => {
            cells.set(i, total.get());
            gpu.barrier();
            total.set(cells.get(i.xor(1)).add(1000));
          });
          y.set(gpu.globalId.x, total.get());
        },
      ),
      workgroups: 4,
      args: { x: Uint32Array.of(3, 0, 0, 1, 1, 1, 5, 0), y: array(u32, 4 * threads) },
      expected: {
        y: array(u32, 4 * threads, (k) => {
          const [w, i] = [Math.floor(k / threads), k % threads];
          const sum = (n: number, lane: number): number => n * (lane ^ 3) + (n * (n - 1)) / 2;
          return w === 0 ? sum(3, i) : w === 1 ? 1000 : w === 2 ? sum(1, i ^ 1) + 1000 : sum(5, i);
        }),
      },
    });
  },
};

const uniformLoop: KernelCase = {
  name: "a loop that ends when shared memory says so, by uniformLoad in its condition",
  prepare(target) {
    const threads = invocations(target, 64);
    const collatz = (start: number): number => {
      let steps = 0;
      for (let n = start; n !== 1; n = n % 2 === 0 ? n / 2 : 3 * n + 1) steps++;
      return steps;
    };
    return launch({
      kernel: kernel(
        "uniformLoop",
        { params: { y: buffer(u32, "write") }, workgroup: [threads] },
        ({ y }, gpu) => {
          const value = gpu.shared(u32, 1);
          const i = gpu.localIndex;
          gpu.if(i.eq(0), () => value.set(0, gpu.workgroupId.x.add(6)));
          const steps = gpu.var(u32, 0);
          gpu.while(
            () => gpu.uniformLoad(value, 0).ne(1),
            () => {
              steps.add(1);
              gpu.if(i.eq(0), () => {
                const n = value.get(0);
                const next = gpu.if(
                  n.and(1).eq(0),
                  () => n.shr(1),
                  () => n.mul(3).add(1),
                );
                value.set(0, next);
              });
            },
          );
          y.set(gpu.globalId.x, steps.get());
        },
      ),
      workgroups: 5,
      args: { y: array(u32, 5 * threads) },
      expected: { y: array(u32, 5 * threads, (k) => collatz(6 + Math.floor(k / threads))) },
    });
  },
};

const globalAcrossBarrier: KernelCase = {
  name: "a barrier makes global memory visible within the workgroup",
  prepare(target) {
    const threads = invocations(target, 64);
    return launch({
      kernel: kernel(
        "through",
        { params: { x: buffer(u32, "read_write"), y: buffer(u32, "write") }, workgroup: [threads] },
        ({ x, y }, gpu) => {
          const i = gpu.localIndex;
          const base = gpu.workgroupId.x.mul(threads);
          x.set(base.add(i), gpu.globalId.x.mul(7));
          gpu.barrier();
          const other = base.add(gpu.constant(u32, threads - 1).sub(i));
          y.set(gpu.globalId.x, x.get(other));
          gpu.barrier();
          x.set(other, gpu.globalId.x);
        },
      ),
      workgroups: 2,
      args: { x: array(u32, 2 * threads), y: array(u32, 2 * threads) },
      expected: {
        x: array(u32, 2 * threads, (k) => k - (k % threads) + threads - 1 - (k % threads)),
        y: array(u32, 2 * threads, (k) => 7 * (k - (k % threads) + threads - 1 - (k % threads))),
      },
    });
  },
};

export const sharedCases: readonly Case[] = [
  transposed("row-major", 16, 32, () => rowMajor([16, 32])),
  transposed("padded by 1", 16, 32, () => padded([16, 32], 1)),
  transposed("swizzled", 32, 32, () => swizzled([32, 32])),
  transposed("swizzled by 4, rows of 16", 24, 16, () => swizzled([24, 16], { vector: 4 })),
  transposed("swizzled, rows of 40", 8, 40, () => swizzled([8, 40], { vector: 2 })),
  wideTiles("row-major", 4, () => rowMajor([8, 32])),
  wideTiles("padded by 4", 4, () => padded([8, 32], 4)),
  wideTiles("padded by 2", 2, () => padded([8, 32], 2)),
  wideTiles("swizzled by 2", 2, () => swizzled([8, 32], { vector: 2 })),
  wideTiles("swizzled by 4", 4, () => swizzled([8, 32], { vector: 4 })),
  onlyWide,
  severalArrays,
  largest,
  tree,
  rotating,
  uniformLoads,
  uniformLoop,
  globalAcrossBarrier,
];
