/** The difference of two texts. */

import { difference } from "@evolver/guide";
import { expect, it } from "vitest";

const lines = (...all: string[]): string => all.join("\n");

it("marks what went and what came, in the order of the texts", () => {
  expect(difference(lines("a", "b", "c"), lines("a", "x", "c", "d"))).toEqual({
    text: lines("  a", "- b", "+ x", "  c", "+ d"),
    changed: 3,
  });
});

it("leaves out what is far from a change", () => {
  const before = lines("1", "2", "3", "4", "5", "6", "7");
  const after = lines("1", "2", "3", "4 more", "5", "6", "7");
  expect(difference(before, after, { context: 1 }).text).toBe(
    lines("  …", "  3", "- 4", "+ 4 more", "  5", "  …"),
  );
});

it("takes lines with one key for the same, and shows the later text's", () => {
  const key = (line: string): string => line.replaceAll(/\d/g, "");
  expect(difference(lines("sum1 = a", "b"), lines("sum2 = a", "c"), { key })).toEqual({
    text: lines("  sum2 = a", "- b", "+ c"),
    changed: 2,
  });
});

it("of equal texts shows no line", () => {
  expect(difference("a\nb", "a\nb")).toEqual({ text: "  …", changed: 0 });
});
