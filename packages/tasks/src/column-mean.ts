/**
 * y = the mean of each column, over all rows.
 *
 * A workgroup has 32 vectors side by side and a chunk of the rows; its invocations take rows in turn, `loads` of them in flight, and
 * add up through shared memory. With several `chunks`, the same kernel adds up in a second launch what they have come to.
 */

import { buildPlan, tunable } from "@evolver/device";
import { buffer, f32, kernel, min, u32, type F32 } from "@evolver/kernel";
import { sweep } from "./support/sweep.ts";
import { byWidth, readVector, total, writeVector } from "./support/vectors.ts";

/** Vectors side by side. */
const ACROSS = 32;

const tune = { threads: [128, 256, 512, 1024], width: [1, 2, 4], loads: [1, 2, 4, 8, 16] } as const;

/** sums[chunk] = the sum of each column over `height` rows from chunk·height on, divided. */
const columnSums = kernel(
  "columnSums",
  {
    params: {
      x: buffer(f32),
      sums: buffer(f32, "write"),
      rows: u32,
      columns: u32,
      height: u32,
      divisor: f32,
    },
    tune,
    workgroup: (build) => [ACROSS, build.tune.threads / ACROSS],
  },
  ({ x, sums, rows, columns, height, divisor }, gpu, choices) => {
    const { x: across, y: down } = gpu.localId;
    const { x: block, y: chunk } = gpu.workgroupId;
    const depth = choices.threads / ACROSS;
    const top = chunk.mul(height);
    const length = min(height, rows.sub(top));
    byWidth(gpu, columns, choices, ({ width }) => {
      for (let part = 0; part < choices.width; part += width) {
        const column = across.mul(width).add(block.mul(choices.width).add(part).mul(ACROSS));
        const inside = column.lt(columns);
        const own = gpu.registers(f32, width, 0);
        gpu.if(inside, () =>
          sweep(
            gpu,
            { lane: down, lanes: depth },
            length,
            { width: 1, loads: choices.loads },
            ({ places }) => {
              const read = places.map((row) => readVector(x, top.add(row).mul(columns).add(column), width));
              for (let k = 0; k < width; k++) own.add(k, total(read.map((values) => values[k] as F32)));
            },
          ),
        );
        const tile = gpu.shared(f32, depth * ACROSS * width);
        const place = down.mul(ACROSS).add(across).mul(width);
        writeVector(
          tile,
          place,
          Array.from({ length: width }, (_, k) => own.get(k)),
        );
        gpu.barrier();
        gpu.if(inside.and(down.eq(0)), () => {
          const partial = Array.from({ length: depth }, (_, row) =>
            readVector(tile, place.add(row * ACROSS * width), width),
          );
          const means = Array.from({ length: width }, (_, k) =>
            total(partial.map((values) => values[k] as F32)).div(divisor),
          );
          writeVector(sums, chunk.mul(columns).add(column), means);
        });
      }
    });
  },
);

/** Adds up few rows: those of partial sums. */
const LAST = { threads: 256, width: 1, loads: 8 } as const;

export const columnMean = tunable("columnMean", {
  sizes: { rows: 8192, columns: 4096 },
  tune: { ...tune, chunks: [1, 4, 16, 32, 64, 128, 256] },
  variants: {
    fast: { threads: 256, width: 4, loads: 8, chunks: 64 },
    "few chunks": { threads: 512, width: 4, loads: 8, chunks: 16 },
    "one launch": { threads: 1024, width: 1, loads: 16, chunks: 1 },
  },
  plan({ rows, columns }, { chunks, ...choices }, build) {
    const height = Math.ceil(rows / chunks);
    const used = Math.ceil(rows / height);
    const first = columnSums.at(choices);
    const across = Math.ceil(columns / (ACROSS * choices.width));
    const plan = buildPlan(build)
      .input("x", f32, rows * columns)
      .output("y", f32, columns);
    if (used === 1)
      return plan
        .launch(first, {
          workgroups: across,
          args: { x: "x", sums: "y", rows, columns, height, divisor: rows },
        })
        .done();
    return plan
      .scratch("partial", f32, used * columns)
      .launch(first, {
        workgroups: [across, used],
        args: { x: "x", sums: "partial", rows, columns, height, divisor: 1 },
      })
      .launch(columnSums.at(LAST), {
        workgroups: Math.ceil(columns / ACROSS),
        args: { x: "partial", sums: "y", rows: used, columns, height: used, divisor: rows },
      })
      .done();
  },
  // Without rounding: how much a sum rounds depends on the order, which is free. In this one, signs may cancel by luck.
  reference({ x }, { rows, columns }) {
    const sums = new Float64Array(columns);
    for (const [i, value] of x.entries()) sums[i % columns] = (sums[i % columns] as number) + value;
    return { y: sums.map((sum) => sum / rows) };
  },
  work: ({ rows, columns }) => ({ flops: rows * columns }),
});
