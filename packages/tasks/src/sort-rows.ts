/**
 * Each row in ascending order, by a bitonic network (Batcher 1968, "Sorting networks and their applications").
 *
 * An invocation holds `held` neighbours of a row in registers. It sorts them alone; then runs that are twice as long are merged again and
 * again. Partners that are far apart exchange through shuffles, or through shared memory where they are in different subgroups.
 * NaN has no place in an order.
 */

import { buildPlan, tunable } from "@evolver/device";
import { buffer, f32, kernel, u32, type Kernel } from "@evolver/kernel";
import { sorted } from "./support/network.ts";
import { readVector, writeVector, type Width } from "./support/vectors.ts";

/** Where an invocation's part of a sorted row is written: from registers, or through shared memory, so that lanes write neighbours. */
const OUT = ["direct", "shared"] as const;

interface Sorting {
  readonly columns: number;
  readonly held: number;
  readonly threads: number;
  readonly out: (typeof OUT)[number];
}

const params = { x: buffer(f32), y: buffer(f32, "write"), rows: u32 };
type SortKernel = Kernel<typeof params>;

/** The network depends on how long a row is, so there is a kernel for each length. */
function sortKernel({ columns, held, threads, out }: Sorting): SortKernel {
  const lanes = columns / held;
  const width = Math.min(held, 4) as Width;
  return kernel(`sort${columns}`, { params, workgroup: [threads] }, ({ x, y, rows }, gpu) => {
    const lane = gpu.localIndex.remTrunc(lanes);
    const own = gpu.localIndex.divTrunc(lanes);
    const row = gpu.workgroupIndex.mul(threads / lanes).add(own);
    // In which order the elements come does not matter, so neighbouring lanes read neighbouring vectors.
    const vectors = Array.from({ length: held / width }, (_, k) => lane.add(k * lanes).mul(width));
    const start = row.min(rows.sub(1)).mul(columns);
    const given = vectors.flatMap((at) => readVector(x, start.add(at), width));
    const result = sorted(gpu, { lane, lanes }, given);
    const base = row.mul(columns);
    const part = (k: number) => result.slice(k * width, (k + 1) * width);
    if (out === "direct") {
      const first = base.add(lane.mul(held));
      gpu.if(row.lt(rows), () => vectors.forEach((_, k) => writeVector(y, first.add(k * width), part(k))));
      return;
    }
    // A little apart, so that what lanes write goes to different banks.
    const apart = held + 4;
    const tile = gpu.shared(f32, threads * apart);
    vectors.forEach((_, k) => writeVector(tile, gpu.localIndex.mul(apart).add(k * width), part(k)));
    gpu.barrier();
    const ofRow = own.mul(lanes * apart);
    gpu.if(row.lt(rows), () => {
      for (const at of vectors) {
        const from = ofRow.add(at.divTrunc(held).mul(apart)).add(at.remTrunc(held));
        writeVector(y, base.add(at), readVector(tile, from, width));
      }
    });
  });
}

const kernels = new Map<string, SortKernel>();

/** Invocations of a workgroup at most. */
const MOST = 1024;

export const sortRows = tunable("sortRows", {
  sizes: {
    rows: 8192,
    columns: { value: 1024, oneOf: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096] },
  },
  tune: { held: [1, 2, 4, 8, 16, 32], threads: [128, 256, 512, 1024], out: OUT },
  variants: {
    fast: { held: 32, threads: 128, out: "shared" },
    light: { held: 16, threads: 128, out: "shared" },
  },
  plan({ rows, columns }, choices, build) {
    const held = Math.max(Math.min(choices.held, columns), columns / MOST);
    const threads = Math.max(choices.threads, columns / held);
    const sorting: Sorting = { columns, held, threads, out: choices.out };
    const key = Object.values(sorting).join(" ");
    const kernelOf = kernels.get(key) ?? sortKernel(sorting);
    kernels.set(key, kernelOf);
    return buildPlan(build)
      .input("x", f32, rows * columns)
      .output("y", f32, rows * columns)
      .launch(kernelOf, {
        workgroups: Math.ceil((rows * columns) / (threads * held)),
        args: { x: "x", y: "y", rows },
      })
      .done();
  },
  reference({ x }, { rows, columns }) {
    const y = (x as Float64Array).slice();
    for (let row = 0; row < rows; row++) y.subarray(row * columns, (row + 1) * columns).sort();
    return { y };
  },
  work: ({ rows, columns }) => ({ bytes: 8 * rows * columns }),
});
