/** The heads axis: how query rows make up tiles, and which key head a tile reads. */

import type { Bool, U32 } from "@evolver/kernel";
import type { AttentionShape } from "../../../problem.ts";
import type { ScalarSymbols } from "../../scalars.ts";
import type { UIndex } from "../../runs.ts";

export interface TilePlace {
  readonly batch: U32;
  readonly headKv: U32;
  /** The first and last query that the tile's rows hold; last < seqQ. */
  readonly firstQuery: U32;
  readonly lastQuery: U32;
  /** Where a row of the tile comes from. */
  row(row: UIndex): { readonly headQ: U32; readonly query: U32 };
  /** Whether the row is one of the problem's; those past the end of the sequence are not. */
  exists(row: UIndex): Bool;
}

export interface HeadMapping {
  /** Heads that have tiles of their own, in all batches. */
  heads(shape: AttentionShape): number;
  /** Tiles per such head. */
  headTiles(shape: AttentionShape, queryRows: number): number;
  place(tile: U32, queryRows: number, scalars: ScalarSymbols): TilePlace;
}
