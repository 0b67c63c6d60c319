/** The stage axis: where the lanes read K and V from. */

import type { F32, Gpu, U32, View } from "@evolver/kernel";
import type { Crew } from "../../copy.ts";
import type { Geometry } from "../../geometry.ts";
import type { UIndex } from "../../runs.ts";
import type { RowAccess } from "../../specialise.ts";

/** Some consecutive keys and their values, as lanes read them. Rows count from the tile's first key. */
export interface Tile {
  /** The first key. */
  readonly base: U32;
  /** Keys that exist, at least one; a tile at the end of the range may have fewer than others. */
  readonly count: U32;
  /** Rows of values that may be read: all of a tile whose missing rows hold zeros, else only those that exist. */
  readonly readableRows: UIndex;
  /** A run of `geometry.vector` elements of a key. Any row will do: missing ones give zeros or another key. */
  key(row: U32, column: UIndex): F32[];
  /** A run of `geometry.columns.width` elements of a value. Past the readable rows it gives another value. */
  value(row: UIndex, column: UIndex): F32[];
}

export type TilePart = "keys" | "values";

/** Ways to bring keys [base, base + count) into a slot of shared memory, by all invocations of the crew. */
export interface TileCopies {
  /** Copies at once and waits. */
  copy(base: U32, count: U32, slot: UIndex): void;
  /** Reads into registers, nothing where count is 0. The returned function writes them to the slot. */
  fetch(base: U32, count: U32): (slot: UIndex) => void;
  /** Copies asynchronously: keys and values, or one of them. */
  start(base: U32, count: U32, slot: UIndex, part?: TilePart): void;
}

export interface Stage {
  /** Keys per tile. */
  readonly keyRows: number;
  /** Null where tiles need no copy. */
  readonly copies: TileCopies | null;
  tile(base: U32, count: U32, slot: UIndex): Tile;
}

/** The keys or values of one head in global memory: [seq, dim]. */
interface HeadRows {
  readonly view: View<"f32", "read">;
  readonly access: RowAccess;
}

export type StageMaker = (
  gpu: Gpu,
  geometry: Geometry,
  crew: Crew,
) => (keys: HeadRows, values: HeadRows) => Stage;
