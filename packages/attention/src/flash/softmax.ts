/**
 * Softmax, online: keys come in groups, and what was summed so far of a row is rescaled when a larger score appears. Scores are
 * raw; `factor` turns them into exponents of 2.
 */

import { exp2Flushed, max, mul, select } from "@evolver/kernel";
import type { Bool, F32, Gpu } from "@evolver/kernel";
import type { LaneGrid } from "./grid.ts";
import { LOWEST, type Sums } from "./sums.ts";

export class OnlineSoftmax {
  readonly #gpu: Gpu;
  readonly #factor: F32;
  readonly #grid: LaneGrid;

  /** @param factor turns differences of raw scores into exponents of 2 */
  constructor(gpu: Gpu, factor: F32, grid: LaneGrid) {
    this.#gpu = gpu;
    this.#factor = factor;
    this.#grid = grid;
  }

  /**
   * Takes this lane's scores of a group of keys into a row's maximum and sum. The probability of an invisible key is set to 0 by a select, not by giving
   * it a very low score, because a visible key may have a score just as low.
   *
   * @param visible whether the key of each score is visible; null if all are
   * @returns unnormalised probabilities relative to the present maximum, and what to multiply earlier sums with
   */
  update(
    { maximum, sum }: Sums,
    scores: readonly F32[],
    visible: readonly Bool[] | null,
  ): { probabilities: F32[]; rescale: F32 } {
    const before = maximum.get();
    const where = (slot: number, value: F32, otherwise: number): F32 =>
      visible === null ? value : select(visible[slot] as Bool, value, otherwise);
    const candidates = scores.map((score, slot) => where(slot, score, LOWEST));
    const now = this.#rowMaximum(max(candidates[0] as F32, ...candidates.slice(1))).max(before);
    const rescale = exp2Flushed(mul(before.sub(now), this.#factor));
    const probabilities = scores.map((score, slot) =>
      where(slot, exp2Flushed(score.sub(now).mul(this.#factor)), 0),
    );
    maximum.set(now);
    sum.set(probabilities.reduce((all, probability) => all.add(probability), sum.get().mul(rescale)));
    return { probabilities, rescale };
  }

  /** The sum over all keys, in all lanes of the row; 0 for a row that saw none. */
  total(sum: F32): F32 {
    if (this.#grid.rowLane === 0) return this.#gpu.subgroup.sum(sum);
    return this.#butterfly(sum, (a, b) => a.add(b));
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
