/** The layout axis: how the tile of K, which lanes read with one key each, lies in shared memory. */

import type { Layout } from "@evolver/kernel";

/** Lays out `rows` keys of `dim` elements that are read `vector` elements at a time. */
export type TileLayout = (rows: number, dim: number, vector: 1 | 2 | 4) => Layout;
