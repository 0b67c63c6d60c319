/**
 * Winograd's F(2×2, 3×3): what turns windows of 4×4 elements and weights of 3×3 into 16 factors each, and 16 products into 2×2 results
 * (Lavin and Gray 2016, "Fast algorithms for convolutional neural networks").
 */

import type { F32 } from "@evolver/kernel";

/** Places of a transformed window. */
export const PLACES = 16;

/** Changes a line of a square. A square is changed along its rows, then along its columns. */
type Change = (line: readonly F32[]) => readonly F32[];

const part = (line: readonly F32[], k: number): F32 => line[k] as F32;

export const ofWindow: Change = (d) => [
  part(d, 0).sub(part(d, 2)),
  part(d, 1).add(part(d, 2)),
  part(d, 2).sub(part(d, 1)),
  part(d, 1).sub(part(d, 3)),
];
export const ofWeights: Change = (g) => {
  const [outer, inner] = [part(g, 0).add(part(g, 2)).mul(0.5), part(g, 1).mul(0.5)];
  return [part(g, 0), outer.add(inner), outer.sub(inner), part(g, 2)];
};
export const ofResults: Change = (m) => [
  part(m, 0).add(part(m, 1)).add(part(m, 2)),
  part(m, 1).sub(part(m, 2)).sub(part(m, 3)),
];

export function transformed(square: readonly (readonly F32[])[], change: Change): F32[][] {
  const alongRows = square.map((line) => change(line));
  const columns = (alongRows[0] as readonly F32[]).map((_, c) =>
    change(alongRows.map((line) => part(line, c))),
  );
  return (columns[0] as readonly F32[]).map((_, r) => columns.map((column) => part(column, r)));
}

export const squareOf = (size: number, at: (row: number, column: number) => F32): F32[][] =>
  Array.from({ length: size }, (_, row) => Array.from({ length: size }, (_also, column) => at(row, column)));
