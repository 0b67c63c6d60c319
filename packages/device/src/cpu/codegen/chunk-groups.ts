/**
 * In which order a loop's iterations and the chunks of four lanes follow each other. Usually each iteration is written for all
 * chunks. A loop that computes in more variables than a processor has registers for all chunks runs to its end for some
 * chunks first and for the others then: its lanes have to be on their own for that.
 */

import type { ForNode } from "@evolver/kernel";
import { isStraight } from "../analysis/node-classes.ts";
import type { ChunkRange, Emitter } from "./emitter.ts";

/** Vectors that a loop may change and still have registers left for what it reads, of the 16 that x86 processors have. */
const MAX_ACCUMULATORS = 10;

/** Ranges of chunks to write a loop for, one after another. */
export function chunkGroups(e: Emitter, node: ForNode): readonly ChunkRange[] {
  const { first, end } = e.range;
  const variables = privateVariables(e, node);
  let size = end - first;
  if (variables > 0) while (size > 1 && size * variables > MAX_ACCUMULATORS) size /= 2;
  return Array.from({ length: (end - first) / size }, (_, k) => ({
    first: first + k * size,
    end: first + (k + 1) * size,
  }));
}

/** Variables that the loop's lanes change, each its own; 0 where the loop does anything else that can be seen outside. */
function privateVariables(e: Emitter, node: ForNode): number {
  if (e.divergence.divergentLoops.has(node)) return 0;
  const own = new Set<number>();
  const changed = new Set<number>();
  for (const inner of node.body.nodes) {
    if (!isStraight(inner) || inner.kind === "store") return 0;
    if (inner.kind === "var") own.add(inner.variable.id);
    if (inner.kind !== "varSet" || own.has(inner.variable.id)) continue;
    if (e.divergence.variable(inner.variable.id).kind !== "varying") return 0;
    changed.add(inner.variable.id);
  }
  return changed.size;
}
