/**
 * RMS norm over the columns, with weight.
 *
 * A team (a workgroup or a subgroup) has a row. Where it is `held`, the row is read once and stays in registers; else it is read
 * twice, once for the sum of squares and once for the result.
 */

import { buffer, f32, kernel, rsqrt, u32, type F32 } from "@evolver/kernel";
import { eachRow, rowLaunch, rowTune } from "./support/row.ts";

const EPSILON = 1e-5;

export const rmsNorm = kernel(
  "rmsNorm",
  {
    params: { x: buffer(f32), w: buffer(f32), y: buffer(f32, "write"), rows: u32, columns: u32 },
    tune: rowTune,
    variants: {
      fast: { threads: 256, width: 4, loads: 4, held: "yes" },
      larger: { threads: 512, width: 4, loads: 2, held: "yes" },
      smaller: { threads: 128, width: 4, loads: 8, held: "yes" },
    },
    sizes: { rows: 8192, columns: 4096 },
    workgroup: ({ tune }) => [tune.threads],
    example({ rows, columns }, choices, build) {
      return {
        workgroups: rowLaunch({ rows, columns }, choices, build),
        args: { x: rows * columns, w: columns, y: rows * columns, rows, columns },
      };
    },
    reference({ x, w, rows, columns }, round) {
      const y = new Float64Array(rows * columns);
      for (let row = 0; row < rows; row++) {
        const values = x.subarray(row * columns, (row + 1) * columns);
        const squares = values.reduce((sum, value) => round(sum + round(value * value)), 0);
        const scale = round(1 / Math.sqrt(round(round(squares / columns) + EPSILON)));
        for (const [i, value] of values.entries())
          y[row * columns + i] = round(round(value * scale) * (w[i] as number));
      }
      return { y };
    },
    work: ({ rows, columns }) => ({ flops: 4 * rows * columns }),
  },
  ({ x, w, y, rows, columns }, gpu, choices) =>
    eachRow(gpu, { x, rows, columns }, choices, (row, base) => {
      const squares = row.sum((value) => value.mul(value));
      const scale = rsqrt(squares.div(columns.toF32()).add(EPSILON));
      row.each((part) => {
        const weights = part.read(w);
        part.write(
          y,
          part.values.map((value, k) => value.mul(scale).mul(weights[k] as F32)),
          base,
        );
      });
    }),
);
