/**
 * loss = log Σ exp(logits) − logits[label], for each row of logits.
 *
 * A team (a workgroup or a subgroup) reads its row once: each invocation keeps a maximum and a sum relative to it, and rescales the
 * sum when the maximum grows, once per `loads` vectors of `width`.
 */

import { buffer, exp2Flushed, f32, kernel, log, max, u32, type F32 } from "@evolver/kernel";
import { total } from "./support/vectors.ts";
import { sweep } from "./support/sweep.ts";
import { eachTeam, teamLaunch, streamTune } from "./support/team.ts";

/** The lowest number: differences to it are never NaN. */
const LOWEST = -3.4028234663852886e38;

export const crossEntropy = kernel(
  "crossEntropy",
  {
    params: {
      logits: buffer(f32),
      labels: buffer(u32),
      loss: buffer(f32, "write"),
      rows: u32,
      columns: u32,
    },
    tune: streamTune,
    variants: {
      fast: { threads: 512, width: 4, loads: 4 },
      larger: { threads: 1024, width: 4, loads: 4 },
      deeper: { threads: 256, width: 4, loads: 8 },
    },
    sizes: { rows: 2048, columns: 32768 },
    workgroup: ({ tune }) => [tune.threads],
    example: ({ rows, columns }, choices, build) => ({
      workgroups: teamLaunch(rows, choices, build),
      args: {
        logits: rows * columns,
        labels: { length: rows, min: 0, max: columns - 1 },
        loss: rows,
        rows,
        columns,
      },
    }),
    reference({ logits, labels, rows, columns }, round) {
      const loss = new Float64Array(rows);
      for (let row = 0; row < rows; row++) {
        const values = logits.subarray(row * columns, (row + 1) * columns);
        const largest = values.reduce((a, b) => Math.max(a, b), -Infinity);
        const sum = values.reduce((all, value) => round(all + round(Math.exp(round(value - largest)))), 0);
        const logarithm = round(round(Math.log(sum)) + largest);
        loss[row] = round(logarithm - (values[labels[row] as number] as number));
      }
      return { loss };
    },
    work: ({ rows, columns }) => ({ flops: 4 * rows * columns }),
  },
  ({ logits, labels, loss, rows, columns }, gpu, choices) =>
    eachTeam(gpu, { rows, columns }, choices, (team, base, fitting) => {
      const largest = gpu.var(f32, LOWEST);
      const sum = gpu.var(f32, 0);
      const power = (difference: F32): F32 => exp2Flushed(difference.mul(Math.LOG2E));
      sweep(gpu, team, columns, fitting, (piece) => {
        const values = piece.read(logits, base);
        const now = max(largest.get(), ...values);
        const rescaled = sum.get().mul(power(largest.get().sub(now)));
        sum.set(rescaled.add(total(values.map((value) => power(value.sub(now))))));
        largest.set(now);
      });
      const all = team.max(largest.get());
      const logarithm = log(team.sum(sum.get().mul(power(largest.get().sub(all))))).add(all);
      gpu.if(team.lane.eq(0), () => {
        const label = labels.get(team.index);
        loss.set(team.index, logarithm.sub(logits.get(base.add(label))));
      });
    }),
);
