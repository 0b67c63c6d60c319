/**
 * What ordering candidates by the cost model saves, replayed from measured times: measurements until a candidate is found
 * that is nearly as fast as the best, with and without predictions. One JSON document on stdout, a table on stderr.
 *
 *     node packages/attention/bench/ordering.ts evidence/h200/cost-model.json [--seeds 40]
 *
 * The pool is the half of the candidates on which the model's constants were not fitted. Candidates are proposed by the
 * lab's random sampler and chosen by the lab; so this says what predictions add to chance, not to a sampler that learns.
 */

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { deriveSeed } from "@evolver/base";
import type { PredictedReport } from "./cost/predict.ts";
import { bestAfter, measurementsUntil, replay, type Measured } from "./cost/replay.ts";

/** Proposals for each measurement; 1 is chance alone. */
const PROPOSALS = [1, 2, 4, 8];
const WITHIN = [0.02, 0.05, 0.1];
/** One cycle's trials by default, and two. */
const BUDGETS = [6, 12];

interface Row {
  readonly shape: string;
  readonly candidates: number;
  readonly proposals: number;
  /** Mean measurements until the best is within 2, 5 and 10 % of the pool's. */
  readonly measurements: readonly number[];
  /** Mean of the best after 6 and 12 measurements over the pool's best. */
  readonly bestAfter: readonly number[];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seeds: { type: "string", default: "40" } },
});
const [file] = positionals;
const seeds = Number(values.seeds);
if (file === undefined || !Number.isInteger(seeds) || seeds < 1) {
  process.stderr.write("usage: node packages/attention/bench/ordering.ts FILE.json [--seeds 40]\n");
  process.exit(2);
}

const parsed = JSON.parse(readFileSync(file, "utf8")) as
  | PredictedReport
  | { readonly result: PredictedReport };
const { shapes, profile, deviceName } = "result" in parsed ? parsed.result : parsed;
const rows: Row[] = [];
for (const { shape, entries } of shapes) {
  const pool = entries.filter(({ half }) => half === "held out");
  for (const proposals of PROPOSALS) rows.push(await rowOf(shape, pool, proposals));
}
process.stderr.write(tableOf(rows));
process.stdout.write(
  `${JSON.stringify({ what: "measurements with and without ordering by the cost model, replayed", deviceName, profile, seeds, within: WITHIN, budgets: BUDGETS, rows }, null, 1)}\n`,
);

async function rowOf(shape: string, pool: readonly Measured[], proposals: number): Promise<Row> {
  const orders: number[][] = [];
  for (let seed = 0; seed < seeds; seed++)
    orders.push(await replay(pool, proposals, deriveSeed(1, shape, seed)));
  const mean = (of: (order: readonly number[]) => number): number =>
    Number((orders.reduce((sum, order) => sum + of(order), 0) / orders.length).toPrecision(4));
  return {
    shape,
    candidates: pool.length,
    proposals,
    measurements: WITHIN.map((within) => mean((order) => measurementsUntil(pool, order, within))),
    bestAfter: BUDGETS.map((budget) => mean((order) => bestAfter(pool, order, budget))),
  };
}

function tableOf(all: readonly Row[]): string {
  const head = [
    "proposals",
    ...WITHIN.map((within) => `until ${within * 100} %`),
    ...BUDGETS.map((budget) => `best of ${budget}`),
  ];
  const line = (cells: readonly string[]): string => cells.map((cell) => cell.padStart(12)).join("");
  return all
    .map((row, k) => {
      const title =
        all[k - 1]?.shape === row.shape
          ? ""
          : `\n${row.shape}, ${row.candidates} candidates\n${line(head)}\n`;
      const best = row.bestAfter.map((ratio) => `${ratio.toFixed(2)}×`);
      return `${title}${line([String(row.proposals), ...row.measurements.map((n) => n.toFixed(1)), ...best])}\n`;
    })
    .join("");
}
