/**
 * Layouts of shared memory: how the indices of a tile become an offset into a flat array. They decide which of the
 * 32 banks an access falls into, and so whether lanes conflict.
 */

import { EvolverError } from "@evolver/base";
import { captureSite } from "../ir/site.ts";
import type { Index, U32 } from "./scalar.ts";

/** Where the elements of a tile lie in an array: `rowMajor`, `padded`, `swizzled`, or your own. */
export interface Layout {
  /** For reports: "row-major", "padded by 4", … */
  readonly name: string;
  /** Extents of the tile, outermost first. */
  readonly shape: readonly number[];
  /** Elements that the array needs, padding included. */
  readonly size: number;
  /** Elements from `offset(..., c)` on that stay consecutive when c is a multiple of it; the widest vector allowed. */
  readonly vector: number;
  /** The offset of an element; indices are as many as extents. */
  offset(indices: readonly Index[]): Index;
}

/** A layout as users write it: a length, extents of rows one after another, or a layout. */
export function arrange(given: number | readonly number[] | Layout): Layout {
  if (typeof given === "number") return rowMajor([given]);
  if (Array.isArray(given)) return rowMajor(given as readonly number[]);
  const layout = given as Layout;
  if (typeof layout?.offset === "function" && Array.isArray(layout.shape)) return layout;
  throw invalid("shared memory takes a length, extents or a layout: 64, [8, 32] or padded([8, 32], 1)");
}

/** Rows one after another, the last index running fastest. */
export function rowMajor(shape: readonly number[]): Layout {
  return padded(shape, 0);
}

/** Row-major with `pad` unused elements after each row, so that a column spreads over the banks. */
export function padded(shape: readonly number[], pad: number): Layout {
  checkShape(shape);
  if (!Number.isInteger(pad) || pad < 0) throw invalid(`padding is a whole number of elements, not ${pad}`);
  const strides = rowStrides(shape, pad);
  const size = Math.max(1, (shape[0] as number) * (strides[0] as number));
  const row = (shape.at(-1) as number) + pad;
  return {
    name: pad === 0 ? "row-major" : `padded by ${pad}`,
    shape,
    size: shape.length === 1 ? (shape[0] as number) + pad : size,
    vector: shape.length === 1 || row % 4 === 0 ? 4 : row % 2 === 0 ? 2 : 1,
    offset: (indices) => linear(indices, strides),
  };
}

/** What `swizzled` keeps together. */
export interface SwizzleOptions {
  /** Elements that stay together: the width of the vector accesses, 1, 2 or 4. */
  readonly vector?: 1 | 2 | 4;
}

/**
 * Row-major with the chunks of each row permuted by exclusive or with the row's number, so that a column spreads over
 * the banks without padding. Only as many low bits as divide the number of chunks take part; with an odd number of
 * chunks per row, nothing is permuted.
 */
export function swizzled(shape: readonly [number, number], options: SwizzleOptions = {}): Layout {
  checkShape(shape);
  const vector = options.vector ?? 1;
  const [rows, columns] = shape;
  if (columns % vector !== 0)
    throw invalid(`rows of ${columns} elements do not divide into vectors of ${vector}`);
  const chunks = columns / vector;
  const lowBits = chunks & -chunks;
  const mask = Math.min(lowBits, 32 / vector) - 1;
  // A power of two, so that dividing by it is a shift.
  const rowsPerLine = Math.max(1, 2 ** Math.floor(Math.log2(32 / columns)));
  return {
    name: `swizzled by ${vector}`,
    shape,
    size: rows * columns,
    vector,
    offset: ([row, column]) => {
      const key = and(divide(row as Index, rowsPerLine), mask);
      return add(multiply(row as Index, columns), exclusiveOr(column as Index, multiply(key, vector)));
    },
  };
}

function rowStrides(shape: readonly number[], pad: number): number[] {
  const strides = new Array<number>(shape.length).fill(1);
  for (let k = shape.length - 2; k >= 0; k--) {
    const extent = (shape[k + 1] as number) + (k === shape.length - 2 ? pad : 0);
    strides[k] = (strides[k + 1] as number) * extent;
  }
  return strides;
}

/** Σ indices[k] · strides[k], folding what is known at build time. */
function linear(indices: readonly Index[], strides: readonly number[]): Index {
  let total: Index = 0;
  for (let k = 0; k < indices.length; k++)
    total = add(total, multiply(indices[k] as Index, strides[k] as number));
  return total;
}

function add(a: Index, b: Index): Index {
  if (typeof a === "number") return typeof b === "number" ? a + b : a === 0 ? b : (b as U32).add(a);
  return (a as U32).add(b as U32);
}

function multiply(a: Index, factor: number): Index {
  return typeof a === "number" ? a * factor : factor === 1 ? a : (a as U32).mul(factor);
}

function divide(a: Index, divisor: number): Index {
  return typeof a === "number"
    ? Math.floor(a / divisor)
    : divisor === 1
      ? a
      : (a as U32).shr(Math.log2(divisor));
}

function and(a: Index, mask: number): Index {
  return mask === 0 ? 0 : typeof a === "number" ? a & mask : (a as U32).and(mask);
}

function exclusiveOr(a: Index, b: Index): Index {
  if (typeof b === "number") return b === 0 ? a : typeof a === "number" ? a ^ b : (a as U32).xor(b);
  return typeof a === "number" ? (b as U32).xor(a) : (a as U32).xor(b as U32);
}

function checkShape(shape: readonly number[]): void {
  if (shape.length > 0 && shape.every((extent) => Number.isInteger(extent) && extent > 0)) return;
  throw invalid(`a shape is a list of positive whole numbers, not [${shape.join(", ")}]`);
}

const invalid = (what: string): EvolverError =>
  new EvolverError("INVALID_LAYOUT", what, { where: [captureSite(true).location] });
