/** The plots of a report, as data: those of its sections, and the roofline of the peaks that several of them measured. */

import { hasPoints, quantity, roofSeries, valueAxis, type PlotSpec } from "@evolver/base";
import type { Section } from "./report.ts";

/** What of a report its plots are made of. */
interface Plotted {
  readonly deviceName: string;
  readonly sections: readonly Pick<Section, "plots" | "figures">[];
}

/** Those that show something: on `sim` nothing is timed, and there is none. */
export function microbenchPlots(report: Plotted): PlotSpec[] {
  const roofline = rooflineOf(report);
  const plots = report.sections.flatMap((section) => section.plots);
  return [...plots, ...(roofline === null ? [] : [roofline])].filter((plot) => hasPoints(plot));
}

/** Of the measured peaks: attainable FLOP/s over FLOPs per byte. Null where either peak was not measured. */
function rooflineOf({ sections, deviceName }: Plotted): PlotSpec | null {
  const figures = sections.flatMap((section) => section.figures);
  const value = (id: string): number | undefined => figures.find((figure) => figure.id === id)?.value;
  const [peak, memory, cache] = [value("fmaPeak"), value("copyGBPerSecond"), value("cacheGBPerSecond")];
  if (peak === undefined || memory === undefined) return null;
  const ridge = peak / memory;
  const roofs = [
    { name: "memory", gbPerSecond: memory },
    ...(cache === undefined ? [] : [{ name: "second-level cache", gbPerSecond: cache }]),
  ];
  return {
    id: "roofline",
    title: `Roofline of ${deviceName}`,
    x: valueAxis("FLOPs per byte", null, { log: true }),
    y: valueAxis("attainable", "GFLOP/s", { log: true }),
    series: roofSeries(peak, roofs, { from: Math.min(0.1, ridge / 100), to: ridge * 30 }),
    notes: [
      `Measured: ${quantity(peak * 1e9, "FLOP/s")}; ${roofs.map(({ name, gbPerSecond }) => `${name} ${quantity(gbPerSecond * 1e9, "B/s")}`).join("; ")}. Memory's ridge is at ${ridge.toPrecision(3)} FLOPs per byte.`,
    ],
  };
}
