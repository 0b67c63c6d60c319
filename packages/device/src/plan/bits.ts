/** What buffers hold, as bits: how NaN is written into buffers of every element type. */

import type { ElementType } from "@evolver/kernel";
import { newArray } from "../core/arrays.ts";
import type { AnyTypedArray, TypedArrayOf } from "../core/device.ts";

/** A NaN of each type; of integers, which have none, a number that no answer has by chance. */
const NAN_BITS = {
  f32: 0x7fc00000,
  i32: 0x7fc00000,
  u32: 0x7fc00000,
  f16: 0x7e00,
  bf16: 0x7fc0,
} as const satisfies Record<ElementType, number>;

/** The elements' bits, one number each, in the same memory. */
export function bitsOf(array: AnyTypedArray): Uint32Array | Uint16Array {
  if (array instanceof Uint16Array) return array;
  return new Uint32Array(array.buffer, array.byteOffset, array.length);
}

/** Elements that are all NaN. */
export function nans<E extends ElementType>(element: E, length: number): TypedArrayOf<E> {
  const array = newArray(element, length);
  bitsOf(array).fill(NAN_BITS[element]);
  return array;
}
