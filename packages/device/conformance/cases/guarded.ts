/** Reads that happen only inside: `getOr` and `getVecOr` of buffers, views and shared memory, and the lengths of buffers. */

import { buffer, descriptors, f32, i32, kernel, padded, u32, vec, type ElementType } from "@evolver/kernel";
import { array, launch, noise, type Case, type KernelCase } from "../case.ts";

/** Each type, with a length that no vector of 4 divides. */
const ofBuffers = (["f32", "i32", "u32", "f16", "bf16"] as const satisfies readonly ElementType[]).map(
  (type): KernelCase => ({
    name: `${type}: getOr before, inside and behind a buffer`,
    prepare({ width }) {
      const element = descriptors[type];
      const length = 2 * width + 3;
      const n = 4 * width;
      const x = array(element, length, (i) => noise(i) % 64);
      const at = (i: number): number => i - width / 2;
      return launch({
        kernel: kernel(
          "guardedReads",
          { params: { x: buffer(element), y: buffer(element, "write") }, workgroup: [width] },
          ({ x, y }, gpu) => {
            const i = gpu.globalId.x;
            y.set(i, x.getOr(i.toI32().sub(width / 2), 7));
          },
        ),
        workgroups: n / width,
        args: { x, y: array(element, n) },
        expected: {
          y: array(element, n, (i) => (at(i) >= 0 && at(i) < length ? noise(at(i)) % 64 : 7)),
        },
      });
    },
  }),
);

const lengths: KernelCase = {
  name: "the lengths of buffers, beside a scalar parameter",
  prepare({ width }) {
    return launch({
      kernel: kernel(
        "lengths",
        {
          params: { x: buffer(f32), a: u32, h: buffer(descriptors.f16), y: buffer(u32, "write") },
          workgroup: [width],
        },
        ({ x, a, h, y }, gpu) => {
          const i = gpu.globalId.x;
          gpu.if(i.lt(y.length), () => y.set(i, x.length.mul(1000).add(h.length.mul(10)).add(a)));
        },
      ),
      workgroups: 1,
      args: { x: array(f32, 5), a: 3, h: array(descriptors.f16, 7), y: array(u32, 2) },
      expected: { y: array(u32, 2, () => 5073) },
    });
  },
};

const vectors: KernelCase = {
  name: "getVecOr: whole vectors, those that the end cuts, and those behind it",
  prepare({ width }) {
    const n = 4 * width;
    const length = n - 4 - 2;
    const inside = (i: number, otherwise: number): number => (i < length ? noise(i) % 512 : otherwise);
    return launch({
      kernel: kernel(
        "guardedVectors",
        {
          params: {
            x: buffer(f32),
            h: buffer(descriptors.f16),
            y: buffer(f32, "write"),
            z: buffer(f32, "write"),
          },
          workgroup: [width],
        },
        ({ x, h, y, z }, gpu) => {
          const at = gpu.globalId.x.mul(4);
          const [a, b] = [gpu.constant(f32, 0.5), gpu.constant(f32, 1.5)];
          y.setVec(at, x.getVecOr(4, at, vec(a, b, a, b)));
          const halves = h.getVecOr(4, at, 9);
          for (let k = 0; k < 4; k++) z.set(at.add(k), halves.at(k).toF32());
        },
      ),
      workgroups: 1,
      args: {
        x: array(f32, length, (i) => noise(i) % 512),
        h: array(descriptors.f16, length, (i) => noise(i) % 512),
        y: array(f32, n),
        z: array(f32, n),
      },
      expected: {
        y: array(f32, n, (i) => inside(i, i % 2 === 0 ? 0.5 : 1.5)),
        z: array(f32, n, (i) => inside(i, 9)),
      },
    });
  },
};

