/**
 * Inclusive sums along each row.
 *
 * A team (a workgroup or a subgroup) has a row. It takes as much of it as its invocations hold in `loads` vectors of `width`, and
 * goes on with what that adds up to.
 */

import { buffer, f32, kernel, u32, type Bool } from "@evolver/kernel";
import { scanTile, tileLength, writeTile } from "./support/scan.ts";
import { streamTune, teamLaunch, teamOf } from "./support/team.ts";

export const cumsumRows = kernel(
  "cumsumRows",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), rows: u32, columns: u32 },
    tune: streamTune,
    variants: {
      fast: { threads: 256, width: 4, loads: 4 },
      alone: { threads: 128, team: "subgroup", width: 4, loads: 8 },
    },
    sizes: { rows: 8192, columns: 4096 },
    workgroup: ({ tune }) => [tune.threads],
    example: ({ rows, columns }, choices, build) => ({
      workgroups: teamLaunch(rows, choices, build),
      args: { x: rows * columns, y: rows * columns, rows, columns },
    }),
    reference({ x, columns }, round) {
      const y = new Float64Array(x.length);
      for (const [i, value] of x.entries())
        y[i] = i % columns === 0 ? value : round((y[i - 1] as number) + value);
      return { y };
    },
    work: ({ rows, columns }) => ({ flops: rows * columns }),
  },
  ({ x, y, rows, columns }, gpu, choices) => {
    const team = teamOf(gpu, choices.team);
    gpu.if(team.index.lt(rows), () => {
      const base = team.index.mul(columns);
      const carry = gpu.var(f32, 0);
      gpu.for({ from: 0, to: columns, step: tileLength(team.lanes, choices) }, (first) => {
        const isWhole = (): Bool => columns.and(choices.width - 1).eq(0);
        const stretch = { start: base.add(first), left: columns.sub(first), isWhole };
        const tile = scanTile(gpu, choices.team, x, stretch, choices);
        writeTile(gpu, tile, y, stretch, carry.get());
        carry.add(tile.total);
      });
    });
  },
);
