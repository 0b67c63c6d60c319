/** What a rung of the row ladder is. */

import type { Rung } from "@evolver/device";
import type { RowPoint } from "../point.ts";

export type RowRung = Rung<RowPoint>;
