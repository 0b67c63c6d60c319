/** Plots in evidence: as base has them today, and as reports had them before, which kept axes as bare names. */

import * as v from "valibot";
import { valueAxis, type PlotAxis, type PlotSpec } from "@evolver/base";
import { flag, number, text } from "./schema-parts.ts";

const axis: v.GenericSchema<unknown, PlotAxis> = v.variant("kind", [
  v.object({
    kind: v.literal("value"),
    label: text,
    unit: v.nullable(text),
    log: flag,
    from: v.exactOptional(number),
    to: v.exactOptional(number),
  }),
  v.object({ kind: v.literal("category"), label: text, categories: v.array(text) }),
]);

const plot: v.GenericSchema<unknown, PlotSpec> = v.object({
  id: text,
  title: text,
  x: axis,
  y: axis,
  series: v.array(
    v.object({
      kind: v.picklist(["line", "points", "bars", "reference"]),
      name: text,
      points: v.array(
        v.object({
          x: number,
          y: number,
          label: v.exactOptional(text),
          low: v.exactOptional(number),
          high: v.exactOptional(number),
          emphasis: v.exactOptional(flag),
        }),
      ),
      marked: v.exactOptional(flag),
      light: v.exactOptional(flag),
      group: v.exactOptional(text),
    }),
  ),
  notes: v.array(text),
});

/** "bytes" alone is the whole name of an axis; else the unit stood before what it counts: "bytes of shared memory". */
function namedAxis(name: string, log: boolean): PlotAxis {
  if (!name.startsWith("bytes")) return valueAxis(name, null, { log });
  return valueAxis(name.replace(/^bytes( of)? ?/, "") || "footprint", "bytes", { log });
}

const QUANTITIES: Readonly<Record<string, string>> = {
  "GB/s": "bandwidth",
  "GFLOP/s": "throughput",
  ns: "time",
};

const olderPlot = v.pipe(
  v.object({
    id: text,
    title: text,
    x: text,
    y: text,
    logX: flag,
    logY: flag,
    series: v.array(v.object({ name: text, points: v.array(v.tuple([number, number])) })),
  }),
  v.transform(({ id, title, x, y, logX, logY, series }): PlotSpec => {
    const quantity = QUANTITIES[y];
    return {
      id,
      title,
      x: namedAxis(x, logX),
      y: quantity === undefined ? valueAxis(y, null, { log: logY }) : valueAxis(quantity, y, { log: logY }),
      series: series.map(({ name, points }) => ({
        kind: "line",
        name,
        points: points.map(([at, value]) => ({ x: at, y: value })),
      })),
      notes: [],
    };
  }),
);

export const plotSchema = v.union([plot, olderPlot]);
