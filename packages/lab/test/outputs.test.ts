/** Comparing with a truth that is known in part. */

import { expect, it } from "vitest";
import { compareOutputs, trivialAnswer } from "../src/judge/outputs.ts";

const truth = { o: { values: Float64Array.of(1, 0, 3), bound: 0.1, known: Uint8Array.of(1, 0, 1) } };
const compare = (...o: number[]) => compareOutputs({ o: Float32Array.from(o) }, truth).problem;

it("elements that are known are compared", () => {
  expect(compare(1, 2, 3)).toBeNull();
  expect(compare(1.2, 2, 3)).toContain("o[0] is");
  expect(compare(1, 2, 2)).toContain("o[2] is 2");
});

it("the others are anything but NaN", () => {
  expect(compare(1, -7e30, 3)).toBeNull();
  expect(compare(1, NaN, 3)).toContain("o[1] is NaN");
});

it("answers that compute nothing fail on what is known", () => {
  expect(trivialAnswer(truth)).toBeNull();
  const nothing = { o: { ...truth.o, known: Uint8Array.of(0, 0, 0) } };
  expect(trivialAnswer(nothing)).toContain("All zeros would pass");
});
