/**
 * Mamba's convolution: along each channel, y = silu(bias + the last four elements times their weights), with zeros before the first.
 *
 * A workgroup has a channel. An invocation computes `loads` vectors of `width` neighbours, and reads for each the vector before
 * it too, which its neighbour has just read. `by` says how the logistic function is computed.
 */

import { assertNever } from "@evolver/base";
import { buffer, exp2Flushed, f32, fma, kernel, rsqrt, select, u32, type F32 } from "@evolver/kernel";
import { spread } from "./support/sweep.ts";
import { byWidth, readVector, writeVector, type Width } from "./support/vectors.ts";

const TAPS = 4;

export const conv1dDepthwise = kernel(
  "conv1dDepthwise",
  {
    params: {
      x: buffer(f32),
      w: buffer(f32),
      bias: buffer(f32),
      y: buffer(f32, "write"),
      rows: u32,
      channels: u32,
      length: u32,
    },
    tune: {
      threads: [64, 128, 256, 512],
      width: [1, 4],
      loads: [1, 2, 4, 8],
      by: ["div", "rsqrt"],
    },
    variants: { fast: { threads: 128, width: 4, loads: 4, by: "rsqrt" } },
    sizes: { batch: 8, channels: 2048, length: 2048 },
    workgroup: ({ tune }) => [tune.threads],
    example({ batch, channels, length }) {
      const rows = batch * channels;
      return {
        workgroups: spread(rows),
        args: {
          x: rows * length,
          w: channels * TAPS,
          bias: channels,
          y: rows * length,
          rows,
          channels,
          length,
        },
      };
    },
    reference({ x, w, bias, channels, length }, round) {
      const y = x.map((_, i) => {
        const [row, at] = [Math.floor(i / length), i % length];
        const channel = row % channels;
        let sum = bias[channel] as number;
        for (let tap = 0; tap < TAPS; tap++) {
          const from = at + tap - (TAPS - 1);
          const value = from < 0 ? 0 : (x[row * length + from] as number);
          sum = round(sum + round(value * (w[channel * TAPS + tap] as number)));
        }
        return round(sum / round(1 + round(Math.exp(-sum))));
      });
      return { y };
    },
    work: ({ batch, channels, length }) => ({ flops: 12 * batch * channels * length }),
  },
  ({ x, w, bias, y, rows, channels, length }, gpu, { threads, by, ...reach }) => {
    const row = gpu.workgroupIndex;
    gpu.if(row.lt(rows), () => {
      const channel = row.remTrunc(channels);
      const weights = w.getVec(4, channel.mul(TAPS)).components;
      const shift = bias.get(channel);
      const start = row.mul(length);
      /** Vectors of places that are all inside the row. */
      const compute = (places: readonly (typeof row)[], width: Width): void => {
        const read = places.map((at) => {
          const own = readVector(x, start.add(at), width);
          const before = Array.from({ length: width === 4 ? 1 : TAPS - 1 }, (_, k) => {
            const back = width === 4 ? 4 : TAPS - 1 - k;
            const values = readVector(x, start.add(at.max(back).sub(back)), width);
            return values.map((value) => select(at.ge(back), value, 0));
          }).flat();
          return [...before.slice(1 - TAPS), ...own];
        });
        for (const [i, at] of places.entries()) {
          const values = read[i] as F32[];
          const result = Array.from({ length: width }, (_, k) => {
            const sum = weights.reduce((all, weight, tap) => fma(values[k + tap] as F32, weight, all), shift);
            return silu(sum, by);
          });
          writeVector(y, start.add(at), result);
        }
      };
      byWidth(gpu, length, reach, ({ width, loads }) => {
        const tile = threads * width * loads;
        gpu.for({ from: gpu.localIndex.mul(width), to: length, step: tile }, (at) => {
          const places = Array.from({ length: loads }, (_, k) => at.add(k * threads * width));
          gpu.if(
            (places.at(-1) as typeof at).lt(length),
            () => compute(places, width),
            () => places.slice(0, -1).forEach((one) => gpu.if(one.lt(length), () => compute([one], width))),
          );
        });
      });
    });
  },
);

/** z / (1 + e^(−z)) */
function silu(z: F32, by: "div" | "rsqrt"): F32 {
  const below = exp2Flushed(z.mul(-Math.LOG2E)).add(1);
  switch (by) {
    case "div":
      return z.div(below);
    case "rsqrt": {
      // GPUs have an instruction for this root, and none for a quotient.
      const root = rsqrt(below);
      return z.mul(root).mul(root);
    }
    default:
      return assertNever(by, "way");
  }
}
