/** Problems for tests, from as little as a test wants to say. */

import { denseProblemStrides } from "@evolver/attention";
import type { AttentionProblem, AttentionShape, Mask } from "@evolver/attention";

export interface ProblemOptions {
  readonly mask?: Mask;
  readonly scale?: number;
  readonly softcap?: number;
}

export function denseProblem(shape: AttentionShape, options: ProblemOptions = {}): AttentionProblem {
  return {
    shape,
    mask: options.mask ?? { kind: "full" },
    scale: options.scale ?? Math.fround(1 / Math.sqrt(shape.dim)),
    softcap: options.softcap ?? 0,
    strides: denseProblemStrides(shape),
  };
}

/** One batch, `heads` heads for both queries and keys. */
export function squareShape(heads: number, seqQ: number, seqK: number, dim: number): AttentionShape {
  return { batch: 1, headsQ: heads, headsKv: heads, seqQ, seqK, dim };
}
