/** What a rung of the row ladder is. */

import type { Rung } from "@evolver/device";
import type { RowPoint } from "../point.ts";

/** A step of the ladder. */
export type RowRung = Rung<RowPoint>;
