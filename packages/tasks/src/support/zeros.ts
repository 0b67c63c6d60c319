/**
 * Reads of grids with zeros around them. Every read is of a place inside, and what is outside is replaced after it: without
 * branches, so that all reads of an invocation are in flight together.
 */

import { select, type F32, type U32 } from "@evolver/kernel";
import { readVector, type Readable, type Width } from "./vectors.ts";

/** Rows that follow each other in memory. */
export interface Grid {
  readonly from: Readable;
  /** The place of its first element. */
  readonly base: U32;
  readonly height: U32;
  readonly width: U32;
}

/**
 * Neighbours of a row, and zeros if there is no such row.
 *
 * @param row may be one before the first or after the last
 * @param column of the first of them, inside the grid, and a multiple of the count
 */
export function readRow({ from, base, height, width }: Grid, row: U32, column: U32, count: Width): F32[] {
  const inside = row.lt(height);
  const at = base.add(row.min(height.sub(1)).mul(width)).add(column);
  return readVector(from, at, count).map((value) => select(inside, value, 0));
}

/** The elements before and after such neighbours. */
export function readSides(
  { from, base, height, width }: Grid,
  row: U32,
  column: U32,
  count: Width,
): readonly [before: F32, after: F32] {
  const inside = row.lt(height);
  const start = base.add(row.min(height.sub(1)).mul(width));
  const one = (at: U32, there: U32): F32 => select(inside.and(at.lt(width)), from.get(start.add(there)), 0);
  const [before, after] = [column.sub(1), column.add(count)];
  return [one(before, column.max(1).sub(1)), one(after, after.min(width.sub(1)))];
}

/** Neighbours, and one more element at each end. */
export function readWithSides(grid: Grid, row: U32, column: U32, count: Width): F32[] {
  const [before, after] = readSides(grid, row, column, count);
  return [before, ...readRow(grid, row, column, count), after];
}

/** The width that vectors of a row can have: the wished one where it divides the row, else 1. */
export const fittingWidth = (width: Width, row: number): Width => (row % width === 0 ? width : 1);
