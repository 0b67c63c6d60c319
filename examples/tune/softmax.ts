/**
 * Softmax of rows that the lab can improve: how many invocations share a row, and whether they keep it or read it again.
 *
 *     npx evolver evolve examples/tune/softmax.ts
 *     npx evolver evolve examples/tune/softmax.ts --device cuda --rows 16384
 */

import { buffer, exp, f32, kernel, max, u32, type F32, type Gpu, type U32 } from "@evolver/kernel";

/** Elements of a row that shared memory has room for. */
const ROOM = 4096;

/** y = exp(x − largest) / Σ exp(x − largest), for each row. A workgroup has a row. */
export const softmax = kernel(
  "softmax",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), rows: u32, columns: u32 },
    tune: { threads: [64, 128, 256, 512], unroll: [1, 2, 4], kept: ["no", "row", "exponentials"] },
    sizes: { rows: 1024, columns: 4096 },
    workgroup: ({ tune }) => [tune.threads],
    example: ({ rows, columns }, { kept }) => {
      if (kept !== "no" && columns > ROOM)
        throw new Error(`a row of ${columns} elements has no room in shared memory`);
      return { workgroups: rows, args: { x: rows * columns, y: rows * columns, rows, columns } };
    },
    reference({ x, rows, columns }, round) {
      const y = new Float64Array(rows * columns);
      for (let first = 0; first < rows * columns; first += columns) {
        const row = x.subarray(first, first + columns);
        const largest = row.reduce((a, b) => Math.max(a, b));
        const exponentials = row.map((value) => round(Math.exp(round(value - largest))));
        const total = exponentials.reduce((sum, value) => round(sum + value), 0);
        for (const [i, value] of exponentials.entries()) y[first + i] = round(value / total);
      }
      return { y };
    },
    work: ({ rows, columns }) => ({ flops: 5 * rows * columns }),
  },
  ({ x, y, columns }, gpu, { threads, unroll, kept }) => {
    const first = gpu.workgroupIndex.mul(columns);
    // Each invocation keeps what it reads again itself, so that there is nothing to wait for.
    const shared = kept === "no" ? null : gpu.shared(f32, ROOM);
    const each = (what: (column: U32) => void): void =>
      gpu.for({ from: gpu.localIndex, to: columns, step: threads * unroll }, (start) => {
        what(start);
        for (let k = 1; k < unroll; k++) {
          const column = start.add(k * threads);
          gpu.if(column.lt(columns), () => what(column));
        }
      });
    const value = (column: U32): F32 => shared?.get(column) ?? x.get(first.add(column));

    const largest = gpu.var(f32, -Infinity);
    each((column) => {
      const read = x.get(first.add(column));
      shared?.set(column, read);
      largest.set(max(largest.get(), read));
    });
    const top = acrossWorkgroup(gpu, gpu.subgroup.max(largest.get()), (a, b) => a.max(b));

    const sum = gpu.var(f32, 0);
    each((column) => {
      const exponential = exp(value(column).sub(top));
      if (kept === "exponentials") shared?.set(column, exponential);
      sum.add(exponential);
    });
    const total = acrossWorkgroup(gpu, gpu.subgroup.sum(sum.get()), (a, b) => a.add(b));

    each((column) => {
      const exponential = kept === "exponentials" ? value(column) : exp(value(column).sub(top));
      y.set(first.add(column), exponential.div(total));
    });
  },
);

/** What the subgroups have, together; every invocation gets it. */
function acrossWorkgroup(gpu: Gpu, mine: F32, together: (a: F32, b: F32) => F32): F32 {
  const parts = gpu.shared(f32, gpu.numSubgroups);
  gpu.if(gpu.lane.eq(0), () => parts.set(gpu.subgroupId, mine));
  gpu.barrier();
  return Array.from({ length: gpu.numSubgroups }, (_, k) => parts.get(k)).reduce(together);
}
