/**
 * A step of the heat equation on a box with zeros around it: v = u + α·(the sum of the 6 neighbours − 6·u).
 *
 * An invocation has `vector` neighbours along z in `planes` planes along x. It reads them once, and one more at each end. What is
 * beside it along y and z comes from the cache: its workgroup is a tile of `rows` rows along y.
 */

import { buffer, f32, fma, kernel, u32, type F32 } from "@evolver/kernel";
import { fittingWidth, readRow, readSides, type Grid } from "./support/zeros.ts";
import { byWidth, writeVector } from "./support/vectors.ts";

export const heat3d = kernel(
  "heat3d",
  {
    params: { u: buffer(f32), v: buffer(f32, "write"), alpha: f32, x: u32, y: u32, z: u32 },
    tune: { across: [32, 64, 96, 128], rows: [2, 4, 8], vector: [1, 2, 4], planes: [1, 2, 4, 8, 16] },
    variants: {
      fast: { across: 32, rows: 8, vector: 4, planes: 8 },
      low: { across: 96, rows: 4, vector: 4, planes: 4 },
    },
    sizes: { x: 320, y: 320, z: 320 },
    workgroup: ({ tune }) => [tune.across, tune.rows],
    example({ x, y, z }, { across, rows, vector, planes }) {
      const count = fittingWidth(vector, z);
      return {
        workgroups: [Math.ceil(z / (across * count)), Math.ceil(y / rows), Math.ceil(x / planes)],
        args: { u: x * y * z, v: x * y * z, alpha: 0.1, x, y, z },
      };
    },
    reference({ u, alpha, x, y, z }, round) {
      const at = (i: number, j: number, k: number): number =>
        i < 0 || i >= x || j < 0 || j >= y || k < 0 || k >= z ? 0 : (u[(i * y + j) * z + k] as number);
      const v = u.map((value, place) => {
        const [i, j, k] = [Math.floor(place / (y * z)), Math.floor(place / z) % y, place % z];
        let around = round(at(i - 1, j, k) + at(i + 1, j, k));
        for (const next of [at(i, j - 1, k), at(i, j + 1, k), at(i, j, k - 1), at(i, j, k + 1)])
          around = round(around + next);
        return round(value + round(alpha * round(around - round(6 * value))));
      });
      return { v };
    },
    work: ({ x, y, z }) => ({ flops: 9 * x * y * z }),
  },
  ({ u, v, alpha, x, y, z }, gpu, { vector, planes }) =>
    byWidth(gpu, z, { width: vector, loads: 1 }, ({ width: count }) => {
      const column = gpu.globalId.x.mul(count);
      const row = gpu.globalId.y;
      const first = gpu.workgroupId.z.mul(planes);
      const size = y.mul(z);
      // Along x: the same row and column of each plane, as the rows of a grid whose rows are planes.
      const along: Grid = { from: u, base: row.mul(z), height: x, width: size };
      gpu.if(column.lt(z).and(row.lt(y)), () => {
        const own = Array.from({ length: planes + 2 }, (_, k) =>
          readRow(along, first.add(k).sub(1), column, count),
        );
        for (let k = 0; k < planes; k++) {
          const plane = first.add(k);
          gpu.if(plane.lt(x), () => {
            const grid: Grid = { from: u, base: plane.mul(size), height: y, width: z };
            const [above, below] = [row.sub(1), row.add(1)].map((next) => readRow(grid, next, column, count));
            const [before, after] = readSides(grid, row, column, count);
            const line = [before, ...(own[k + 1] as F32[]), after];
            const result = Array.from({ length: count }, (_, i) => {
              const centre = own[k + 1]?.[i] as F32;
              const around = [own[k]?.[i], own[k + 2]?.[i], above?.[i], below?.[i], line[i], line[i + 2]];
              const sum = (around as F32[]).reduce((all, value) => all.add(value));
              return fma(alpha, fma(centre, -6, sum), centre);
            });
            writeVector(v, plane.mul(size).add(row.mul(z)).add(column), result);
          });
        }
      });
    }),
);
