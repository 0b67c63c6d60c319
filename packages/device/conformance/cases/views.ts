/** Views of buffers: strides known when built or when run, offsets, sub-views, and indices of i32. */

import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import { array, launch, noise, smallFloat, type Case, type KernelCase } from "../case.ts";

const stridedViews: KernelCase = {
  name: "views with run-time strides: transposed, every other row, with an offset",
  prepare({ width }) {
    const [rows, columns] = [7, 5];
    const source = array(f32, 4 + 2 * rows * columns, (i) => i);
    const n = rows * columns;
    return launch({
      kernel: kernel(
        "views",
        {
          params: {
            x: buffer(f32),
            y: buffer(f32, "write"),
            rows: u32,
            columns: u32,
            xRow: u32,
            xColumn: u32,
            offset: u32,
            yRow: u32,
            yColumn: u32,
          },
          workgroup: [width],
        },
        ({ x, y, rows, columns, xRow, xColumn, offset, yRow, yColumn }, gpu) => {
          const from = x.view({ strides: [xRow, xColumn], offset });
          const to = y.view({ strides: [yRow, yColumn] });
          const i = gpu.globalId.x;
          gpu.if(i.lt(rows.mul(columns)), () => {
            const [row, column] = [i.divTrunc(columns), i.remTrunc(columns)];
            to.set(row, column, from.get(row, column));
          });
        },
      ),
      workgroups: Math.ceil(n / width),
      args: {
        x: source,
        y: array(f32, n),
        rows,
        columns,
        xRow: 2 * columns,
        xColumn: 1,
        offset: 4,
        yRow: 1,
        yColumn: rows,
      },
      expected: {
        y: array(f32, n, (i) => 4 + 2 * columns * (i % rows) + Math.floor(i / rows)),
      },
    });
  },
};

const subViews: KernelCase = {
  name: "sub-views of four dimensions, with strides known when built and when run, and wide accesses",
  prepare({ width }) {
    // [2][3][2][8], its second dimension running fastest over blocks in memory.
    const strides = [48, 8, 24, 1] as const;
    const x = array(u32, 96, (i) => noise(i));
    const outLength = 12 * 4;
    return launch({
      kernel: kernel(
        "subViews",
        { params: { x: buffer(u32), y: buffer(u32, "write"), plane: u32, n: u32 }, workgroup: [width] },
        ({ x, y, plane, n }, gpu) => {
          const all = x.view({ strides: [plane, 8, 24, 1] });
          const out = y.view({ strides: [24, 8, 4, 1] });
          const i = gpu.globalId.x;
          gpu.if(i.lt(n), () => {
            const a = i.divTrunc(6);
            const b = i.divTrunc(2).remTrunc(3);
            const c = i.and(1);
            const row = all.at(a).at(b, c);
            const target = out.at(a, b).at(c);
            const v = row.getVec(4, 4);
            target.setVec(
              0,
              v.map((component, k) => component.add(row.get(k))),
            );
          });
        },
      ),
      workgroups: Math.ceil(12 / width),
      args: { x, y: array(u32, outLength), plane: strides[0], n: 12 },
      expected: {
        y: array(u32, outLength, (i) => {
          const k = i % 4;
          const [a, b, c] = [Math.floor(i / 24), Math.floor(i / 8) % 3, Math.floor(i / 4) % 2];
          const base = a * strides[0] + b * strides[1] + c * strides[2];
          return ((x[base + 4 + k] as number) + (x[base + k] as number)) >>> 0;
        }),
      },
    });
  },
};

const signedIndices: KernelCase = {
  name: "indices of i32, and arithmetic on them that passes below zero",
  prepare({ width }) {
    const x = array(f32, width, (i) => smallFloat(i));
    return launch({
      kernel: kernel(
        "signed",
        { params: { x: buffer(f32), y: buffer(f32, "write") }, workgroup: [width] },
        ({ x, y }, gpu) => {
          const i = gpu.localIndex.toI32();
          const view = y.view({ strides: [1], offset: width - 1 });
          const mirrored = i.neg().add(width - 1);
          y.set(mirrored, x.get(i));
          gpu.if(i.eq(0), () => view.set(0, x.get(0)));
        },
      ),
      workgroups: 1,
      args: { x, y: array(f32, width) },
      expected: { y: array(f32, width, (i) => x[width - 1 - i] as number) },
    });
  },
};

export const viewCases: readonly Case[] = [stridedViews, subViews, signedIndices];
