/** Between vectors with the elements of one lane together and vectors with one element of each lane. */

import type { FunctionBuilder } from "../wasm/encoder.ts";

/** Turns four vectors of four consecutive elements, one per lane, into four vectors of lanes; or back. */
export function transpose(f: FunctionBuilder, rows: readonly number[], into: readonly number[]): void {
  const [a, b, c, d] = rows as [number, number, number, number];
  const halves = [
    [a, b, [0, 4, 1, 5]],
    [c, d, [0, 4, 1, 5]],
    [a, b, [2, 6, 3, 7]],
    [c, d, [2, 6, 3, 7]],
  ] as const;
  const [ab0, cd0, ab1, cd1] = halves.map(([x, y, lanes]) => {
    const half = f.local("v128");
    f.get(x).get(y).shuffle(lanes).set(half);
    return half;
  }) as [number, number, number, number];
  f.get(ab0)
    .get(cd0)
    .shuffle([0, 1, 4, 5])
    .set(into[0] as number);
  f.get(ab0)
    .get(cd0)
    .shuffle([2, 3, 6, 7])
    .set(into[1] as number);
  f.get(ab1)
    .get(cd1)
    .shuffle([0, 1, 4, 5])
    .set(into[2] as number);
  f.get(ab1)
    .get(cd1)
    .shuffle([2, 3, 6, 7])
    .set(into[3] as number);
  for (const half of [ab0, cd0, ab1, cd1]) f.release(half);
}

/** From a vector of lanes for each element to vectors with the elements of a lane together; takes over the locals. */
export function interleave(f: FunctionBuilder, columns: number[]): number[] {
  if (columns.length === 1) return columns;
  const rows = columns.map(() => f.local("v128"));
  if (columns.length === 2) {
    const [a, b] = columns as [number, number];
    f.get(a)
      .get(b)
      .shuffle([0, 4, 1, 5])
      .set(rows[0] as number);
    f.get(a)
      .get(b)
      .shuffle([2, 6, 3, 7])
      .set(rows[1] as number);
  } else {
    transpose(f, columns, rows);
  }
  for (const column of columns) f.release(column);
  return rows;
}
