import { min } from "@evolver/kernel";
import type { HeadMapping } from "./mapping.ts";

/**
 * A tile holds rows of all query heads that share a key head, query by query: row r of a key head is query ⌊r / group⌋
 * of its head r mod group. So a tile needs fewer queries to be full, down to one where the group is as large as the
 * tile, and its K and V serve the whole group.
 */
export const packed: HeadMapping = {
  heads: ({ batch, headsKv }) => batch * headsKv,
  headTiles: ({ headsQ, headsKv, seqQ }, queryRows) =>
    headsKv === 0 ? 0 : Math.ceil((seqQ * (headsQ / headsKv)) / queryRows),
  place(tile, queryRows, { headsQ, headGroup, headTiles, seqQ }) {
    const headsKv = headsQ.divTrunc(headGroup);
    const head = tile.divTrunc(headTiles);
    const headKv = head.remTrunc(headsKv);
    const firstHeadQ = headKv.mul(headGroup);
    const rows = seqQ.mul(headGroup);
    const firstRow = tile.remTrunc(headTiles).mul(queryRows);
    const lastRow = min(firstRow.add(queryRows), rows).sub(1);
    return {
      batch: head.divTrunc(headsKv),
      headKv,
      firstQuery: firstRow.divTrunc(headGroup),
      lastQuery: lastRow.divTrunc(headGroup),
      row(index) {
        const row = firstRow.add(index);
        return { headQ: firstHeadQ.add(row.remTrunc(headGroup)), query: row.divTrunc(headGroup) };
      },
      exists: (index) => firstRow.add(index).lt(rows),
    };
  },
};
