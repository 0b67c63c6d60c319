/** The plots of a folder of evidence, made from its data alone. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { hasPoints, type PlotSpec } from "@evolver/base";
import { readMachineEvidence } from "../evidence/read-folder.ts";
import { readKeptRecords } from "../evidence/records.ts";
import type { MeasuredStudy } from "../evidence/study.ts";
import { costModelPlot } from "./cost-model.ts";
import { microbenchPlotsOf } from "./microbench.ts";
import { trialsPlot } from "./trials.ts";

export { rooflinePlot, speedPlot } from "./ladder.ts";

/**
 * By the file that each belongs to, from the folder: "microbench/streams.svg".
 *
 * @throws EvolverError EVIDENCE_NOT_FOUND, EVIDENCE_INVALID
 */
export function evidencePlots(folder: string, study: MeasuredStudy): ReadonlyMap<string, PlotSpec> {
  const { microbench, costModel } = readMachineEvidence(folder, study);
  const evolutions = join(folder, "evolution");
  const names = existsSync(evolutions) ? readdirSync(evolutions).toSorted() : [];
  const plots: readonly (readonly [string, PlotSpec | null])[] = [
    ...(microbench === null ? [] : microbenchPlotsOf(microbench)).map(
      (plot) => [`microbench/${plot.id}.svg`, plot] as const,
    ),
    ["cost-model.svg", costModel === null ? null : costModelPlot(costModel)],
    ...names.map(
      (name) =>
        [`evolution/${name}/trials.svg`, trialsPlot(readKeptRecords(join(evolutions, name)), name)] as const,
    ),
  ];
  return new Map(plots.flatMap(([file, plot]) => (plot !== null && hasPoints(plot) ? [[file, plot]] : [])));
}
