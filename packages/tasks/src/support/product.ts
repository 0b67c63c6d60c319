/**
 * The heart of a matrix product: a workgroup computes a tile of it, and an invocation several rows and columns of the tile in
 * registers. Steps of the inner dimension come to shared memory by asynchronous copies, `stages` − 1 of them ahead.
 */

import {
  f32,
  fma,
  padded,
  u32,
  type F32,
  type Gpu,
  type RegisterArray,
  type SharedArray,
  type U32,
} from "@evolver/kernel";
import { readVector, type Width } from "./vectors.ts";

/** What a matrix product chooses. */
export interface ProductChoices {
  /** Rows and columns of a workgroup's tile. */
  readonly tileRows: number;
  readonly tileColumns: number;
  /** Of the inner dimension, in a step. */
  readonly depth: number;
  /** Rows and columns of an invocation. */
  readonly rows: number;
  readonly columns: number;
  /** Steps in shared memory: one is used, the others are on their way. */
  readonly stages: number;
}

export const productTune = {
  tileRows: [16, 32, 64, 128, 256],
  tileColumns: [16, 32, 64, 128, 256],
  depth: [16, 8, 32],
  rows: [1, 2, 4, 8, 16],
  columns: [1, 2, 4, 8, 16],
  stages: [1, 2, 3, 4],
} as const;

/** Invocations that a tile takes. Throws where a tile cannot be divided so. */
export function productThreads({ tileRows, tileColumns, rows, columns }: ProductChoices): number {
  if (rows > tileRows || columns > tileColumns) throw new Error("an invocation has more than the tile");
  const threads = (tileRows / rows) * (tileColumns / columns);
  if (threads > 1024) throw new Error(`a tile takes ${threads} invocations, more than 1024`);
  if (threads < 64) throw new Error(`a tile has only ${threads} invocations`);
  return threads;
}

/** A step of the inner dimension, on its way to shared memory. */
export interface Step {
  /** Its first place along the inner dimension, and how long that is. */
  readonly first: U32;
  readonly end: U32;
  /** How many places it has. */
  readonly depth: number;
  /** The step's first row in both arrays: a row for each place of the inner dimension. */
  readonly slot: U32;
  /** The left factor, transposed. */
  readonly left: SharedArray<"f32">;
  readonly right: SharedArray<"f32">;
}

/** Neighbours that start at a place of the tile. */
interface Patch {
  readonly row: U32;
  readonly column: U32;
  readonly values: readonly F32[];
}

/** What a product's factors and its result are. */
export interface ProductEnds {
  /** Starts the copies of this invocation for a step. What is outside becomes zeros. */
  copy(step: Step): void;
  /** Gets neighbours of a row, as many as `columns` has, at most 4. */
  store(patch: Patch): void;
}

/** Computes a tile. @param length of the inner dimension */
export function multiplyTile(
  gpu: Gpu,
  length: U32,
  choices: ProductChoices,
  { copy, store }: ProductEnds,
): void {
  const { tileRows, tileColumns, depth, rows, columns, stages } = choices;
  const left = gpu.shared(f32, padded([stages * depth, tileRows], 4));
  const right = gpu.shared(f32, [stages * depth, tileColumns]);
  const [across, down] = [tileColumns / columns, tileRows / rows];
  const { x, y } = placeIn(gpu.localIndex, across, down);
  const [widthX, widthY] = [vectorOf(columns), vectorOf(rows)];
  // The vectors of an invocation are as far apart as all invocations reach with one: then lanes read neighbouring vectors.
  const columnOf = (vector: number): U32 => x.add(vector * across).mul(widthX);
  const rowOf = (vector: number): U32 => y.add(vector * down).mul(widthY);
  const vectorsX = Array.from({ length: columns / widthX }, (_, k) => k);
  const vectorsY = Array.from({ length: rows / widthY }, (_, k) => k);
  const sums = gpu.registers(f32, rows * columns, 0);

  const steps = length.add(depth - 1).divTrunc(depth);
  const start = (step: U32): void => {
    const slot = step.remTrunc(stages).mul(depth);
    gpu.if(step.lt(steps), () => copy({ first: step.mul(depth), end: length, depth, slot, left, right }));
    // Groups are counted, so a step that does not exist has an empty one.
    gpu.copies.commit();
  };
  for (let step = 0; step < stages - 1; step++) start(gpu.constant(u32, step));
  gpu.for({ from: 0, to: steps }, (step) => {
    if (stages === 1) start(step);
    gpu.copies.await(Math.max(0, stages - 2));
    gpu.barrier();
    // The barrier has shown that nobody reads the step before any more, whose place the new one takes.
    if (stages > 1) start(step.add(stages - 1));
    const slot = step.remTrunc(stages).mul(depth);
    gpu.for({ from: 0, to: depth, unroll: true }, (k) => {
      const at = slot.add(k);
      const read = (from: SharedArray<"f32">, starts: readonly U32[], width: Width): F32[] =>
        starts.flatMap((first) =>
          readVector({ get: (i) => from.get(at, i), getVec: (n, i) => from.getVec(n, at, i) }, first, width),
        );
      const factors = read(left, vectorsY.map(rowOf), widthY);
      const others = read(right, vectorsX.map(columnOf), widthX);
      addProducts(sums, factors, others);
    });
    if (stages === 1) gpu.barrier();
  });
  for (let r = 0; r < rows; r++)
    for (const vector of vectorsX)
      store({
        row: rowOf(Math.floor(r / widthY)).add(r % widthY),
        column: columnOf(vector),
        values: Array.from({ length: widthX }, (_, k) => sums.get(r * columns + vector * widthX + k)),
      });
}

