import { swizzled } from "@evolver/kernel";
import type { TileLayout } from "./layout.ts";

/**
 * The vectors of a key permuted by exclusive or with the key's number: costs no memory, but a few integer operations
 * per read. Perfect only where the number of vectors per key is a power of two.
 */
export const swizzledLayout: TileLayout = (rows, dim, vector) => swizzled([rows, dim], { vector });
