import { min } from "@evolver/kernel";
import type { HeadMapping } from "./mapping.ts";

/**
 * A tile holds rows of one query head, which reads key head ⌊head / group⌋: multi-head, grouped-query and multi-query
 * attention alike. Tiles of one head are neighbours, so that their K and V are still in a cache.
 */
export const byIndex: HeadMapping = {
  heads: ({ batch, headsQ }) => batch * headsQ,
  headTiles: ({ seqQ }, queryRows) => Math.ceil(seqQ / queryRows),
  place(tile, queryRows, { headsQ, headGroup, headTiles, seqQ }) {
    const head = tile.divTrunc(headTiles);
    const headQ = head.remTrunc(headsQ);
    const firstQuery = tile.remTrunc(headTiles).mul(queryRows);
    return {
      batch: head.divTrunc(headsQ),
      headKv: headQ.divTrunc(headGroup),
      firstQuery,
      lastQuery: min(firstQuery.add(queryRows), seqQ).sub(1),
      row: (row) => ({ headQ, query: firstQuery.add(row) }),
      exists: (row) => firstQuery.add(row).lt(seqQ),
    };
  },
};
