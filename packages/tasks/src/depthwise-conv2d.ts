/**
 * A 3×3 convolution of each plane with weights of its channel, with zeros around the plane.
 *
 * An invocation computes `vector` neighbours in `rows` rows. It reads each of its rows once, and one more at each end; the columns
 * beside it come from the cache.
 */

import { buffer, f32, fma, kernel, u32, type F32 } from "@evolver/kernel";
import { spread } from "./support/sweep.ts";
import { fittingWidth, readWithSides } from "./support/zeros.ts";
import { byWidth, writeVector } from "./support/vectors.ts";

const TAPS = 9;

export const depthwiseConv2d = kernel(
  "depthwiseConv2d",
  {
    params: {
      x: buffer(f32),
      w: buffer(f32),
      y: buffer(f32, "write"),
      planes: u32,
      channels: u32,
      height: u32,
      width: u32,
    },
    tune: { threads: [64, 128, 256, 512], vector: [1, 2, 4], rows: [1, 2, 4, 7, 8, 14] },
    variants: { fast: { threads: 128, vector: 4, rows: 7 } },
    sizes: { batch: 32, channels: 256, height: 56, width: 56 },
    workgroup: ({ tune }) => [tune.threads],
    example({ batch, channels, height, width }, { threads, vector, rows }) {
      const planes = batch * channels;
      const tiles = planes * Math.ceil(height / rows) * (width / fittingWidth(vector, width));
      const size = planes * height * width;
      return {
        workgroups: spread(Math.ceil(tiles / threads)),
        args: { x: size, w: channels * TAPS, y: size, planes, channels, height, width },
      };
    },
    reference({ x, w, channels, height, width }, round) {
      const y = x.map((_, i) => {
        const plane = Math.floor(i / (height * width));
        const [row, column] = [Math.floor(i / width) % height, i % width];
        let sum = 0;
        for (let tap = 0; tap < TAPS; tap++) {
          const [r, c] = [row + Math.floor(tap / 3) - 1, column + (tap % 3) - 1];
          if (r < 0 || r >= height || c < 0 || c >= width) continue;
          const value = x[(plane * height + r) * width + c] as number;
          sum = round(sum + round(value * (w[(plane % channels) * TAPS + tap] as number)));
        }
        return sum;
      });
      return { y };
    },
    work: ({ batch, channels, height, width }) => ({ flops: 2 * TAPS * batch * channels * height * width }),
  },
  ({ x, w, y, planes, channels, height, width }, gpu, { threads, vector, rows }) =>
    byWidth(gpu, width, { width: vector, loads: 1 }, ({ width: count }) => {
      const across = width.divTrunc(count);
      const bands = height.add(rows - 1).divTrunc(rows);
      const tile = gpu.workgroupIndex.mul(threads).add(gpu.localIndex);
      const band = tile.divTrunc(across);
      const column = tile.sub(band.mul(across)).mul(count);
      const plane = band.divTrunc(bands);
      const top = band.sub(plane.mul(bands)).mul(rows);
      gpu.if(plane.lt(planes), () => {
        const base = plane.mul(height).mul(width);
        const grid = { from: x, base, height, width };
        const first = plane.remTrunc(channels).mul(TAPS);
        const weights = Array.from({ length: TAPS }, (_, tap) => w.get(first.add(tap)));
        const read = Array.from({ length: rows + 2 }, (_, k) =>
          readWithSides(grid, top.add(k).sub(1), column, count),
        );
        for (let row = 0; row < rows; row++) {
          const result = Array.from({ length: count }, (_, k) =>
            weights.reduce(
              (sum, weight, tap) => {
                const value = read[row + Math.floor(tap / 3)]?.[k + (tap % 3)] as F32;
                return fma(value, weight, sum);
              },
              gpu.constant(f32, 0),
            ),
          );
          const place = top.add(row);
          gpu.if(place.lt(height), () => writeVector(y, base.add(place.mul(width)).add(column), result));
        }
      });
    }),
);
