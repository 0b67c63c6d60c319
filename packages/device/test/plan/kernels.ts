/** Kernels that the tests of plans launch: rows are summed, sums are turned around, rows are divided by them. */

import { buffer, f16, f32, kernel, u32 } from "@evolver/kernel";
import { buildOf, buildPlan, type Device, type Plan } from "@evolver/device";

export const ROWS = 5;
export const COLUMNS = 7;

/** One workgroup per row, which its first invocation adds up. */
export const sumRows = kernel(
  "sumRows",
  { params: { x: buffer(f32), sums: buffer(f32, "write"), columns: u32 }, workgroup: [32] },
  ({ x, sums, columns }, gpu) => {
    gpu.if(gpu.localIndex.eq(0), () => {
      const sum = gpu.var(f32, 0);
      gpu.for({ from: 0, to: columns }, (c) => sum.add(x.get(gpu.workgroupIndex.mul(columns).add(c))));
      sums.set(gpu.workgroupIndex, sum.get());
    });
  },
);

export const invert = kernel(
  "invert",
  { params: { x: buffer(f32, "read_write"), n: u32 }, workgroup: [32] },
  ({ x, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => x.set(i, gpu.constant(f32, 1).div(x.get(i))));
  },
);

export const scaleRows = kernel(
  "scaleRows",
  {
    params: { x: buffer(f32), factors: buffer(f32), y: buffer(f32, "write"), columns: u32, gain: f32 },
    workgroup: [32],
  },
  ({ x, factors, y, columns, gain }, gpu) => {
    const row = gpu.workgroupIndex;
    gpu.for({ from: gpu.localIndex, to: columns, step: 32 }, (c) => {
      const at = row.mul(columns).add(c);
      y.set(at, x.get(at).mul(factors.get(row)).mul(gain));
    });
  },
);

/** Adds one to each element of f16, in place. */
export const increment = kernel(
  "increment",
  { params: { x: buffer(f16), y: buffer(f16, "write"), n: u32 }, workgroup: [32] },
  ({ x, y, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => y.set(i, x.get(i).add(1)));
  },
);

/** Counts its runs in an element that begins with zero. */
const count = kernel(
  "count",
  { params: { runs: buffer(u32, "read_write"), seen: buffer(u32, "write") }, workgroup: [32] },
  ({ runs, seen }, gpu) => {
    gpu.if(gpu.localIndex.eq(0), () => {
      const before = runs.get(0);
      seen.set(0, before);
      runs.set(0, before.add(1));
    });
  },
);

/** Rows divided by their sums, and multiplied by `gain`: three kernels. */
export const normalise = (device: Device, gain = 1) =>
  buildPlan(buildOf(device))
    .input("x", f32, ROWS * COLUMNS)
    .scratch("sums", f32, ROWS)
    .output("y", f32, ROWS * COLUMNS)
    .launch(sumRows, { workgroups: ROWS, args: { x: "x", sums: "sums", columns: COLUMNS } })
    .launch(invert, { workgroups: 1, args: { x: "sums", n: ROWS } })
    .launch(scaleRows, {
      workgroups: ROWS,
      args: { x: "x", factors: "sums", y: "y", columns: COLUMNS, gain },
    })
    .done();

export const rowsInput = Float32Array.from({ length: ROWS * COLUMNS }, (_, i) => 1 + ((i * 5) % 11));

/** In float64. */
export const normalised = (gain = 1): Float64Array =>
  Float64Array.from(rowsInput, (value, i) => {
    const row = Math.floor(i / COLUMNS) * COLUMNS;
    return (gain * value) / rowsInput.subarray(row, row + COLUMNS).reduce((sum, x) => sum + x, 0);
  });

/** The plan of one launch of `count`, whose scratch begins as said. */
export const counting = (device: Device, zeroed?: true | "once"): Plan<{ runs: "u32"; seen: "u32" }> =>
  buildPlan(buildOf(device))
    .scratch("runs", u32, 1, zeroed)
    .output("seen", u32, 1)
    .launch(count, { workgroups: 1, args: { runs: "runs", seen: "seen" } })
    .done();
