/** How a number of workgroups becomes a grid that WebGPU takes. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { foldWorkgroups } from "@evolver/device/internal";

test.each([
  [1, 65535, [1, 1, 1]],
  [65535, 65535, [65535, 1, 1]],
  [65536, 65535, [32768, 2, 1]],
  [70000, 65535, [35000, 2, 1]],
  [27, 3, [3, 3, 3]],
])("%d workgroups, at most %d an axis", (count, limit, grid) => {
  expect(foldWorkgroups(count, limit)).toEqual(grid);
});

test("a grid has all workgroups, few more, and no axis beyond the limit", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2 ** 31 }),
      fc.integer({ min: 1300, max: 65535 }),
      (count, limit) => {
        const [x, y, z] = foldWorkgroups(count, limit);
        expect(Math.max(x, y, z)).toBeLessThanOrEqual(limit);
        expect(x * y * z).toBeGreaterThanOrEqual(count);
        // What is left over costs a look at its index each.
        expect(x * y * z - count).toBeLessThan(2 * limit + count / 100);
      },
    ),
  );
});
