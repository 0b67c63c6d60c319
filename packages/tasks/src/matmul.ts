/**
 * c = a·b, of two matrices.
 *
 * A workgroup has a tile of c, whose factors pass through shared memory in steps; an invocation keeps `rows` × `columns` of it in
 * registers, so that each number that it reads from shared memory is used several times.
 */

import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import { copyRows, copyTransposed, storePatch } from "./support/factors.ts";
import { multiplyTile, productThreads, productTune } from "./support/product.ts";

export const matmul = kernel(
  "matmul",
  {
    params: { a: buffer(f32), b: buffer(f32), c: buffer(f32, "write"), m: u32, n: u32, k: u32 },
    tune: productTune,
    variants: {
      fast: { tileRows: 128, tileColumns: 128, depth: 16, rows: 8, columns: 8, stages: 3 },
      tall: { tileRows: 128, tileColumns: 128, depth: 8, rows: 16, columns: 8, stages: 4 },
      large: { tileRows: 256, tileColumns: 128, depth: 8, rows: 16, columns: 8, stages: 3 },
      small: { tileRows: 64, tileColumns: 64, depth: 16, rows: 8, columns: 8, stages: 3 },
    },
    sizes: { m: 2048, n: 2048, k: 2048 },
    workgroup: ({ tune }) => [productThreads(tune)],
    example: ({ m, n, k }, { tileRows, tileColumns }) => ({
      workgroups: [Math.ceil(n / tileColumns), Math.ceil(m / tileRows)],
      args: { a: m * k, b: k * n, c: m * n, m, n, k },
    }),
    reference({ a, b, m, n, k }, round) {
      const c = new Float64Array(m * n);
      for (let i = 0; i < m * n; i++) {
        const [row, column] = [Math.floor(i / n), i % n];
        let sum = 0;
        for (let j = 0; j < k; j++)
          sum = round(sum + round((a[row * k + j] as number) * (b[j * n + column] as number)));
        c[i] = sum;
      }
      return { c };
    },
    work: ({ m, n, k }) => ({ flops: 2 * m * n * k }),
  },
  ({ a, b, c, m, n, k }, gpu, choices) => {
    const base = gpu.constant(u32, 0);
    const top = gpu.workgroupId.y.mul(choices.tileRows);
    const side = gpu.workgroupId.x.mul(choices.tileColumns);
    multiplyTile(gpu, k, choices, {
      copy(step) {
        copyTransposed(gpu, { from: a, base, rows: m, columns: k }, top, step);
        copyRows(gpu, { from: b, base, rows: k, columns: n }, side, step, step.right);
      },
      store: ({ row, column, values }) =>
        storePatch(
          gpu,
          { to: c, base, rows: m, columns: n },
          { row: top.add(row), column: side.add(column), values },
        ),
    });
  },
);
