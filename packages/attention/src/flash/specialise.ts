/** The part of a problem that shapes the kernel's code; all the rest are its arguments. */

import type { AttentionProblem, Mask, Strides } from "../problem.ts";
import { widestVector, type VectorWidth } from "./geometry.ts";

/** How the rows of a tensor may be accessed. */
export interface RowAccess {
  /** Neighbours along the head dimension are neighbours in memory. */
  readonly unitStride: boolean;
  /** The widest access that all rows are aligned for, at most the point's. */
  readonly vector: VectorWidth;
}

/** What a point and its user say of the kernel besides. */
interface Choice {
  readonly vector: number;
  /** Of the sums of a row, besides those of the present block. */
  readonly totals: number;
  readonly writeLse: boolean;
}

export interface Specialisation extends Omit<Choice, "vector"> {
  readonly dim: number;
  readonly mask: Mask["kind"];
  readonly softcap: boolean;
  readonly q: RowAccess;
  readonly k: RowAccess;
  readonly v: RowAccess;
  readonly o: RowAccess;
}

export function specialise(problem: AttentionProblem, { vector, totals, writeLse }: Choice): Specialisation {
  const { shape, mask, softcap, strides } = problem;
  const access = ([batch, head, seq, dim]: Strides): RowAccess => ({
    unitStride: dim === 1,
    vector: dim === 1 ? widestVector(vector, shape.dim, batch, head, seq) : 1,
  });
  return {
    dim: shape.dim,
    mask: mask.kind,
    softcap: softcap > 0,
    writeLse,
    totals,
    q: access(strides.q),
    k: access(strides.k),
    v: access(strides.v),
    o: access(strides.o),
  };
}
