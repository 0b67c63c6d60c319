/**
 * y[row] = table[ids[row]]: rows of a table by their index.
 *
 * A team (a workgroup or a subgroup) copies a row, `loads` vectors of `width` in flight in each invocation.
 */

import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import { sweep } from "./support/sweep.ts";
import { eachTeam, teamLaunch, streamTune } from "./support/team.ts";

export const embedding = kernel(
  "embedding",
  {
    params: { table: buffer(f32), ids: buffer(u32), y: buffer(f32, "write"), rows: u32, columns: u32 },
    tune: streamTune,
    variants: {
      fast: { threads: 256, team: "subgroup", width: 4, loads: 8 },
      together: { threads: 128, team: "workgroup", width: 4, loads: 2 },
    },
    sizes: { rows: 32768, columns: 1024, vocabulary: 32768 },
    workgroup: ({ tune }) => [tune.threads],
    example: ({ rows, columns, vocabulary }, choices, build) => ({
      workgroups: teamLaunch(rows, choices, build),
      args: {
        table: vocabulary * columns,
        ids: { length: rows, min: 0, max: vocabulary - 1 },
        y: rows * columns,
        rows,
        columns,
      },
    }),
    reference({ table, ids, rows, columns }) {
      const y = new Float64Array(rows * columns);
      for (const [row, id] of ids.entries())
        y.set(table.subarray(id * columns, (id + 1) * columns), row * columns);
      return { y };
    },
    // Rows of the table that are asked for several times have to be read once.
    work: ({ rows, columns, vocabulary }) => ({
      bytes: 4 * (rows + rows * columns + Math.min(rows, vocabulary) * columns),
    }),
  },
  ({ table, ids, y, rows, columns }, gpu, choices) =>
    eachTeam(gpu, { rows, columns }, choices, (team, base, fitting) => {
      const source = ids.get(team.index).mul(columns);
      sweep(gpu, team, columns, fitting, (piece) => piece.write(y, piece.read(table, source), base));
    }),
);
