/**
 * y = a·x, of a matrix and a vector.
 *
 * A team (a workgroup or a subgroup) has a row, with `loads` vectors of it in flight in each invocation. The vector x stays in the
 * caches.
 */

import { buffer, f32, fma, kernel, u32, type F32 } from "@evolver/kernel";
import { eachTeam, teamLaunch, streamTune } from "./support/team.ts";
import { sweep } from "./support/sweep.ts";

export const matvec = kernel(
  "matvec",
  {
    params: { a: buffer(f32), x: buffer(f32), y: buffer(f32, "write"), rows: u32, columns: u32 },
    tune: streamTune,
    variants: {
      fast: { threads: 256, width: 4, loads: 8 },
      alone: { threads: 256, team: "subgroup", width: 4, loads: 8 },
    },
    sizes: { rows: 8192, columns: 8192 },
    workgroup: ({ tune }) => [tune.threads],
    example: ({ rows, columns }, choices, build) => ({
      workgroups: teamLaunch(rows, choices, build),
      args: { a: rows * columns, x: columns, y: rows, rows, columns },
    }),
    reference({ a, x, rows, columns }, round) {
      const y = Float64Array.from({ length: rows }, (_, row) =>
        x.reduce((sum, value, k) => round(sum + round((a[row * columns + k] as number) * value)), 0),
      );
      return { y };
    },
    work: ({ rows, columns }) => ({ flops: 2 * rows * columns }),
  },
  ({ a, x, y, rows, columns }, gpu, choices) =>
    eachTeam(gpu, { rows, columns }, choices, (team, base, fitting) => {
      // Neighbours go to sums of their own, so that additions wait less for each other.
      const own = gpu.registers(f32, 4, 0);
      sweep(gpu, team, columns, fitting, (piece) => {
        const [row, factors] = [piece.read(a, base), piece.read(x)];
        for (const [k, value] of row.entries()) own.set(k % 4, fma(value, factors[k] as F32, own.get(k % 4)));
      });
      const sum = own
        .get(0)
        .add(own.get(1))
        .add(own.get(2).add(own.get(3)));
      const all = team.sum(sum);
      gpu.if(team.lane.eq(0), () => y.set(team.index, all));
    }),
);
