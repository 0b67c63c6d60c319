/**
 * Two small kernels with example launches, to try the tools on:
 *
 *     npx evolver check examples/kernels.ts
 *     npx evolver emit examples/kernels.ts#rowSums --target cuda --selftest -o rowSums.cu
 */

import { atomic, buffer, f32, kernel, min, u32 } from "@evolver/kernel";

/** sums[r] is the sum of row r. One workgroup per row adds up, first over the lanes of each subgroup, then over the subgroups. */
export const rowSums = kernel(
  "rowSums",
  {
    params: { rows: buffer(f32), sums: buffer(f32, "write"), length: u32 },
    workgroup: ({ subgroup }) => [4 * subgroup],
    example: { workgroups: 50, args: { rows: 50 * 1000, sums: 50, length: 1000 } },
  },
  ({ rows, sums, length }, gpu) => {
    const row = rows.view({ strides: [length, 1] }).at(gpu.workgroupIndex);
    const sum = gpu.var(f32, 0, "sum");
    gpu.for({ from: gpu.localIndex, to: length, step: 4 * gpu.subgroupSize }, (i) => sum.add(row.get(i)));
    const partial = gpu.shared(f32, 4, "partial");
    const total = gpu.subgroup.sum(sum.get());
    gpu.if(gpu.lane.eq(0), () => partial.set(gpu.subgroupId, total));
    gpu.barrier();
    gpu.if(gpu.localIndex.eq(0), () => {
      const parts = [0, 1, 2, 3].map((k) => partial.get(k));
      sums.set(
        gpu.workgroupIndex,
        parts.reduce((a, b) => a.add(b)),
      );
    });
  },
);

/** How many values fall into each of 16 bins of [−1, 1): counted in shared memory, then added up. */
export const histogram = kernel(
  "histogram",
  {
    params: { values: buffer(f32), bins: buffer(atomic(u32)), n: u32 },
    workgroup: [256],
    example: { workgroups: 8, args: { values: 2000, bins: 16, n: 2000 } },
  },
  ({ values, bins, n }, gpu) => {
    const counts = gpu.shared(atomic(u32), 16, "counts");
    const { localIndex } = gpu;
    gpu.if(localIndex.lt(16), () => counts.set(localIndex, 0));
    gpu.barrier();
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => counts.add(min(values.get(i).add(1).mul(8).toU32(), 15), 1));
    gpu.barrier();
    gpu.if(localIndex.lt(16), () => bins.add(localIndex, counts.get(localIndex)));
  },
);
