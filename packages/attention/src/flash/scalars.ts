/** The scalar parameters of the kernel, and their values for a problem. */

import { f32, i32, u32 } from "@evolver/kernel";
import type { Symbols } from "@evolver/kernel";
import type { AttentionProblem, Strides } from "../problem.ts";

const strides = <T extends string>(tensor: T) =>
  ({
    [`${tensor}Batch`]: u32,
    [`${tensor}Head`]: u32,
    [`${tensor}Seq`]: u32,
    [`${tensor}Dim`]: u32,
  }) as { readonly [K in `${T}${"Batch" | "Head" | "Seq" | "Dim"}`]: typeof u32 };

export const scalarParams = {
  headsQ: u32,
  /** Query heads that share a key head. */
  headGroup: u32,
  seqQ: u32,
  seqK: u32,
  /** Tiles of query rows in one head: a query head, or a key head where the rows of its group are packed. */
  headTiles: u32,
  /** Keys that a window reaches before and after the query's position; unused without a window. */
  left: i32,
  right: i32,
  /**
   * Multiplies q when it is read. Its sign is the scale's, so that larger dot products are larger scores. Its magnitude is the
   * part of the scale that keeps dot products from overflowing where scores do not: a power of 2, which rounds nothing.
   */
  queryFactor: f32,
  /** The rest of |scale| / softcap: the dot product becomes tanh's argument; unused without softcap. */
  capFactor: f32,
  /** Raw scores (dot products, or tanh of them) times this are scores: the rest of |scale|, or softcap. */
  scoreFactor: f32,
  /** The same in units of log₂e, for exp2. */
  scoreFactorLog2: f32,
  ...strides("q"),
  ...strides("k"),
  ...strides("v"),
  ...strides("o"),
} as const;

/** What kernels whose workgroups take one tile after another have besides. */
export const queueParams = {
  /** Tiles to compute: those of the whole problem. */
  tileCount: u32,
  /** Heads that have them. */
  tileHeads: u32,
  /** Heads whose tiles are handed out together, where the order matters. */
  sectionHeads: u32,
} as const;

type Values<P> = { readonly [K in keyof P]: number };

/** The values of the scalar parameters. */
export type Scalars = Values<typeof scalarParams> & (Values<typeof queueParams> | object);
export type ScalarSymbols = Symbols<typeof scalarParams>;

/** The arguments of a launch, but for what its schedule adds. */
export function scalarsOf(problem: AttentionProblem, headTiles: number): Values<typeof scalarParams> {
  const { shape, mask, softcap, scale } = problem;
  const size = Math.abs(scale);
  const early = earlyFactor(softcap > 0 ? size / softcap : size);
  const factor = softcap > 0 ? softcap : early > 0 ? size / early : 1;
  return {
    headsQ: shape.headsQ,
    headGroup: shape.headsKv === 0 ? 1 : Math.max(1, shape.headsQ / shape.headsKv),
    seqQ: shape.seqQ,
    seqK: shape.seqK,
    headTiles,
    // A window that reaches further than any key is away from any position sees everything on that side.
    left: mask.kind === "window" ? Math.min(mask.left, shape.seqK) : 0,
    right: mask.kind === "window" ? Math.min(mask.right, shape.seqQ) : 0,
    queryFactor: scale < 0 ? -early : early,
    capFactor: softcap > 0 && early > 0 ? Math.fround(size / softcap / early) : 0,
    scoreFactor: Math.fround(factor),
    scoreFactorLog2: Math.fround(factor * Math.LOG2E),
    ...strideArguments("q", problem.strides.q),
    ...strideArguments("k", problem.strides.k),
    ...strideArguments("v", problem.strides.v),
    ...strideArguments("o", problem.strides.o),
  };
}

/** The smallest power of 2 that f32 has in full precision: where less is rounded to zero, no factor may be. */
const SMALLEST = 2 ** -126;
/** Half of a factor from here on, times log₂e, is an f32; smaller ones are so themselves. */
const LARGE = 2 ** 127;

/**
 * The part of a factor that q is multiplied with, before the dot product instead of after: the largest power of 2 in it, but no more
 * than 1, so that dot products are no larger than they would be either way. All of a factor of 0. Of the largest factors, it is 2:
 * the rest times log₂e would overflow, and dot products stay far smaller than scores.
 */
function earlyFactor(factor: number): number {
  if (factor === 0) return 0;
  if (factor >= LARGE) return 2;
  return Math.min(1, Math.max(SMALLEST, 2 ** Math.floor(Math.log2(factor))));
}

function strideArguments<T extends string>(tensor: T, [batch, head, seq, dim]: Strides) {
  return {
    [`${tensor}Batch`]: batch,
    [`${tensor}Head`]: head,
    [`${tensor}Seq`]: seq,
    [`${tensor}Dim`]: dim,
  } as { readonly [K in `${T}${"Batch" | "Head" | "Seq" | "Dim"}`]: number };
}
