/** The interface of pipelines: a range of keys is cut into tiles, and the pipeline copies and uses each tile. */

import { min, select } from "@evolver/kernel";
import type { Gpu, U32 } from "@evolver/kernel";
import type { Geometry } from "../../geometry.ts";
import type { UIndex } from "../../runs.ts";
import type { Stage, Tile } from "../stage/stage.ts";

/** Keys from `from` on, before `to`; the same for the whole workgroup. */
export interface KeyRange {
  readonly from: UIndex;
  readonly to: U32;
}

/** What the computing subgroups do with a tile of queries. */
interface Computation {
  start(): void;
  /** With each tile of keys in turn. */
  use(tile: Tile): void;
  /** The two halves of `use`, the first with the tile's keys and the second with its values; for tiles of one group. */
  score(tile: Tile): void;
  accumulate(tile: Tile): void;
  finish(): void;
}

export interface Pipeline {
  /** Goes through the range tile by tile. Each tile is in place for all computing invocations while `use` works with it. */
  run(stage: Stage, range: KeyRange, computation: Computation): void;
}

/** Made once per kernel: what it declares lives through all tiles of queries. */
export type PipelineMaker = (gpu: Gpu, geometry: Geometry) => Pipeline;

/** A point on the axis. */
export interface PipelineAxis {
  readonly make: PipelineMaker;
  /** The fewest and the most tiles that shared memory may hold at once. */
  readonly depths: readonly [least: number, most: number];
  /** Subgroups that copy and do not compute. */
  readonly producers: number;
}

/** A range of keys as tiles: how many, and where each begins. */
export class TileRange {
  readonly count: U32;
  readonly #range: KeyRange;
  readonly #rows: number;

  constructor(range: KeyRange, rows: number) {
    this.#range = range;
    this.#rows = rows;
    const { from, to } = range;
    const keys = typeof from === "number" && from === 0 ? to : select(to.gt(from), to.sub(from), 0);
    this.count = keys.add(rows - 1).divTrunc(rows);
  }

  /** Tile i; one beyond the last has no keys. */
  at(i: UIndex): { readonly base: U32; readonly count: U32 } {
    const { from, to } = this.#range;
    const start = typeof i === "number" ? i * this.#rows : i.mul(this.#rows);
    const base = typeof start === "number" ? to.mul(0).add(start).add(from) : start.add(from);
    return { base, count: min(select(to.gt(base), to.sub(base), 0), this.#rows) };
  }
}
