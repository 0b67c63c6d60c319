/** Numbers and tables as people read them. */

import { expect, it } from "vitest";
import { fourDigits, measurement, quantity, table } from "../src/output.ts";

it.each([
  [8, "B", "8 B"],
  [0, "FLOP", "0 FLOP"],
  [999, "B", "999 B"],
  [16_384, "B", "16.4 kB"],
  [2_100_000, "", "2.10 M"],
  [512, "", "512"],
])("%d with the unit %j is %j", (value, unit, text) => expect(quantity(value, unit)).toBe(text));

it.each([
  [16_384, "bytes", "16.4 kB"],
  [128, "bytes", "128 B"],
  [75_654.3, "GFLOP/s", "75,650 GFLOP/s"],
  [4321.5, "GB/s", "4322 GB/s"],
  [0.0123456, "µs", "0.01235 µs"],
])("%d %s is %j", (value, unit, text) => expect(measurement(value, unit)).toBe(text));

it("no figure of a device has an exponent", () => {
  for (let power = -6; power < 15; power++) expect(fourDigits(1.23456 * 10 ** power)).not.toContain("e");
});

it("a wrapped column goes on below itself, and no word is lost", () => {
  const text = "shared 16×64, padded, ring of 4";
  const shown = table(
    [
      { id: "1", text },
      { id: "2", text: "k" },
    ],
    [
      { title: "id", value: ({ id }) => id },
      { title: "what", value: (row) => row.text, wrap: 14 },
    ],
  );
  expect(shown.split("\n")).toEqual([
    "id  what",
    "──  ─────────────",
    "1   shared 16×64,",
    "    padded, ring",
    "    of 4",
    "2   k",
  ]);
});
