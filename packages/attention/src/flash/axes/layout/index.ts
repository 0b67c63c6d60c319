/** The layout axis: how the tile of K, which lanes read with one key each, lies in shared memory. */

import { paddedLayout } from "./padded.ts";
import { rowMajorLayout } from "./row-major.ts";
import { swizzledLayout } from "./swizzled.ts";
import type { TileLayout } from "./layout.ts";

export const layouts = {
  "row-major": rowMajorLayout,
  padded: paddedLayout,
  swizzled: swizzledLayout,
} as const satisfies Record<string, TileLayout>;
