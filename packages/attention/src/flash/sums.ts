/**
 * What a lane has summed up of a query row, in blocks of keys. A float32 sum of n terms one after another may be off by n
 * roundings, and where the terms are equal so are their roundings. So what a block adds up to goes to a total, and the next block
 * begins at zero. The total of 256 blocks goes to another total, and so on. (Blanchard, Higham and Mary 2020, "A class of fast
 * and accurate summation algorithms".)
 */

import { exp2Flushed, f32, fma, mul } from "@evolver/kernel";
import type { F32, Gpu, RegisterArray, U32, Var } from "@evolver/kernel";
import type { AttentionProblem } from "../problem.ts";

/** Terms that are added one after another: keys of a block where registers do not ask for less, and blocks of a total. */
export const LONGEST_SUM = 256;

/** The largest finite f32, negated: below every score, but finite, so that differences are never NaN. */
export const LOWEST = -3.4028234663852886e38;

export interface Sums {
  /** The raw score that the sums are relative to: the largest so far; the same in all lanes of the row. */
  readonly maximum: Var<"f32">;
  /** Of the probabilities of the keys that this lane scored; lanes are added up once, at the end. */
  readonly sum: Var<"f32">;
  /** Of the values times their probabilities, for the columns of this lane. */
  readonly output: RegisterArray<"f32">;
}

/** The most keys that a row of a problem sees. */
export const longestRow = ({ shape: { seqK }, mask }: AttentionProblem): number =>
  mask.kind === "window" ? Math.min(seqK, mask.left + mask.right + 1) : seqK;

/**
 * How many totals a row needs, besides the sums of the present block; none where it is short.
 *
 * @param keys of the row
 * @param blockKeys keys in a block
 */
export function totalsFor(keys: number, blockKeys: number): number {
  if (keys <= LONGEST_SUM) return 0;
  let totals = 0;
  for (let reach = blockKeys; reach < keys; reach *= LONGEST_SUM) totals++;
  return totals;
}

/** The sums of a row: those of the present block first, then totals of ever more blocks. */
export class BlockedSums {
  readonly #factor: F32;
  /** The present block, then totals. */
  readonly levels: readonly Sums[];

  /**
   * @param factor turns differences of raw scores into exponents of 2
   * @param totals besides the present block
   */
  constructor(gpu: Gpu, factor: F32, columns: number, totals: number) {
    this.#factor = factor;
    this.levels = Array.from({ length: 1 + totals }, (_, level) => ({
      maximum: gpu.var(f32, LOWEST, level === 0 ? "maximum" : "total_maximum"),
      sum: gpu.var(f32, 0, level === 0 ? "sum" : "total_sum"),
      output: gpu.registers(f32, columns, 0),
    }));
  }

  /** Of the present block. */
  get block(): Sums {
    return this.levels[0] as Sums;
  }

  /** All sums together. */
  finish(): Sums {
    for (let level = 0; level + 1 < this.levels.length; level++) this.carry(level);
    return this.levels.at(-1) as Sums;
  }

  /** Adds what a level holds to the next, and empties it. */
  carry(level: number): void {
    const [part, total] = this.levels.slice(level) as [Sums, Sums];
    const now = part.maximum.get();
    const rescale = exp2Flushed(mul(total.maximum.get().sub(now), this.#factor));
    total.maximum.set(now);
    total.sum.set(fma(total.sum.get(), rescale, part.sum.get()));
    part.sum.set(0);
    for (let c = 0; c < part.output.length; c++) {
      total.output.set(c, fma(total.output.get(c), rescale, part.output.get(c)));
      part.output.set(c, 0);
    }
  }
}

/** After some tiles of the keys of some rows, carries over what ends there. */
export function carryBlocks(
  gpu: Gpu,
  rows: readonly BlockedSums[],
  {
    keys,
    tileKeys,
    blockKeys,
  }: { readonly keys: U32; readonly tileKeys: number; readonly blockKeys: number },
): void {
  const carryFrom = (level: number): void => {
    if (rows.every(({ levels }) => level + 1 === levels.length)) return;
    const act = (): void => {
      for (const row of rows) row.carry(level);
      carryFrom(level + 1);
    };
    const each = blockKeys * LONGEST_SUM ** level;
    if (each === tileKeys) act();
    else gpu.if(keys.remTrunc(each).eq(0), act);
  };
  carryFrom(0);
}
