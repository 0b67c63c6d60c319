/**
 * y[row] = the column of the first largest element of the row. NaN is never the largest.
 *
 * A team (a workgroup or a subgroup) reads its row once, `loads` vectors of `width` in flight in each invocation. An invocation sees
 * its columns in ascending order, so that it keeps the first of equals by replacing only what is smaller.
 */

import { buffer, f32, kernel, select, u32, type F32 } from "@evolver/kernel";
import { sweep } from "./support/sweep.ts";
import { eachTeam, teamLaunch, streamTune } from "./support/team.ts";

export const argmaxRows = kernel(
  "argmaxRows",
  {
    params: { x: buffer(f32), y: buffer(u32, "write"), rows: u32, columns: u32 },
    tune: streamTune,
    variants: {
      fast: { threads: 256, width: 4, loads: 4 },
      smaller: { threads: 128, width: 4, loads: 8 },
      alone: { threads: 256, team: "subgroup", width: 4, loads: 8 },
    },
    sizes: { rows: 8192, columns: 4096 },
    workgroup: ({ tune }) => [tune.threads],
    example: ({ rows, columns }, choices, build) => ({
      workgroups: teamLaunch(rows, choices, build),
      args: { x: rows * columns, y: rows, rows, columns },
    }),
    reference({ x, rows, columns }) {
      const y = new Uint32Array(rows);
      for (let row = 0; row < rows; row++) {
        let largest = -Infinity;
        for (let column = 0; column < columns; column++) {
          const value = x[row * columns + column] as number;
          if (value > largest) [largest, y[row]] = [value, column];
        }
      }
      return { y };
    },
    work: ({ rows, columns }) => ({ flops: rows * columns }),
  },
  ({ x, y, rows, columns }, gpu, choices) =>
    eachTeam(gpu, { rows, columns }, choices, (team, base, fitting) => {
      const largest = gpu.var(f32, -Infinity);
      const first = gpu.var(u32, 0);
      sweep(gpu, team, columns, fitting, (piece) => {
        const { places } = piece;
        const values = piece.read(x, base);
        let [best, at] = [largest.get(), first.get()];
        for (const [k, place] of places.entries()) {
          const value = values[k] as F32;
          const larger = value.gt(best);
          best = select(larger, value, best);
          at = select(larger, place, at);
        }
        largest.set(best);
        first.set(at);
      });
      const all = team.max(largest.get());
      // Where nothing is larger than −∞, every invocation still has column 0.
      const candidate = select(largest.get().eq(all), first.get(), gpu.constant(u32, 0xffff_ffff));
      const result = team.min(candidate);
      gpu.if(team.lane.eq(0), () => y.set(team.index, result));
    }),
);
