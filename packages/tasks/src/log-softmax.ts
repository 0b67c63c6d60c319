/**
 * y = x − log Σ exp(x) over the columns, computed from the largest element down so that nothing overflows.
 *
 * A team (a workgroup or a subgroup) has a row. Where it is `held`, the row is read once and stays in registers; else it is read
 * three times: for the maximum, for the sum, and for the result.
 */

import { buffer, exp2Flushed, f32, kernel, log, u32 } from "@evolver/kernel";
import { eachRow, rowLaunch, rowTune } from "./support/row.ts";

export const logSoftmax = kernel(
  "logSoftmax",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), rows: u32, columns: u32 },
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
        args: { x: rows * columns, y: rows * columns, rows, columns },
      };
    },
    reference({ x, rows, columns }, round) {
      const y = new Float64Array(rows * columns);
      for (let row = 0; row < rows; row++) {
        const values = x.subarray(row * columns, (row + 1) * columns);
        const largest = values.reduce((a, b) => Math.max(a, b), -Infinity);
        const sum = values.reduce((all, value) => round(all + round(Math.exp(round(value - largest)))), 0);
        const logarithm = round(Math.log(sum));
        for (const [i, value] of values.entries())
          y[row * columns + i] = round(round(value - largest) - logarithm);
      }
      return { y };
    },
    work: ({ rows, columns }) => ({ flops: 5 * rows * columns }),
  },
  ({ x, y, rows, columns }, gpu, choices) =>
    eachRow(gpu, { x, rows, columns }, choices, (row, base) => {
      const largest = row.max();
      const logarithm = log(row.sum((value) => exp2Flushed(value.sub(largest).mul(Math.LOG2E))));
      row.each((part) =>
        part.write(
          y,
          part.values.map((value) => value.sub(largest).sub(logarithm)),
          base,
        ),
      );
    }),
);
