import { swizzled } from "@evolver/kernel";
import type { TileLayout } from "./layout.ts";

/**
 * The vectors of a key permuted by exclusive or with the key's number: costs no memory, but a few integer operations
 * a read. Perfect only where the vectors a key are a power of two.
 */
export const swizzledLayout: TileLayout = (rows, dim, vector) => swizzled([rows, dim], { vector });
