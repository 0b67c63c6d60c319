/** What the two kinds of memory in WGSL have in common: arrays of vectors (vectors.ts), arrays of packed words (packed.ts). */

import type { Memory } from "../../ir/types.ts";
import type { MemoryAccess } from "../core/target.ts";

/** How the arrays of a kernel are declared, and how they are accessed. */
export interface WgslMemory extends MemoryAccess {
  /** The type of a memory's array; `length` in elements, or null for a buffer. */
  arrayType(memory: Memory, length: number | null): string;
  /** The size of an element of that array. */
  bytesOf(memory: Memory): number;
}
