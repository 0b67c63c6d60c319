/** The plots of kept microbenchmarks: those of the report, and the roofline of its figures. */

import type { PlotSpec } from "@evolver/base";
import { microbenchPlots } from "@evolver/machine";
import type { MicrobenchEvidence } from "../evidence/microbench.ts";

export function microbenchPlotsOf({ deviceName, figures, plots }: MicrobenchEvidence): PlotSpec[] {
  const all = [...figures].map(([id, { name, value, unit }]) => ({ id, name, value, unit }));
  return microbenchPlots({ deviceName, sections: [{ plots, figures: all }] });
}
