/** The arrays in which the host holds a buffer's elements, by element type. */

import { elementBytes, type ElementType } from "@evolver/kernel";
import type { AnyTypedArray, TypedArrayOf } from "./device.ts";

const ARRAYS = {
  f32: Float32Array,
  i32: Int32Array,
  u32: Uint32Array,
  f16: Uint16Array,
  bf16: Uint16Array,
} as const satisfies Record<ElementType, unknown>;

/** The array class that holds elements of a type. */
export function arrayType(element: ElementType) {
  return ARRAYS[element];
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
  typeof value === "string" && Object.hasOwn(ARRAYS, value);
