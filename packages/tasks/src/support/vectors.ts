/** Vectors of a width that is a free choice, and what to do where lengths are no multiple of it. */

import { Vec, type F32, type Gpu, type U32, type ViewOptions } from "@evolver/kernel";

/** Elements that one instruction moves. */
export type Width = 1 | 2 | 4;

type Place = U32 | number;

/** Memory of f32 that may be read. */
export interface Readable {
  get(index: Place): F32;
  getVec<N extends 2 | 4>(width: N, index: Place): Vec<"f32", N>;
}

/** Memory of f32 that may be written. */
export interface Writable {
  set(index: Place, value: F32): void;
  setVec(index: Place, values: Vec<"f32", 2 | 4>): void;
}

/** A buffer of which a part can be addressed by what is known at build time: those offsets stand in the instruction. */
export interface Source extends Readable {
  view(options: ViewOptions): Readable;
}

export interface Target extends Writable {
  view(options: ViewOptions): Writable;
}

/** As many neighbours from an index on, which is a multiple of the width. */
export function readVector(from: Readable, index: Place, width: Width): readonly F32[] {
  return width === 1 ? [from.get(index)] : from.getVec(width, index).components;
}

/** Writes 1, 2 or 4 neighbours. */
export function writeVector(to: Writable, index: Place, values: readonly F32[]): void {
  const [first] = values;
  if (values.length === 1 && first !== undefined) to.set(index, first);
  else to.setVec(index, new Vec(values.length as 2 | 4, values));
}

/** What an invocation moves at a time. */
export interface Reach {
  readonly width: Width;
  /** Vectors in flight: read before one of them is used. */
  readonly loads: number;
}

/**
 * Records the body for vectors, and once more for as many single elements, which run where vectors would not start at
 * multiples of their width: where the length (of all, or of a row) is none.
 */
export function byWidth<R extends Reach>(gpu: Gpu, length: U32, reach: R, body: (fitting: R) => void): void {
  const { width, loads } = reach;
  if (width === 1) body(reach);
  else
    gpu.if(
      length.and(width - 1).eq(0),
      () => body(reach),
      () => body({ ...reach, width: 1, loads: loads * width }),
    );
}

/** The sum in the shape of a tree, so that additions do not wait for each other. */
export function total(values: readonly F32[]): F32 {
  const [first, second] = values;
  if (first === undefined) throw new Error("nothing to add up");
  if (second === undefined) return first;
  const half = Math.ceil(values.length / 2);
  return total(values.slice(0, half)).add(total(values.slice(half)));
}