const views: KernelCase = {
  name: "getOr of views with extents known when built and when run, and of their rows",
  prepare({ width }) {
    const [rows, columns] = [3, width - 1];
    const cell = (row: number, column: number): number =>
      row >= 0 && row < rows && column >= 0 && column < columns ? row * columns + column + 1 : -1;
    return launch({
      kernel: kernel(
        "guardedViews",
        { params: { x: buffer(i32), y: buffer(i32, "write"), rows: u32, columns: i32 }, workgroup: [width] },
        ({ x, y, rows, columns }, gpu) => {
          const atRun = x.view({ strides: [columns, 1], extents: [rows, columns] });
          const atBuild = x.view({ strides: [width - 1, 1], extents: [3, width - 1] });
          const column = gpu.localId.x.toI32().sub(1);
          for (let row = -1; row <= 3; row++) {
            const around = gpu.workgroupId.x.toI32().add(row);
            y.set(gpu.localId.x.add(width * (row + 1)), atRun.getOr(around, column.add(1), -1));
            y.set(gpu.localId.x.add(width * (row + 6)), atRun.at(around).getOr(column, -1));
            y.set(gpu.localId.x.add(width * (row + 11)), atBuild.getOr(row, column, -1));
          }
        },
      ),
      workgroups: 1,
      args: {
        x: array(i32, rows * columns, (i) => i + 1),
        y: array(i32, 15 * width),
        rows,
        columns,
      },
      expected: {
        y: array(i32, 15 * width, (i) => {
          const [block, column] = [Math.floor(i / width), i % width];
          const row = (block % 5) - 1;
          return cell(row, block < 5 ? column : column - 1);
        }),
      },
    });
  },
};

const sharedTile: KernelCase = {
  name: "getOr and getVecOr of shared memory with a layout: rows end where they end",
  prepare({ width }) {
    return launch({
      kernel: kernel(
        "guardedTile",
        { params: { y: buffer(f32, "write"), v: buffer(f32, "write") }, workgroup: [width] },
        ({ y, v }, gpu) => {
          const tile = gpu.shared(f32, padded([2, width], 4));
          const lane = gpu.localId.x;
          for (let row = 0; row < 2; row++) tile.set(row, lane, lane.add(100 * row).toF32());
          gpu.barrier();
          y.set(lane, tile.getOr(0, lane.add(1), -1));
          y.set(lane.add(width), tile.getOr(lane.toI32().sub(1), 0, -2));
          v.setVec(lane.mul(2), tile.getVecOr(2, 1, lane.mul(2), -3));
        },
      ),
      workgroups: 1,
      args: { y: array(f32, 2 * width), v: array(f32, 2 * width) },
      expected: {
        y: array(f32, 2 * width, (i) => {
          if (i < width) return i + 1 < width ? i + 1 : -1;
          return i === width + 1 ? 0 : i === width + 2 ? 100 : -2;
        }),
        v: array(f32, 2 * width, (i) => (i < width ? 100 + i : -3)),
      },
    });
  },
};

const traced: KernelCase = {
  name: "traces change nothing",
  prepare({ width }) {
    return launch({
      kernel: kernel(
        "traced",
        { params: { x: buffer(f32), y: buffer(f32, "write") }, workgroup: [width] },
        ({ x, y }, gpu) => {
          const i = gpu.globalId.x;
          const total = gpu.var(f32, 0);
          // Nothing is shown here: what is shown on the simulator has tests of its own.
          gpu.if(i.gt(1_000_000), () => gpu.trace("far", i, total, x.get(i).mul(3), true));
          gpu.for({ from: 0, to: 4 }, (k) => {
            total.add(x.get(i).mul(k.toF32()));
            gpu.if(i.gt(1_000_000), () => gpu.trace("turn", k, vec(total.get(), total.get())));
          });
          y.set(i, total.get());
        },
      ),
      workgroups: 1,
      args: { x: array(f32, width, (i) => i), y: array(f32, width) },
      expected: { y: array(f32, width, (i) => 6 * i) },
    });
  },
};

export const guardedCases: readonly Case[] = [...ofBuffers, lengths, vectors, views, sharedTile, traced];
