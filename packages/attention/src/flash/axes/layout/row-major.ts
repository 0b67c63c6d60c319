import { rowMajor } from "@evolver/kernel";
import type { TileLayout } from "./layout.ts";

/**
 * One key after another. Lanes that read one key each are `dim` words apart. Where that is a multiple of the 32 banks,
 * all lanes access the same banks.
 */
export const rowMajorLayout: TileLayout = (rows, dim) => rowMajor([rows, dim]);
