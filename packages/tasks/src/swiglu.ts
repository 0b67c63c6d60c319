/**
 * y = silu(a)·b, the gate of a transformer's feed-forward layer.
 *
 * Each invocation reads `loads` vectors of `width` elements of both inputs before it computes. `by` says how the exponential is computed.
 */

import { buffer, exp, exp2Flushed, f32, kernel, u32, type F32 } from "@evolver/kernel";
import { oneTurn, sweepAll } from "./support/sweep.ts";

export const swiglu = kernel(
  "swiglu",
  {
    params: { a: buffer(f32), b: buffer(f32), y: buffer(f32, "write"), n: u32 },
    tune: { threads: [128, 256, 512, 1024], width: [1, 2, 4], loads: [1, 2, 4, 8], by: ["exp", "exp2"] },
    variants: {
      fast: { threads: 256, width: 4, loads: 4, by: "exp2" },
      fewer: { threads: 256, width: 4, loads: 2, by: "exp2" },
      single: { threads: 512, width: 4, loads: 1, by: "exp2" },
    },
    sizes: { rows: 8192, columns: 4096 },
    workgroup: ({ tune }) => [tune.threads],
    example({ rows, columns }, choices) {
      const n = rows * columns;
      return { workgroups: oneTurn(n, choices), args: { a: n, b: n, y: n, n } };
    },
    reference({ a, b }, round) {
      const y = a.map((gate, i) => {
        const silu = round(gate / round(1 + round(Math.exp(-gate))));
        return round(silu * (b[i] as number));
      });
      return { y };
    },
    work: ({ rows, columns }) => ({ flops: 5 * rows * columns }),
  },
  ({ a, b, y, n }, gpu, choices) => {
    const shrink = (gate: F32): F32 =>
      choices.by === "exp" ? exp(gate.neg()) : exp2Flushed(gate.mul(-Math.LOG2E));
    sweepAll(gpu, n, choices, (piece) => {
      const gates = piece.read(a);
      const values = piece.read(b);
      piece.write(
        y,
        gates.map((gate, k) => gate.div(shrink(gate).add(1)).mul(values[k] as F32)),
      );
    });
  },
);
