import { padded } from "@evolver/kernel";
import type { TileLayout } from "./layout.ts";

/**
 * An odd number of vectors from key to key, so that neighbouring lanes start at different banks. Costs one vector
 * per key; rows with an odd number of vectors need no padding.
 */
export const paddedLayout: TileLayout = (rows, dim, vector) =>
  padded([rows, dim], (dim / vector) % 2 === 0 ? vector : 0);
