/** Points in words, and the rungs as points for a problem and a device. */

import { axes, checkPoint, createProblem, ladder, rungById, type FlashPoint } from "@evolver/attention";
import { withVariants } from "@evolver/device";
import { expect, it } from "vitest";
import { describePoint, rungPoints } from "@evolver/attention/study/internal";

const problem = createProblem({ batch: 1, headsQ: 4, headsKv: 2, seqQ: 64, seqK: 64, dim: 64 });

it.each([
  ["k01", "global, 1 row, 1 row per subgroup, 1 key per lane, shuffle"],
  ["k03", "shared 8×32, row-major, 1 row per subgroup, 1 key per lane, shuffle"],
  ["k06", "shared 8×32, padded, ring of 2, 1 row per subgroup, 1 key per lane, shuffle"],
])("%s in words", (id, words) => expect(describePoint(rungById(id).point)).toBe(words));

it("describes roles, register tiles and other settings", () => {
  const { point } = rungById("k11");
  expect(describePoint({ ...point, schedule: "persistent", heads: "packed" })).toMatch(
    /^shared \d+×\d+, padded, staggered, \d+ rows per subgroup on 4 groups of lanes, 8 keys per lane, shared, masked at edges, persistent, packed heads$/,
  );
  expect(describePoint(rungById("k07").point)).toContain("roles with a ring of 2");
});

it("every step along an axis is another text", () => {
  let steps = 0;
  for (const id of ["k01", "k04", "k05", "k06", "k07", "k10", "k11", "k12"]) {
    const { point } = rungById(id);
    for (const { name, values } of axes)
      for (const value of values) {
        const other = { ...point, [name]: value } as FlashPoint;
        if (value === point[name] || checkPoint(other, problem, 32) !== null) continue;
        steps++;
        expect([name, value, describePoint(other)]).not.toEqual([name, value, describePoint(point)]);
      }
  }
  expect(steps).toBeGreaterThan(100);
});

it("rungs that nothing makes fit are left out", () => {
  const wide = createProblem({ ...problem.shape, dim: 256 });
  const small = { sharedBytes: 16 * 1024, invocations: 256 };
  expect(Object.keys(rungPoints(problem, 32, small))).toHaveLength(withVariants(ladder).length);
  expect(Object.keys(rungPoints(wide, 32, small))).toEqual(["k01"]);
});
