/** What a rung of the row ladder is. */

import type { Claim } from "@evolver/device";
import type { RowPoint } from "../point.ts";

export interface RowRung {
  readonly id: string;
  readonly title: string;
  /** What is changed and why, for a reader who knows the rung before. */
  readonly idea: string;
  readonly point: RowPoint;
  /** Other ways to the same end, by name. */
  readonly variants: Readonly<Record<string, RowPoint>>;
  readonly claims: readonly Claim[];
  /** Where the counters say something else than one hears. */
  readonly found: string;
}

/** Bytes of a sector, the least that global memory brings. */
export const SECTOR_BYTES = 32;
