/**
 * The 5-point Laplacian of a square grid with zeros around it: y = left + right + above + below − 4·x.
 *
 * An invocation has `width` neighbouring columns of `height` rows. It reads each of its rows once, and one more at each end; the
 * columns beside it come from the cache, since its neighbours read them too.
 */

import { buffer, f32, fma, kernel, u32, type F32 } from "@evolver/kernel";
import { fittingWidth, readRow, readWithSides } from "./support/zeros.ts";
import { byWidth, writeVector } from "./support/vectors.ts";

export const laplace2d = kernel(
  "laplace2d",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), height: u32, width: u32 },
    tune: { threads: [64, 128, 256, 512], vector: [1, 2, 4], rows: [1, 2, 4, 8, 16] },
    variants: { fast: { threads: 128, vector: 4, rows: 8 } },
    sizes: { height: 4096, width: 8192 },
    workgroup: ({ tune }) => [tune.threads],
    example({ height, width }, { threads, vector, rows }) {
      const across = threads * fittingWidth(vector, width);
      return {
        workgroups: [Math.ceil(width / across), Math.ceil(height / rows)],
        args: { x: height * width, y: height * width, height, width },
      };
    },
    reference({ x, height, width }, round) {
      const at = (row: number, column: number): number =>
        row < 0 || row >= height || column < 0 || column >= width ? 0 : (x[row * width + column] as number);
      const y = x.map((value, i) => {
        const [row, column] = [Math.floor(i / width), i % width];
        const beside = round(at(row, column - 1) + at(row, column + 1));
        const around = round(round(beside + at(row - 1, column)) + at(row + 1, column));
        return round(around - 4 * value);
      });
      return { y };
    },
    work: ({ height, width }) => ({ flops: 5 * height * width }),
  },
  ({ x, y, height, width }, gpu, { vector, rows }) =>
    byWidth(gpu, width, { width: vector, loads: 1 }, ({ width: count }) => {
      const column = gpu.globalId.x.mul(count);
      const top = gpu.workgroupId.y.mul(rows);
      const grid = { from: x, base: gpu.constant(u32, 0), height, width };
      gpu.if(column.lt(width), () => {
        // Row k of the list is row top + k − 1 of the grid. The outermost two need no sides.
        const first = [0, ...readRow(grid, top.sub(1), column, count)] as F32[];
        const inner = Array.from({ length: rows }, (_, k) => readWithSides(grid, top.add(k), column, count));
        const last = [0, ...readRow(grid, top.add(rows), column, count)] as F32[];
        const read = [first, ...inner, last];
        const value = (row: number, k: number): F32 => (read[row] as F32[])[k] as F32;
        for (let row = 1; row <= rows; row++) {
          const result = Array.from({ length: count }, (_, i) => {
            const k = i + 1;
            const beside = value(row, k - 1).add(value(row, k + 1));
            return fma(value(row, k), -4, beside.add(value(row - 1, k)).add(value(row + 1, k)));
          });
          const place = top.add(row - 1);
          gpu.if(place.lt(height), () => writeVector(y, place.mul(width).add(column), result));
        }
      });
    }),
);
