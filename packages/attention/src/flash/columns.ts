/**
 * The head dimension dealt to the lanes of a subgroup: neighbouring lanes have neighbouring runs of columns, so that
 * global accesses coalesce and shared ones spread over the banks.
 */

import type { Gpu, U32 } from "@evolver/kernel";
import type { Geometry } from "./geometry.ts";

export class Columns {
  readonly #gpu: Gpu;
  readonly #geometry: Geometry;

  constructor(gpu: Gpu, geometry: Geometry) {
    this.#gpu = gpu;
    this.#geometry = geometry;
  }

  /** Where each run of this lane starts. Lanes without one in a chunk share the last; what they read is not used. */
  starts(): U32[] {
    const { dim, columns } = this.#geometry;
    return this.#chunks().map((chunk) => {
      const start = this.#start(chunk);
      return this.#isWhole(chunk) ? start : start.min(dim - columns.width);
    });
  }

  /** Runs the body for each chunk, in those lanes that have a run in it. */
  forEach(body: (column: U32, chunk: number) => void): void {
    for (const chunk of this.#chunks()) {
      const start = this.#start(chunk);
      if (this.#isWhole(chunk)) body(start, chunk);
      else this.#gpu.if(start.lt(this.#geometry.dim), () => body(start, chunk));
    }
  }

  #chunks(): number[] {
    return Array.from({ length: this.#geometry.columns.chunks }, (_, chunk) => chunk);
  }

  #start(chunk: number): U32 {
    const { subgroup, columns } = this.#geometry;
    return this.#gpu.lane.mul(columns.width).add(chunk * subgroup * columns.width);
  }

  /** Whether all lanes have a run in the chunk. */
  #isWhole(chunk: number): boolean {
    const { dim, subgroup, columns } = this.#geometry;
    return (chunk + 1) * subgroup * columns.width <= dim;
  }
}
