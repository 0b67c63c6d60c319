/**
 * Layer norm over the columns, with weight and bias.
 *
 * A team (a workgroup or a subgroup) has a row. Where it is `held`, the row is read once and stays in
 * registers; else it is read three times: for the mean, for the variance, and for the result.
 */

import { buffer, f32, kernel, rsqrt, u32, type F32 } from "@evolver/kernel";
import { eachRow, rowLaunch, rowTune } from "./support/row.ts";

const EPSILON = 1e-5;

export const layerNorm = kernel(
  "layerNorm",
  {
    params: {
      x: buffer(f32),
      w: buffer(f32),
      b: buffer(f32),
      y: buffer(f32, "write"),
      rows: u32,
      columns: u32,
    },
    tune: rowTune,
    variants: {
      fast: { threads: 256, width: 4, loads: 4, held: "yes" },
      larger: { threads: 512, width: 4, loads: 2, held: "yes" },
      smaller: { threads: 128, width: 4, loads: 8, held: "yes" },
    },
    sizes: { rows: 8192, columns: 4096 },
    workgroup: ({ tune }) => [tune.threads],
    example({ rows, columns }, choices, build) {
      const elements = rows * columns;
      return {
        workgroups: rowLaunch({ rows, columns }, choices, build),
        args: { x: elements, w: columns, b: columns, y: elements, rows, columns },
      };
    },
    reference({ x, w, b, rows, columns }, round) {
      const y = new Float64Array(rows * columns);
      for (let row = 0; row < rows; row++) {
        const values = x.subarray(row * columns, (row + 1) * columns);
        const mean = round(values.reduce((sum, value) => round(sum + value), 0) / columns);
        const squares = values.reduce((sum, value) => round(sum + round(round(value - mean) ** 2)), 0);
        const scale = round(1 / Math.sqrt(round(round(squares / columns) + EPSILON)));
        for (const [i, value] of values.entries()) {
          const normal = round(round(value - mean) * scale);
          y[row * columns + i] = round(round(normal * (w[i] as number)) + (b[i] as number));
        }
      }
      return { y };
    },
    work: ({ rows, columns }) => ({ flops: 8 * rows * columns }),
  },
  ({ x, w, b, y, rows, columns }, gpu, choices) =>
    eachRow(gpu, { x, rows, columns }, choices, (row, base) => {
      const count = columns.toF32();
      const mean = row.sum((value) => value).div(count);
      const squares = row.sum((value) => value.sub(mean).mul(value.sub(mean)));
      const scale = rsqrt(squares.div(count).add(EPSILON));
      row.each((part) => {
        const [weights, biases] = [part.read(w), part.read(b)];
        const normal = part.values.map((value) => value.sub(mean).mul(scale));
        const result = normal.map((value, k) => value.mul(weights[k] as F32).add(biases[k] as F32));
        part.write(y, result, base);
      });
    }),
);
