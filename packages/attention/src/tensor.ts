/**
 * Four-dimensional tensors in flat arrays: extents, strides, packing and spreading. Nothing here computes attention
 * or knows of devices.
 */

import { denseStrides } from "./problem.ts";
import type { AttentionShape, Strides } from "./problem.ts";

/** [batch, heads, sequence, dim] */
export type Extents = readonly [batch: number, heads: number, sequence: number, dim: number];

/** The tensors of attention. */
export type TensorName = "q" | "k" | "v" | "o";

/** The extents of the four tensors of an attention problem. */
export function extentsOf(shape: AttentionShape): Readonly<Record<TensorName, Extents>> {
  const q: Extents = [shape.batch, shape.headsQ, shape.seqQ, shape.dim];
  const k: Extents = [shape.batch, shape.headsKv, shape.seqK, shape.dim];
  return { q, k, v: k, o: q };
}

/** Strides of all four tensors when each is densely packed. */
export function denseProblemStrides(shape: AttentionShape): Readonly<Record<TensorName, Strides>> {
  const q = denseStrides(shape.headsQ, shape.seqQ, shape.dim);
  const k = denseStrides(shape.headsKv, shape.seqK, shape.dim);
  return { q, k, v: k, o: q };
}

/** The number of elements of a tensor with these extents. */
export function elementCount(extents: Extents): number {
  return extents[0] * extents[1] * extents[2] * extents[3];
}

/** How many elements a flat array must have at least to hold the tensor; 0 where an extent is 0. */
export function spanOf(extents: Extents, strides: Strides): number {
  if (elementCount(extents) === 0) return 0;
  return extents.reduce((span, extent, axis) => span + (extent - 1) * (strides[axis] as number), 1);
}

/** The [batch, head, row, dim] index of an element by its position in the dense order. */
export function unflatten(position: number, extents: Extents): Extents {
  const [, heads, sequence, dim] = extents;
  const row = Math.floor(position / dim);
  const head = Math.floor(row / sequence);
  return [Math.floor(head / heads), head % heads, row % sequence, position % dim];
}

/** Calls back with the position of each row of a tensor in its array, in dense order. */
export function forEachRow(extents: Extents, strides: Strides, visit: (offset: number) => void): void {
  for (let batch = 0; batch < extents[0]; batch++)
    for (let head = 0; head < extents[1]; head++)
      for (let row = 0; row < extents[2]; row++)
        visit(batch * strides[0] + head * strides[1] + row * strides[2]);
}

/** A densely packed copy of a strided tensor. */
export function toDense(data: ArrayLike<number>, extents: Extents, strides: Strides): Float32Array {
  const dense = new Float32Array(elementCount(extents));
  let to = 0;
  forEachRow(extents, strides, (offset) => {
    for (let d = 0; d < extents[3]; d++) dense[to++] = data[offset + d * strides[3]] as number;
  });
  return dense;
}

/**
 * A dense tensor spread out to strides. What lies between and behind its elements is NaN: memory that a kernel must
 * not use.
 *
 * @param padding elements more than the tensor needs
 */
export function toStrided(
  dense: ArrayLike<number>,
  extents: Extents,
  strides: Strides,
  padding = 0,
): Float32Array {
  const data = new Float32Array(spanOf(extents, strides) + padding).fill(Number.NaN);
  let from = 0;
  forEachRow(extents, strides, (offset) => {
    for (let d = 0; d < extents[3]; d++) data[offset + d * strides[3]] = dense[from++] as number;
  });
  return data;
}
