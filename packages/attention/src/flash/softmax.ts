/**
 * Softmax of one row, online: keys come in groups, and what was summed so far is rescaled when a larger score
 * appears. Scores are raw; `factor` turns them into exponents of 2.
 */

import { exp2Flushed, f32, max, mul, select } from "@evolver/kernel";
import type { Bool, F32, Gpu, Var } from "@evolver/kernel";
import type { LaneGrid } from "./grid.ts";

/** The largest finite f32, negated: below every score, but finite, so that differences are never NaN. */
const LOWEST = -3.4028234663852886e38;

export class OnlineSoftmax {
  readonly #gpu: Gpu;
  readonly #factor: F32;
  readonly #grid: LaneGrid;
  /** The largest raw score that any of these lanes saw; the same in all of them. */
  readonly #maximum: Var<"f32">;
  /** The sum over the keys that this lane scored; lanes are added up once, at the end. */
  readonly #sum: Var<"f32">;

  constructor(gpu: Gpu, factor: F32, grid: LaneGrid) {
    this.#gpu = gpu;
    this.#factor = factor;
    this.#grid = grid;
    this.#maximum = gpu.var(f32, LOWEST, "maximum");
    this.#sum = gpu.var(f32, 0, "sum");
  }

  /**
   * Takes this lane's scores of a group of keys. The probability of an invisible key is set to 0 by a select, not by giving
   * it a very low score, because a visible key may have a score just as low.
   *
   * @param visible whether the key of each score is visible; null if all are
   * @returns unnormalised probabilities relative to the present maximum, and what to multiply earlier sums with
   */
  update(scores: readonly F32[], visible: readonly Bool[] | null): { probabilities: F32[]; rescale: F32 } {
    const before = this.#maximum.get();
    const where = (slot: number, value: F32, otherwise: number): F32 =>
      visible === null ? value : select(visible[slot] as Bool, value, otherwise);
    const candidates = scores.map((score, slot) => where(slot, score, LOWEST));
    const now = this.#rowMaximum(max(candidates[0] as F32, ...candidates.slice(1))).max(before);
    const rescale = exp2Flushed(mul(before.sub(now), this.#factor));
    const probabilities = scores.map((score, slot) =>
      where(slot, exp2Flushed(score.sub(now).mul(this.#factor)), 0),
    );
    this.#maximum.set(now);
    this.#sum.set(
      probabilities.reduce((sum, probability) => sum.add(probability), this.#sum.get().mul(rescale)),
    );
    return { probabilities, rescale };
  }

  /** The sum over all keys, in all lanes of the row; 0 for a row that saw none. */
  total(): F32 {
    const sum = this.#sum.get();
    if (this.#grid.rowLane === 0) return this.#gpu.subgroup.sum(sum);
    return this.#butterfly(sum, (a, b) => a.add(b));
  }

  maximum(): F32 {
    return this.#maximum.get();
  }

  #rowMaximum(value: F32): F32 {
    if (this.#grid.rowLane === 0) return this.#gpu.subgroup.max(value);
    return this.#butterfly(value, (a, b) => a.max(b));
  }

  #butterfly(value: F32, combine: (a: F32, b: F32) => F32): F32 {
    return this.#grid.distances.reduce(
      (combined, distance) => combine(combined, this.#gpu.subgroup.shuffleXor(combined, distance)),
      value,
    );
  }
}
