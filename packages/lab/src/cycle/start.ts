/** Where a search begins. */

import { didYouMean, EvolverError } from "@evolver/base";
import type { OpenStudy } from "../study/open-study.ts";
import type { Point } from "../study/point.ts";

/**
 * The point that a search begins with: the study's baseline, or one of its named points.
 *
 * @throws EvolverError UNKNOWN_RUNG
 */
export function startOf(study: OpenStudy, from: string | undefined): Point {
  if (from === undefined) return study.baseline;
  const point = Object.hasOwn(study.named, from) ? study.named[from] : undefined;
  if (point !== undefined) return point;
  const names = Object.keys(study.named);
  throw new EvolverError("UNKNOWN_RUNG", `The study has no point named "${from}" to begin with.`, {
    hint: `${didYouMean(from, names)}Named points that fit this input and device are ${names.join(", ")}`,
  });
}
