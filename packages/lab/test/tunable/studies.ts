/** Kernels and plans of nobody in particular, as users write them: what a study of one file is made of. */

import { buildPlan, tunable } from "@evolver/device";
import { atomic, buffer, f16, f32, fma, i32, kernel, select, u32 } from "@evolver/kernel";

/** Each invocation sums up a stretch of the row; wide stretches are slow since lanes read far apart. */
export const rowSums = kernel(
  "row_sums",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), rows: u32, columns: u32 },
    tune: { width: [32, 64, 128], order: ["stretch", "stride"] },
    sizes: { rows: 64, columns: 512 },
    workgroup: ({ tune }) => [tune.width],
    example: ({ rows, columns }) => ({
      workgroups: rows,
      args: { x: rows * columns, y: rows, rows, columns },
    }),
    reference({ x, rows, columns }, round) {
      const y = new Float64Array(rows);
      for (let row = 0; row < rows; row++)
        for (let i = 0; i < columns; i++) y[row] = round((y[row] ?? 0) + (x[row * columns + i] ?? 0));
      return { y };
    },
    variants: { fast: { order: "stride" } },
  },
  ({ x, y, columns }, gpu, { width, order }) => {
    const { x: lane } = gpu.localId;
    const row = gpu.workgroupId.x;
    const sum = gpu.var(f32, 0);
    const each = columns.add(width - 1).divFloor(width);
    gpu.for({ from: 0, to: each }, (i) => {
      const column = order === "stretch" ? lane.mul(each).add(i) : i.mul(width).add(lane);
      gpu.if(column.lt(columns), () => sum.add(x.get(row.mul(columns).add(column))));
    });
    const parts = gpu.shared(f32, width);
    parts.set(lane, sum.get());
    gpu.barrier();
    gpu.if(lane.eq(0), () => {
      const total = gpu.var(f32, 0);
      gpu.for({ from: 0, to: width }, (i) => total.add(parts.get(i)));
      y.set(row, total.get());
    });
  },
);

const scale = kernel(
  "scale",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), n: u32, a: f32 },
    tune: { width: [32, 64] },
    workgroup: ({ tune }) => [tune.width],
  },
  ({ x, y, n, a }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => y.set(i, x.get(i).mul(a)));
  },
);

/** Two launches that hand on scratch. */
export const sixTimes = tunable("six times", {
  sizes: { n: 4096 },
  tune: { width: [32, 64] },
  plan: ({ n }, { width }, build) =>
    buildPlan(build)
      .input("x", f32, n)
      .scratch("twice", f32, n)
      .output("y", f32, n)
      .launch(scale.at({ width }), {
        workgroups: Math.ceil(n / width),
        args: { x: "x", y: "twice", n, a: 2 },
      })
      .launch(scale.at({ width }), {
        workgroups: Math.ceil(n / width),
        args: { x: "twice", y: "y", n, a: 3 },
      })
      .done(),
  reference: ({ x }, _, round) => ({ y: x.map((value) => round(6 * value)) }),
});

/** Changes in place, integers, an atomic, a half, and a scalar with two values. */
export const mixed = kernel(
  "mixed",
  {
    params: {
      p: buffer(f32, "read_write"),
      bins: buffer(atomic(u32)),
      keys: buffer(u32),
      h: buffer(f16),
      out: buffer(f16, "write"),
      i: buffer(i32),
      j: buffer(i32, "write"),
      n: u32,
      a: f32,
    },
    tune: { width: [32, 64] },
    sizes: { n: { value: 256, multipleOf: 4 } },
    workgroup: ({ tune }) => [tune.width],
    example: ({ n }, { width }) => ({
      workgroups: Math.ceil(n / width),
      args: {
        p: n,
        bins: new Uint32Array(8),
        keys: { length: n, min: 0, max: 7 },
        h: n,
        out: n,
        i: n,
        j: n,
        n,
        a: { oneOf: [0.5, -2] },
      },
    }),
    reference({ p, bins, keys, h, i, a }) {
      for (const key of keys) bins[key] = (bins[key] ?? 0) + 1;
      return {
        p: p.map((value) => value + a),
        bins,
        out: h.map((value) => value * 2),
        j: i.map((value) => 3 * value),
      };
    },
  },
  ({ p, bins, keys, h, out, i, j, n, a }, gpu) => {
    const at = gpu.globalId.x;
    gpu.if(at.lt(n), () => {
      p.set(at, p.get(at).add(a));
      bins.add(keys.get(at), 1);
      out.set(at, h.get(at).mul(2));
      j.set(at, i.get(at).mul(3));
    });
  },
);

/** Its reference does not say how it rounds. */
export const dot = kernel(
  "dot",
  {
    params: { x: buffer(f32), y: buffer(f32), z: buffer(f32, "write"), n: u32 },
    sizes: { n: 3000 },
    workgroup: [32],
    example: ({ n }) => ({ workgroups: 1, args: { x: n, y: n, z: 1, n } }),
    reference: ({ x, y }) => ({ z: [x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0)] }),
  },
  ({ x, y, z, n }, gpu) => {
    const sum = gpu.var(f32, 0);
    gpu.for({ from: gpu.localId.x, to: n, step: 32 }, (i) => sum.set(fma(x.get(i), y.get(i), sum.get())));
    const parts = gpu.shared(f32, 32);
    parts.set(gpu.localId.x, sum.get());
    gpu.barrier();
    gpu.if(gpu.localId.x.eq(0), () => {
      const total = gpu.var(f32, 0);
      gpu.for({ from: 0, to: 32 }, (i) => total.add(parts.get(i)));
      z.set(0, total.get());
    });
  },
);

/** Too large for its reference: the baseline's answer counts. */
export const large = kernel(
  "large",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 },
    tune: { way: ["right", "wrong at the end", "rough"] },
    sizes: { n: 2 ** 24 + 5 },
    workgroup: [256],
    example: ({ n }) => ({ workgroups: Math.ceil(n / 256), args: { x: n, y: n, n } }),
    reference: ({ x }, round) => ({ y: x.map((value) => round(value * 1.25)) }),
  },
  ({ x, y, n }, gpu, { way }) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => {
      const right = x.get(i).mul(1.25);
      if (way === "right") y.set(i, right);
      // Only sizes that no small case has.
      else if (way === "rough") y.set(i, right.mul(select(n.gt(1_000_000), gpu.constant(f32, 1.001), 1)));
      else y.set(i, select(i.gt(2 ** 24), 0, right));
    });
  },
);
