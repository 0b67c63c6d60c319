import { rowMajor } from "@evolver/kernel";
import type { TileLayout } from "./layout.ts";

/**
 * One key after another. Lanes with a key each are `dim` words apart: where that is a multiple of the 32 banks, all
 * of them want the same banks.
 */
export const rowMajorLayout: TileLayout = (rows, dim) => rowMajor([rows, dim]);
