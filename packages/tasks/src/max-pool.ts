/**
 * The largest of each square of 2×2, side by side, in each plane.
 *
 * An invocation computes `pieces` vectors of `vector` neighbours. It reads all that they need before it compares. Heights are even,
 * so the rows of all planes follow each other as the rows of one.
 */

import { buffer, f32, kernel, max, u32, type F32 } from "@evolver/kernel";
import { spread } from "./support/sweep.ts";
import { fittingWidth } from "./support/zeros.ts";
import { byWidth, readVector, writeVector } from "./support/vectors.ts";

export const maxPool = kernel(
  "maxPool",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), rows: u32, columns: u32 },
    tune: { threads: [128, 256, 512, 1024], vector: [1, 2, 4], pieces: [1, 2, 4, 8] },
    variants: {
      fast: { threads: 256, vector: 4, pieces: 2 },
      narrow: { threads: 256, vector: 2, pieces: 4 },
    },
    sizes: { planes: 4096, height: { value: 112, multipleOf: 2 }, width: { value: 112, multipleOf: 2 } },
    workgroup: ({ tune }) => [tune.threads],
    example({ planes, height, width }, { threads, vector, pieces }) {
      const [rows, columns] = [(planes * height) / 2, width / 2];
      const all = (rows * columns) / fittingWidth(vector, columns);
      return {
        workgroups: spread(Math.ceil(all / (threads * pieces))),
        args: { x: 4 * rows * columns, y: rows * columns, rows, columns },
      };
    },
    reference({ x, rows, columns }) {
      const y = Float64Array.from({ length: rows * columns }, (_, i) => {
        const corner = Math.floor(i / columns) * 4 * columns + (i % columns) * 2;
        return Math.max(...[0, 1, 2 * columns, 2 * columns + 1].map((k) => x[corner + k] as number));
      });
      return { y };
    },
    work: ({ planes, height, width }) => ({ flops: (3 * planes * height * width) / 4 }),
  },
  ({ x, y, rows, columns }, gpu, { threads, vector, pieces }) =>
    byWidth(gpu, columns, { width: vector, loads: 1 }, ({ width: count }) => {
      const perRow = columns.divTrunc(count);
      const first = gpu.workgroupIndex.mul(threads * pieces).add(gpu.localIndex);
      const last = rows.mul(perRow).sub(1);
      const width = columns.mul(2);
      const read = Array.from({ length: pieces }, (_, k) => {
        const piece = first.add(k * threads);
        // Reads of pieces beyond the last one are of the last one.
        const near = piece.min(last);
        const row = near.divTrunc(perRow);
        const corner = row
          .mul(2)
          .mul(width)
          .add(near.sub(row.mul(perRow)).mul(2 * count));
        const line = (start: typeof corner): F32[] =>
          count === 4
            ? [0, 4].flatMap((half) => readVector(x, start.add(half), 4))
            : [...readVector(x, start, count === 2 ? 4 : 2)];
        return { piece, lines: [line(corner), line(corner.add(width))] };
      });
      for (const { piece, lines } of read)
        gpu.if(piece.le(last), () => {
          const tall = (lines[0] as F32[]).map((value, k) => max(value, lines[1]?.[k] as F32));
          const result = Array.from({ length: count }, (_, k) =>
            max(tall[2 * k] as F32, tall[2 * k + 1] as F32),
          );
          writeVector(y, piece.mul(count), result);
        });
    }),
);
