/** What somebody meant who wrote a name that there is not. */

import { didYouMean, nearestName } from "@evolver/base";
import { expect, it } from "vitest";

const NAMES = ["k01", "k06 depth 4", "k11", "k11 half tiles", "k11 masked everywhere"];

it.each([
  ["k11 half tile", "k11 half tiles"],
  ["K11_half-tiles", "k11 half tiles"],
  ["half tiles", "k11 half tiles"],
  ["k6 depth 4", "k06 depth 4"],
  ["k1", "k01"],
])("%j is nearest to %j", (given, meant) => {
  expect(nearestName(given, NAMES)).toBe(meant);
  expect(didYouMean(given, NAMES)).toBe(`did you mean "${meant}"? `);
});

it.each(["", "matmul", "toString", "k99"])("%j is near to none", (given) => {
  expect(nearestName(given, NAMES)).toBeNull();
  expect(didYouMean(given, NAMES)).toBe("");
});
