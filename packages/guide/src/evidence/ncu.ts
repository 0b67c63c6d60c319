/** What Nsight Compute counted, beside what the simulator counts of the same launches. */

import * as v from "valibot";
import type { Kept } from "./document.ts";
import { comparisons } from "./ncu-metrics.ts";
import { flag, number, once, positive, text } from "./schema-parts.ts";
import type { HardwareCounter, MeasuredStudy } from "./study.ts";

export type NcuEvidence = Kept<{
  readonly shape: string;
  /** The largest difference that is not flagged, as a share. */
  readonly allowed: number;
  readonly rows: readonly HardwareCounter[];
}>;

export const ncuSchema = ({ rungs }: MeasuredStudy) =>
  v.object({
    shape: text,
    allowed: positive,
    rows: v.pipe(
      v.array(
        v.object({
          rung: v.picklist(rungs.map(({ id }) => id)),
          counter: v.picklist(comparisons.map(({ title }) => title)),
          ncu: v.nullable(number),
          sim: number,
          flagged: flag,
          note: v.nullish(text, null),
        }),
      ),
      once("counter", ({ rung }) => rung),
    ),
  });
