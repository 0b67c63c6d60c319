/** Comparing with a truth that is known in part. */

import { expect, it } from "vitest";
import { compareOutputs, compareUnknown, trivialAnswer } from "@evolver/lab/internal";

const truth = { o: { values: Float64Array.of(1, 0, 3), bound: 0.1, known: Uint8Array.of(1, 0, 1) } };
const compare = (...o: number[]) => compareOutputs({ o: Float32Array.from(o) }, truth).problem;

it("elements that are known are compared", () => {
  expect(compare(1, 2, 3)).toBeNull();
  expect(compare(1.2, 2, 3)).toContain("o[0] is");
  expect(compare(1, 2, 2)).toContain("o[2] is 2");
});

it("the element that is furthest off is named, and by how much it is over", () => {
  const problem = (bound: number | Float64Array, ...y: number[]) =>
    compareOutputs({ y: Float64Array.from(y) }, { y: { values: Float64Array.of(1, -2, 4), bound } }).problem;
  expect(problem(0.1, 1, -2, 4.1 + 2e-3)).toBe(
    "y[2] is 4.101999999999999, and 4 is right to within 1.00e-1: it is off by 1.02e-1, over by 2 %. No other element is off by too much.",
  );
  expect(problem(0.1, 1.5, -2, 5)).toContain(
    "y[2] is 5, and 4 is right to within 1.00e-1: it is off by 1.00e+0, 10 times what may be. 2 of 3 elements",
  );
  // In terms of the bound of each.
  expect(problem(Float64Array.of(1, 0.001, 1), 1, -2.01, 5.5)).toContain("y[1] is -2.01");
  expect(problem(0.1, 3, NaN, NaN)).toContain("y[1] is NaN");
  expect(problem(0.1, Infinity, -2, 4)).toContain("it is off by Infinity. No other");
  expect(problem(0, 1, -2, 4.5)).toContain("right to within 0.00e+0: it is off by 5.00e-1.");
});

it("the others are anything but NaN", () => {
  expect(compare(1, -7e30, 3)).toBeNull();
  expect(compare(1, NaN, 3)).toContain("o[1] is NaN");
});

it("and are compared with a trusted answer, more generously", () => {
  const trusted = { o: Float32Array.of(9, 5, -9) };
  const against = (...o: number[]) => compareUnknown({ o: Float32Array.from(o) }, trusted, truth);
  expect(against(1, 5.7, 3)).toBeNull();
  expect(against(1, 6, 3)).toContain("o[1] is 6, and the study's baseline gives 5");
  expect(against(1, NaN, 3)).toContain("o[1] is NaN");
  const infinite = { o: Float32Array.of(0, -Infinity, 0) };
  expect(compareUnknown(infinite, infinite, truth)).toBeNull();
  expect(compareUnknown(infinite, trusted, truth)).toContain("o[1] is -Infinity");
});

it("answers that compute nothing fail on what is known", () => {
  expect(trivialAnswer(truth)).toBeNull();
  const nothing = { o: { ...truth.o, known: Uint8Array.of(0, 0, 0) } };
  expect(trivialAnswer(nothing)).toContain("All zeros would pass");
});
