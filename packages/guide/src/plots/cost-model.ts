/** Predicted over measured times, both logarithmic, with the diagonal and a band around it. */

import { valueAxis, type PlotSeries, type PlotSpec } from "@evolver/base";
import type { CostModelEvidence } from "../evidence/cost-model.ts";

const BAND = 1.25;

export function costModelPlot({ shapes, deviceName, profile }: CostModelEvidence): PlotSpec {
  const times = shapes.flatMap(({ entries }) => entries.flatMap((e) => [e.measuredMs, e.predictedMs]));
  const [low, high] = [Math.min(...times) / 1.3, Math.max(...times) * 1.3];
  const diagonal = (factor: number): PlotSeries => ({
    kind: "reference",
    name: factor === 1 ? "as measured" : "25 % off",
    light: factor !== 1,
    group: "diagonal",
    points: [
      { x: low * Math.max(1, 1 / factor), y: low * Math.max(1, factor) },
      { x: high / Math.max(1, factor), y: high * Math.min(1, factor) },
    ],
  });
  return {
    id: "cost-model",
    title: `The cost model on ${deviceName}`,
    x: valueAxis("measured", "ms", { log: true }),
    y: valueAxis("predicted", "ms", { log: true }),
    series: [
      diagonal(1),
      diagonal(BAND),
      diagonal(1 / BAND),
      ...shapes.flatMap(({ shape, entries }) =>
        (["held out", "fitted"] as const).map((half): PlotSeries => ({
          kind: "points",
          name: half === "fitted" ? "" : shape,
          group: shape,
          light: half === "fitted",
          points: entries
            .filter((entry) => entry.half === half)
            .map(({ measuredMs, predictedMs }) => ({ x: measuredMs, y: predictedMs })),
        })),
      ),
    ],
    notes: [`Machine profile: ${profile}. Filled: held out; hollow: what constants were fitted on.`],
  };
}
