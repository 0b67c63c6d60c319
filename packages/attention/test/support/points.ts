/** Points of the strategy space at random. */

import { axes } from "@evolver/attention";
import type { FlashPoint } from "@evolver/attention";
import * as fc from "fast-check";

/** Any value on each axis; most such points are invalid. */
export const anyPoint: fc.Arbitrary<FlashPoint> = fc
  .record(
    Object.fromEntries(
      axes.map(({ name, values }) => [name, fc.constantFrom(...(values as readonly unknown[]))]),
    ),
  )
  .map((values) => values as FlashPoint);
