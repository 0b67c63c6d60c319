import * as format from "@evolver/base";
import { expect, test } from "vitest";

test("digits: so many that matter, and never less than the whole part", () => {
  expect([0, 2, 3.27159, 99.95, 1234.5, -5].map((value) => format.digits(value))).toEqual([
    "0.00",
    "2.00",
    "3.27",
    "100",
    "1,235",
    "-5.00",
  ]);
  expect(format.digits(75_654.3, 4)).toBe("75,654");
});

test("number: no zeros at the end", () => {
  expect([0, 2, 0.25, 3.27159, 999.6, 1_234_567.8].map((value) => format.number(value))).toEqual([
    "0",
    "2",
    "0.25",
    "3.27",
    "1,000",
    "1,234,568",
  ]);
});

test("quantity: a prefix that fits", () => {
  expect(format.quantity(4_297_064_448)).toBe("4.30 G");
  expect(format.quantity(4_297_064_448, "B")).toBe("4.30 GB");
  expect(format.quantity(512)).toBe("512");
  expect(format.quantity(512, "B")).toBe("512 B");
  expect(format.quantity(0.126)).toBe("0.13");
  expect(format.quantity(-2500, "B")).toBe("-2.50 kB");
  expect(format.quantity(999_999)).toBe("1.00 M");
  expect(format.quantity(3e15)).toBe("3,000 T");
});

test("bytes of memories are counted in powers of two", () => {
  expect([0, 1, 1023, 1536, 2 ** 20, 3 * 2 ** 30].map(format.binaryBytes)).toEqual([
    "0 B",
    "1 B",
    "1,023 B",
    "1.5 KiB",
    "1 MiB",
    "3 GiB",
  ]);
});

test("measurements have four digits and no exponent", () => {
  expect(format.measurement(75_654.3, "GFLOP/s")).toBe("75,650 GFLOP/s");
  expect(format.measurement(4321.5, "GB/s")).toBe("4322 GB/s");
  expect(format.measurement(0.0123456, "µs")).toBe("0.01235 µs");
  expect(format.measurement(128, "bytes")).toBe("128 B");
  expect(format.measurement(16_384, "bytes")).toBe("16.4 kB");
  for (let power = -6; power < 15; power++) expect(format.rounded(1.23456 * 10 ** power)).not.toContain("e");
});

test("durations are in the unit that fits", () => {
  expect([0, 0.0123, 1.2345, 999, 1500, 60_000, 119_999].map((ms) => format.duration(ms))).toEqual([
    "0.00 ms",
    "12.3 µs",
    "1.23 ms",
    "999 ms",
    "1.50 s",
    "1 min 0 s",
    "2 min 0 s",
  ]);
  expect(format.duration(1.23456, 4)).toBe("1.235 ms");
  expect([0.012345, 12].map(format.durationsUpTo(12))).toEqual(["0.0123 ms", "12 ms"]);
  expect([0.002, 0.0098].map(format.durationsUpTo(0.0098))).toEqual(["2 µs", "9.8 µs"]);
});

test("shares, ratios, counts and powers of ten", () => {
  expect(format.percent(0.1234)).toBe("12.3 %");
  expect(format.times(1.5)).toBe("1.50×");
  expect(format.counted(1, "cycle")).toBe("1 cycle");
  expect(format.counted(143_769_600, "point")).toBe("143,769,600 points");
  expect(format.scientific(2.5e-7)).toBe("2.5·10⁻⁷");
  expect(format.scientific(0)).toBe("0");
  expect(format.orNothing(null, String)).toBe("–");
  expect(format.orNothing(2, String)).toBe("2");
});
