/** Packed heads: the rows of a tile as pairs of a query and a query head, beside tiles of one head each. */

import type { Subject } from "../subject.ts";
import { count, MARGIN, rect, text, type Panel, upTo } from "@evolver/guide";

const CELL = 62;
const LINE = 30;
const LEFT = 136;
/** Queries of the second example, which shows their order. */
const SEVERAL = 4;

interface PackedRow {
  readonly query: number;
  readonly head: number;
  readonly exists: boolean;
}

export function headsPanel({ on, geometry, rung }: Subject): Panel {
  const { headsQ, headsKv } = on.problem.shape;
  const group = headsQ / headsKv;
  const rows = geometry.queryRows;
  const packedRows = (queries: number): PackedRow[] =>
    upTo(rows).map((k) => ({
      query: Math.floor(k / group),
      head: k % group,
      exists: k < queries * group,
    }));
  const cells = (y: number, own: readonly PackedRow[]): string[] =>
    own.map(({ query, head, exists }, k) => {
      const x = LEFT + k * CELL;
      return (
        rect(x, y, CELL - 3, LINE - 6, [exists ? (head % 2 === 0 ? "compute" : "other") : "wait", 3]) +
        text(x + (CELL - 3) / 2, y + 16, exists ? `q${query}, h${head}` : "empty", "small middle")
      );
    });
  const byIndex = upTo(group).map((head) =>
    upTo(rows).map((k): PackedRow => ({ query: k, head, exists: k < 1 })),
  );
  const packedTop = group * LINE + 26;
  return {
    title: `Rows of a tile: ${count(group, "query head")} on one key head (${rung.id})`,
    height: packedTop + 2 * LINE + 66,
    draw: (top) => [
      text(
        MARGIN,
        top + 12,
        `By index, one query to decode: ${count(group, "tile")}, and K and V read ${group} times`,
        "small bold",
      ),
      ...byIndex.flatMap((own, head) => [
        text(MARGIN, top + 20 + head * LINE + 16, `tile of head ${head}`, "small"),
        ...cells(top + 20 + head * LINE, own),
      ]),
      text(MARGIN, top + packedTop + 14, "Packed: one tile, and K and V read once", "small bold"),
      text(MARGIN, top + packedTop + 38, "one query", "small"),
      ...cells(top + packedTop + 22, packedRows(1)),
      text(MARGIN, top + packedTop + LINE + 38, `${SEVERAL} queries, tile 0`, "small"),
      ...cells(top + packedTop + LINE + 22, packedRows(SEVERAL)),
      text(
        MARGIN,
        top + packedTop + 2 * LINE + 44,
        `Row r is query r div ${group} and head r mod ${group} of the group. Rows that do not exist are computed all the same.`,
      ),
    ],
  };
}
