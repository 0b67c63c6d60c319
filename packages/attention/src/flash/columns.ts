/**
 * The head dimension distributed over neighbouring lanes: each has runs of neighbouring columns, so that global accesses
 * coalesce and shared ones spread over the banks.
 */

import type { Gpu, U32 } from "@evolver/kernel";
import type { ColumnRuns } from "./geometry.ts";

export class Columns {
  readonly #gpu: Gpu;
  readonly #dim: number;
  readonly #runs: ColumnRuns;
  readonly #lane: U32;

  /** @param lane the lane's place among those that share the columns; by default its number in the subgroup */
  constructor(gpu: Gpu, dim: number, runs: ColumnRuns, lane?: U32) {
    this.#gpu = gpu;
    this.#dim = dim;
    this.#runs = runs;
    this.#lane = lane ?? (runs.lanes === gpu.subgroupSize ? gpu.lane : gpu.lane.remTrunc(runs.lanes));
  }

  /** Where each run of this lane starts. Lanes without one in a chunk share the last; what they read is not used. */
  starts(): U32[] {
    return this.#chunks().map((chunk) => {
      const start = this.#start(chunk);
      return this.#isWhole(chunk) ? start : start.min(this.#dim - this.#runs.width);
    });
  }

  /** Runs the body for each chunk, in those lanes that have a run in it. */
  forEach(body: (column: U32, chunk: number) => void): void {
    for (const chunk of this.#chunks()) {
      const start = this.#start(chunk);
      if (this.#isWhole(chunk)) body(start, chunk);
      else this.#gpu.if(start.lt(this.#dim), () => body(start, chunk));
    }
  }

  #chunks(): number[] {
    return Array.from({ length: this.#runs.chunks }, (_, chunk) => chunk);
  }

  #start(chunk: number): U32 {
    const { width, lanes } = this.#runs;
    return this.#lane.mul(width).add(chunk * lanes * width);
  }

  /** Whether all lanes have a run in the chunk. */
  #isWhole(chunk: number): boolean {
    const { width, lanes } = this.#runs;
    return (chunk + 1) * lanes * width <= this.#dim;
  }
}
