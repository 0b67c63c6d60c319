/** What a lane owns of a subgroup's scores and outputs: the tile that it holds in registers. */

import type { Subject } from "../subject.ts";
import { count, line, MARGIN, rect, text, type Panel, upTo } from "@evolver/guide";

const SCORES_WIDTH = 352;
const OUTPUT_X = 412;
const OUTPUT_WIDTH = 352;

export function lanesPanel({ geometry }: Subject): Panel {
  const { rowsPerSubgroup, rowLanes, keyLanes, groupKeys, columns, dim, rows, keysPerLane } = geometry;
  const high = Math.max(9, Math.min(18, 90 / rowsPerSubgroup));
  const grid = rowsPerSubgroup * high;
  const ownRow = (row: number): boolean => row % rowLanes === 0;
  const keyOwner = (key: number): number => key % keyLanes;
  const columnOwner = (column: number): number => Math.floor(column / columns.width) % columns.lanes;
  /** A grid of lines, and on it the cells of two lanes, neighbouring ones together. */
  const cells = (
    x: number,
    y: number,
    width: number,
    wide: number,
    owner: (k: number) => number,
  ): string[] => {
    const each = width / wide;
    const runs = upTo(wide)
      .filter((k) => owner(k) < 2 && (k === 0 || owner(k - 1) !== owner(k)))
      .map((from) => {
        let to = from + 1;
        while (to < wide && owner(to) === owner(from)) to++;
        return { from, to, style: owner(from) === 0 ? "compute-fill" : "other-fill" };
      });
    return [
      rect(x, y, width, grid, ["cell", 0]),
      ...upTo(wide).map((k) => line(x + k * each, y, x + k * each, y + grid, "edge-line thin")),
      ...upTo(rowsPerSubgroup).map((k) => line(x, y + k * high, x + width, y + k * high, "edge-line thin")),
      ...upTo(rowsPerSubgroup)
        .filter(ownRow)
        .flatMap((row) =>
          runs.map(({ from, to, style }) =>
            rect(x + from * each, y + row * high, (to - from) * each - 0.5, high - 0.5, [style, 0]),
          ),
        ),
    ];
  };
  return {
    title: `What a lane owns: ${count(rows, "row")} × ${count(keysPerLane, "key")}, ${count(rows, "row")} × ${count(columns.chunks * columns.width, "column")}`,
    height: grid + 66,
    draw: (top) => [
      text(
        MARGIN,
        top + 12,
        `scores of a subgroup: ${count(rowsPerSubgroup, "row")} × ${groupKeys} keys`,
        "small",
      ),
      text(OUTPUT_X, top + 12, `its output: ${count(rowsPerSubgroup, "row")} × ${dim} columns`, "small"),
      ...cells(MARGIN, top + 20, SCORES_WIDTH, groupKeys, keyOwner),
      ...cells(OUTPUT_X, top + 20, OUTPUT_WIDTH, dim, columnOwner),
      rect(MARGIN, top + grid + 34, 14, 12, ["compute-fill", 2]),
      text(MARGIN + 20, top + grid + 44, "one lane", "small"),
      rect(MARGIN + 96, top + grid + 34, 14, 12, ["other-fill", 2]),
      text(MARGIN + 116, top + grid + 44, "the lane with the next key and columns", "small"),
      ...(rowLanes > 1
        ? [text(MARGIN + 360, top + grid + 44, "rows without colour belong to other lanes", "small")]
        : []),
    ],
  };
}
