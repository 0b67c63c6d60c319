/** The arrays in which the host holds a buffer's elements, by element type. */

import { elementBytes, elementTypes, scalarTypes, type ElementType, type WordType } from "@evolver/kernel";
import type { AnyTypedArray, TypedArrayOf } from "./device.ts";

/** The array class that holds elements of a type. */
export function arrayType(element: ElementType) {
  return scalarTypes[element].array;
}

/** A zeroed array of `length` elements, in shared memory where asked for. */
export function newArray<E extends ElementType>(element: E, length: number, shared = false): TypedArrayOf<E> {
  const ArrayType: new (source: ArrayBufferLike) => AnyTypedArray = arrayType(element);
  const bytes = length * elementBytes(element);
  const array = new ArrayType(shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes));
  return array as TypedArrayOf<E>;
}

/** Whether buffers can hold such elements. */
export const isElementType = (value: unknown): value is ElementType =>
  elementTypes.includes(value as ElementType);

/** Writes an argument of four bytes, as GPUs and WebAssembly hold it. */
const WRITE_WORD: Readonly<Record<WordType, (view: DataView, at: number, value: number) => void>> = {
  f32: (view, at, value) => view.setFloat32(at, value, true),
  i32: (view, at, value) => view.setInt32(at, value, true),
  u32: (view, at, value) => view.setUint32(at, value, true),
};

export const writeWord = (view: DataView, at: number, type: WordType, value: number): void =>
  WRITE_WORD[type](view, at, value);
