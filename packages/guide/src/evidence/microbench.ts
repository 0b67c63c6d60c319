/** What the microbenchmarks measured of the machine by itself. */

import * as v from "valibot";
import type { PlotSpec } from "@evolver/base";
import type { Kept } from "./document.ts";
import { plotSchema } from "./plot.ts";
import { flag, measured, number, text } from "./schema-parts.ts";

export interface MeasuredFigure {
  readonly section: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

export type MicrobenchEvidence = Kept<{
  readonly deviceName: string;
  /** By their ids. */
  readonly figures: ReadonlyMap<string, MeasuredFigure>;
  readonly plots: readonly PlotSpec[];
  readonly verified: boolean;
}>;

/** Null is what was not measured. */
export interface MeasuredRoofs {
  readonly peakGflops: number | null;
  readonly memoryGBPerSecond: number | null;
  readonly cacheGBPerSecond: number | null;
}

export const microbenchSchema = v.pipe(
  v.object({
    timeKind: measured,
    deviceName: text,
    verified: flag,
    sections: v.array(
      v.object({
        title: text,
        plots: v.optional(v.array(plotSchema), []),
        figures: v.array(v.object({ id: text, name: text, value: number, unit: text })),
      }),
    ),
  }),
  v.transform(({ deviceName, verified, sections }) => ({
    deviceName,
    verified,
    plots: sections.flatMap(({ plots }) => plots),
    figures: new Map(
      sections.flatMap(({ title, figures }) =>
        figures.map(({ id, name, value, unit }): [string, MeasuredFigure] => [
          id,
          { section: title, name, value, unit },
        ]),
      ),
    ),
  })),
);

/** Figures that a roofline needs; a report of other tests has none of them. */
export function roofsOf({ figures }: MicrobenchEvidence): MeasuredRoofs {
  const value = (id: string): number | null => {
    const measuredValue = figures.get(id)?.value ?? 0;
    return measuredValue > 0 ? measuredValue : null;
  };
  return {
    peakGflops: value("fmaPeak"),
    memoryGBPerSecond: value("copyGBPerSecond"),
    cacheGBPerSecond: value("cacheGBPerSecond"),
  };
}
