/**
 * One step of Adam in place: p, m and v change, g is the gradient.
 *
 * Seven buffers' worth of bytes and little arithmetic: each invocation reads `loads` vectors of `width` elements of all four buffers
 * before it computes, so `loads` is small at the best point.
 */

import { buffer, f32, kernel, sqrt, u32, type F32 } from "@evolver/kernel";
import { oneTurn, sweepAll } from "./support/sweep.ts";

const BETA1 = 0.9;
const BETA2 = 0.999;
const EPSILON = 1e-8;
const LEARNING_RATE = 1e-3;
const STEP = 10;

const changed = buffer(f32, "read_write");

export const adam = kernel(
  "adam",
  {
    // `rate` and `scale` correct for averages that began with 0: rate = 10⁻³ / (1 − β₁^step), scale = 1 / √(1 − β₂^step).
    params: { p: changed, g: buffer(f32), m: changed, v: changed, n: u32, rate: f32, scale: f32 },
    tune: { threads: [128, 256, 512, 1024], width: [1, 2, 4], loads: [1, 2, 4] },
    variants: {
      fast: { threads: 256, width: 4, loads: 2 },
      single: { threads: 256, width: 4, loads: 1 },
    },
    sizes: { n: 1 << 24 },
    workgroup: ({ tune }) => [tune.threads],
    example: ({ n }, choices) => ({
      workgroups: oneTurn(n, choices),
      args: {
        p: n,
        g: n,
        m: { length: n, min: -0.1, max: 0.1 },
        v: { length: n, min: 0, max: 0.1 },
        n,
        rate: LEARNING_RATE / (1 - BETA1 ** STEP),
        scale: 1 / Math.sqrt(1 - BETA2 ** STEP),
      },
    }),
    reference({ p, g, m, v, rate, scale }, round) {
      const mean = m.map((old, i) => round(round(BETA1 * old) + round((1 - BETA1) * (g[i] as number))));
      const square = v.map((old, i) =>
        round(round(BETA2 * old) + round((1 - BETA2) * round((g[i] as number) ** 2))),
      );
      const moved = p.map((old, i) => {
        const root = round(round(Math.sqrt(square[i] as number)) * scale);
        return round(old - round(round(rate * (mean[i] as number)) / round(root + EPSILON)));
      });
      return { p: moved, m: mean, v: square };
    },
    work: ({ n }) => ({ flops: 12 * n }),
  },
  ({ p, g, m, v, n, rate, scale }, gpu, choices) =>
    sweepAll(gpu, n, choices, (piece) => {
      const [old, gradient, means, squares] = [p, g, m, v].map((each) => piece.read(each)) as [
        readonly F32[],
        readonly F32[],
        readonly F32[],
        readonly F32[],
      ];
      const mean = means.map((each, k) => each.mul(BETA1).add((gradient[k] as F32).mul(1 - BETA1)));
      const square = squares.map((each, k) => {
        const slope = gradient[k] as F32;
        return each.mul(BETA2).add(slope.mul(slope).mul(1 - BETA2));
      });
      const moved = old.map((each, k) => {
        const root = sqrt(square[k] as F32).mul(scale);
        return each.sub(rate.mul(mean[k] as F32).div(root.add(EPSILON)));
      });
      piece.write(p, moved);
      piece.write(m, mean);
      piece.write(v, square);
    }),
);
