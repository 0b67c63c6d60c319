/** Contents of buffers for which a launch gives only a length. */

import { type Random } from "@evolver/base";
import { scalarTypes, type ElementType } from "@evolver/kernel";
import type { AnyTypedArray } from "../core/device.ts";

/** Numbers stay within blocks of so many, which are no multiple of a subgroup: neighbours in a list of offsets are near. */
const BLOCK = 97;
/** No divisor in common with the block. */
const STRIDE = 38;

/** Values in [−1, 1). */
export function randomValues(element: ElementType, length: number, random: Random): AnyTypedArray {
  const { array, encode, round } = scalarTypes[element];
  return array.from(Array.from({ length }, () => encode(round(random.uniform() * 2 - 1))));
}

/**
 * Each number from 0 to length − 1 once, in mixed order: as indices they stay inside a buffer of the same length and never
 * meet, and they differ from lane to lane.
 */
export function inMixedOrder(element: ElementType, length: number): AnyTypedArray {
  const value = (i: number): number => {
    const first = i - (i % BLOCK);
    const size = Math.min(BLOCK, length - first);
    return size === BLOCK ? first + (((i - first) * STRIDE + 1) % BLOCK) : first + (size - 1 - (i - first));
  };
  return scalarTypes[element].array.from(Array.from({ length }, (_, i) => value(i)));
}
