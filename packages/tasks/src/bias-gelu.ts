/**
 * y = gelu(x + bias) with the bias along columns, by the tanh approximation.
 *
 * Each invocation keeps its part of the bias in registers and takes the same columns of several rows, all of which it reads before
 * it computes: `width` and `rows` say how many bytes are in flight. `tanh` says how the hyperbolic tangent is computed.
 */

import { assertNever } from "@evolver/base";
import { buffer, exp2Flushed, f32, kernel, tanh, u32, type F32, type U32 } from "@evolver/kernel";
import { byWidth, readVector, writeVector } from "./support/vectors.ts";

const SLOPE = Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;

export const biasGelu = kernel(
  "biasGelu",
  {
    params: { x: buffer(f32), bias: buffer(f32), y: buffer(f32, "write"), rows: u32, columns: u32 },
    tune: {
      threads: [128, 256, 512, 1024],
      width: [1, 2, 4],
      height: [1, 2, 4, 8, 16],
      by: ["tanh", "exp2"],
    },
    variants: {
      fast: { threads: 256, width: 4, height: 8, by: "exp2" },
      lower: { threads: 256, width: 4, height: 4, by: "exp2" },
      lowest: { threads: 512, width: 4, height: 2, by: "exp2" },
    },
    sizes: { rows: 8192, columns: 4096 },
    workgroup: ({ tune }) => [tune.threads],
    example: ({ rows, columns }, { threads, width, height }) => ({
      workgroups: [Math.ceil(columns / (threads * width)), Math.ceil(rows / height)],
      args: { x: rows * columns, bias: columns, y: rows * columns, rows, columns },
    }),
    reference({ x, bias, columns }, round) {
      const y = x.map((value, i) => {
        const z = round(value + (bias[i % columns] as number));
        const inner = round(SLOPE * round(z + round(CUBIC * round(z * round(z * z)))));
        return round(round(0.5 * z) * round(1 + round(Math.tanh(inner))));
      });
      return { y };
    },
    work: ({ rows, columns }) => ({ flops: 9 * rows * columns }),
  },
  ({ x, bias, y, rows, columns }, gpu, { threads, width, height, by }) => {
    const left = gpu.workgroupId.x.mul(threads * width);
    const top = gpu.workgroupId.y.mul(height);
    byWidth(gpu, columns, { width, loads: 1 }, ({ width: fitting }) => {
      // As many turns as vectors have elements, where single ones take their place.
      gpu.for({ from: 0, to: width / fitting }, (turn) => {
        const column = turn.mul(threads).add(gpu.localIndex).mul(fitting).add(left);
        gpu.if(column.lt(columns), () => {
          const shift = readVector(bias, column, fitting);
          const compute = (first: U32, count: number): void => {
            const corner = { strides: [columns, 1], offset: first.mul(columns).add(column) };
            const [source, target] = [x.view(corner), y.view(corner)];
            const read = Array.from({ length: count }, (_, row) => readVector(source.at(row), 0, fitting));
            for (const [row, values] of read.entries())
              writeVector(
                target.at(row),
                0,
                values.map((value, lane) => gelu(value.add(shift[lane] as F32), by)),
              );
          };
          gpu.if(
            top.add(height).le(rows),
            () => compute(top, height),
            () => gpu.for({ from: top, to: rows }, (row) => compute(row, 1)),
          );
        });
      });
    });
  },
);

function gelu(z: F32, by: "tanh" | "exp2"): F32 {
  const inner = z.mul(z).mul(CUBIC).add(1).mul(z).mul(SLOPE);
  switch (by) {
    case "tanh":
      return tanh(inner).add(1).mul(z.mul(0.5));
    case "exp2":
      // (1 + tanh u) / 2 = 1 / (1 + e^(−2u))
      return z.div(exp2Flushed(inner.mul(-2 * Math.LOG2E)).add(1));
    default:
      return assertNever(by, "way");
  }
}
