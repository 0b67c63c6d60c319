/**
 * c[i] = a[i]·b[i], of pairs of matrices. A workgroup has a tile of one product, as in `matmul`.
 */

import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import { copyRows, copyTransposed, storePatch } from "./support/factors.ts";
import { multiplyTile, productThreads, productTune } from "./support/product.ts";

export const batchedMatmul = kernel(
  "batchedMatmul",
  {
    params: { a: buffer(f32), b: buffer(f32), c: buffer(f32, "write"), m: u32, n: u32, k: u32 },
    tune: productTune,
    variants: {
      fast: { tileRows: 128, tileColumns: 128, depth: 16, rows: 8, columns: 8, stages: 3 },
      tall: { tileRows: 128, tileColumns: 128, depth: 8, rows: 16, columns: 8, stages: 4 },
      large: { tileRows: 256, tileColumns: 128, depth: 8, rows: 16, columns: 8, stages: 3 },
      small: { tileRows: 64, tileColumns: 64, depth: 16, rows: 8, columns: 8, stages: 3 },
    },
    sizes: { batch: 256, m: 128, n: 128, k: 128 },
    workgroup: ({ tune }) => [productThreads(tune)],
    example: ({ batch, m, n, k }, { tileRows, tileColumns }) => ({
      workgroups: [Math.ceil(n / tileColumns), Math.ceil(m / tileRows), batch],
      args: { a: batch * m * k, b: batch * k * n, c: batch * m * n, m, n, k },
    }),
    reference({ a, b, c, m, n, k }, round) {
      const result = c.map((_, i) => {
        const [row, column, which] = [Math.floor(i / n), i % n, Math.floor(i / (m * n))];
        let sum = 0;
        for (let j = 0; j < k; j++)
          sum = round(sum + round((a[row * k + j] as number) * (b[(which * k + j) * n + column] as number)));
        return sum;
      });
      return { c: result };
    },
    work: ({ batch, m, n, k }) => ({ flops: 2 * batch * m * n * k }),
  },
  ({ a, b, c, m, n, k }, gpu, choices) => {
    const { x, y, z } = gpu.workgroupId;
    const top = y.mul(choices.tileRows);
    const side = x.mul(choices.tileColumns);
    const left = { from: a, base: z.mul(m.mul(k)), rows: m, columns: k };
    const right = { from: b, base: z.mul(k.mul(n)), rows: k, columns: n };
    const result = { to: c, base: z.mul(m.mul(n)), rows: m, columns: n };
    multiplyTile(gpu, k, choices, {
      copy(step) {
        copyTransposed(gpu, left, top, step);
        copyRows(gpu, right, side, step, step.right);
      },
      store: ({ row, column, values }) =>
        storePatch(gpu, result, { row: top.add(row), column: side.add(column), values }),
    });
  },
);