/** Adds the product of each row's and each column's factor to the sums, which are kept row by row. */
export function addProducts(
  sums: RegisterArray<"f32">,
  ofRows: readonly F32[],
  ofColumns: readonly F32[],
): void {
  const columns = ofColumns.length;
  // To and fro, so that each product shares a factor with the one before, which then need not be fetched again.
  for (const [r, a] of ofRows.entries())
    for (let nth = 0; nth < columns; nth++) {
      const c = r % 2 === 0 ? nth : columns - 1 - nth;
      const place = r * columns + c;
      sums.set(place, fma(a, ofColumns[c] as F32, sums.get(place)));
    }
}

const vectorOf = (count: number): Width => Math.min(count, 4) as Width;

/**
 * The place in a grid of `across` × `down` that an invocation with an index has.
 *
 * 32 neighbours are a block of 8×4 or 4×8, which reads the least. In it lanes l and l xor 1 have one column, and lanes l and l xor 2 one
 * row: then shared memory serves 16 lanes at once that read vectors of 4 along rows or columns, and else 8.
 */
export function placeIn(i: U32, across: number, down: number): { readonly x: U32; readonly y: U32 } {
  const isWide = across % 8 === 0 && down % 4 === 0;
  if (!isWide && (across % 4 !== 0 || down % 8 !== 0))
    return { x: i.remTrunc(across), y: i.divTrunc(across) };
  const bits = (from: readonly number[]): U32 =>
    from.map((bit, to) => i.shr(bit).and(1).shl(to)).reduce((all, bit) => all.or(bit));
  const [x, y] = isWide ? [bits([1, 3, 4]), bits([0, 2])] : [bits([1, 3]), bits([0, 2, 4])];
  const [width, height] = isWide ? [8, 4] : [4, 8];
  const block = i.divTrunc(32);
  const blocks = across / width;
  return {
    x: block.remTrunc(blocks).mul(width).add(x),
    y: block.divTrunc(blocks).mul(height).add(y),
  };
}

/** Gives each piece of a tile to an invocation, row by row: `lanes` pieces in each of `rows` rows. */
export function share(
  gpu: Gpu,
  { rows, lanes }: { readonly rows: number; readonly lanes: number },
  body: (row: U32, lane: U32) => void,
): void {
  const threads = gpu.workgroupSize[0];
  const atOnce = Math.max(1, threads / lanes);
  const lane = gpu.localIndex.remTrunc(lanes);
  const own = gpu.localIndex.divTrunc(lanes);
  for (let first = 0; first < rows; first += atOnce)
    for (let chunk = 0; chunk < lanes; chunk += threads) {
      const row = own.add(first);
      if (first + atOnce <= rows) body(row, lane.add(chunk));
      else gpu.if(row.lt(rows), () => body(row, lane));
    }
}
