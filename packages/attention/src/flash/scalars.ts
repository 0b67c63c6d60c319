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
  /** Multiplies q when it is read: the sign of the scale, so that larger dot products are larger scores. */
  querySign: f32,
  /** |scale| / softcap: the dot product becomes tanh's argument; unused without softcap. */
  capFactor: f32,
  /** Raw scores (dot products, or tanh of them) times this are scores: |scale| or softcap. */
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

export type Scalars = Values<typeof scalarParams> & (Values<typeof queueParams> | object);
export type ScalarSymbols = Symbols<typeof scalarParams>;

/** The arguments of a launch, but for what its schedule adds. */
export function scalarsOf(problem: AttentionProblem, headTiles: number): Values<typeof scalarParams> {
  const { shape, mask, softcap, scale } = problem;
  const factor = softcap > 0 ? softcap : Math.abs(scale);
  // A window that reaches beyond both sequences sees everything; so clamped, positions stay in 32 bits.
  const reach = (keys: number): number => Math.min(keys, shape.seqQ + shape.seqK);
  return {
    headsQ: shape.headsQ,
    headGroup: shape.headsKv === 0 ? 1 : Math.max(1, shape.headsQ / shape.headsKv),
    seqQ: shape.seqQ,
    seqK: shape.seqK,
    headTiles,
    left: mask.kind === "window" ? reach(mask.left) : 0,
    right: mask.kind === "window" ? reach(mask.right) : 0,
    querySign: scale < 0 ? -1 : 1,
    capFactor: softcap > 0 ? Math.fround(Math.abs(scale) / softcap) : 0,
    scoreFactor: Math.fround(factor),
    scoreFactorLog2: Math.fround(factor * Math.LOG2E),
    ...strideArguments("q", problem.strides.q),
    ...strideArguments("k", problem.strides.k),
    ...strideArguments("v", problem.strides.v),
    ...strideArguments("o", problem.strides.o),
  };
}

function strideArguments<T extends string>(tensor: T, [batch, head, seq, dim]: Strides) {
  return {
    [`${tensor}Batch`]: batch,
    [`${tensor}Head`]: head,
    [`${tensor}Seq`]: seq,
    [`${tensor}Dim`]: dim,
  } as { readonly [K in `${T}${"Batch" | "Head" | "Seq" | "Dim"}`]: number };
}
