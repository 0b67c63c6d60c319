import { deriveSeed, EvolverError, mean, Random, standardDeviation } from "@evolver/base";
import { expect, test } from "vitest";

const draw = <T>(count: number, next: () => T): T[] => Array.from({ length: count }, next);

/** Seeds that generators mix badly: near ones, of one bit, negative, of 53 bits. */
const SEEDS = [0, 1, 2, 3, -1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER];

test("a seed decides the stream, on every machine and in every version", () => {
  const random = new Random(1);
  expect(draw(3, () => random.uint32())).toMatchInlineSnapshot(`
    [
      692499431,
      2720936862,
      2636380247,
    ]
  `);
  expect(deriveSeed(1, "verify", 2)).toMatchInlineSnapshot(`281994433`);
  for (const seed of SEEDS) {
    const [a, b] = [new Random(seed), new Random(seed)];
    expect(draw(20, () => a.uint32())).toEqual(draw(20, () => b.uint32()));
  }
});

test("streams of different seeds have nothing in common, from their first number on", () => {
  const first = SEEDS.map((seed) => new Random(seed).uint32());
  expect(new Set(first).size).toBe(SEEDS.length);
  const near = Array.from({ length: 1000 }, (_, seed) => new Random(seed).uniform());
  expect(mean(near)).toBeCloseTo(0.5, 1);
  expect(standardDeviation(near)).toBeCloseTo(Math.sqrt(1 / 12), 1);
});

test("streams of neighbouring seeds are not correlated", () => {
  const [a, b] = [new Random(7), new Random(8)];
  const products = draw(20_000, () => (a.uniform() - 0.5) * (b.uniform() - 0.5));
  expect(Math.abs(mean(products))).toBeLessThan(0.003);
});

test("what is no integer of 53 bits is not a seed", () => {
  for (const seed of [0.5, Number.NaN, Infinity, 2 ** 53])
    for (const use of [() => new Random(seed), () => deriveSeed(seed, "x")])
      expect(use).toThrow(expect.objectContaining({ code: "INVALID_SEED" }) as EvolverError);
});

test("derived seeds differ by seed, by label and by the kind of a label", () => {
  const seeds = [
    deriveSeed(1),
    deriveSeed(2),
    deriveSeed(1, "a"),
    deriveSeed(1, "b"),
    deriveSeed(1, "a", "b"),
    deriveSeed(1, "ab"),
    deriveSeed(1, 2),
    deriveSeed(1, "2"),
    deriveSeed(1, -2),
  ];
  expect(new Set(seeds).size).toBe(seeds.length);
  for (const seed of seeds) expect(seed).toBe(seed >>> 0);
});

test("a fork does not depend on what was drawn before", () => {
  const [fresh, used] = [new Random(5), new Random(5)];
  draw(7, () => used.normal());
  expect(used.fork("inputs", 3).uint32()).toBe(fresh.fork("inputs", 3).uint32());
  expect(fresh.fork("inputs", 4).uint32()).not.toBe(fresh.fork("inputs", 3).uint32());
});

test("uniform values fill [0, 1) evenly", () => {
  const random = new Random(7);
  const values = draw(20_000, () => random.uniform());
  expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...values)).toBeLessThan(1);
  expectEven(values.map((value) => Math.floor(value * 10)));
});

test("integers below n are even, at the ends too", () => {
  const random = new Random(11);
  expectEven(draw(20_000, () => random.below(10)));
  expectEven(draw(20_000, () => random.integer(-3, 6) + 3));
  expect(new Set(draw(100, () => random.below(1)))).toEqual(new Set([0]));
  expect(() => random.below(0)).toThrow(RangeError);
});

test("a range may be larger than 32 bits", () => {
  const random = new Random(13);
  const values = draw(10_000, () => random.below(2 ** 40));
  expectEven(values.map((value) => Math.floor((value / 2 ** 40) * 10)));
  expect(new Set(values.map((value) => value % 2))).toEqual(new Set([0, 1]));
});

test("normal values have mean 0 and variance 1, and are not correlated with the ones before", () => {
  const random = new Random(17);
  const values = draw(50_000, () => random.normal());
  expect(Math.abs(mean(values))).toBeLessThan(0.02);
  expect(Math.abs(standardDeviation(values) - 1)).toBeLessThan(0.02);
  const products = values.slice(1).map((value, i) => value * (values[i] as number));
  expect(Math.abs(mean(products))).toBeLessThan(0.02);
  expect(values.filter((value) => Math.abs(value) > 1.96).length / values.length).toBeCloseTo(0.05, 2);
});

test("pick takes every element, and nothing from nothing", () => {
  const random = new Random(19);
  expectEven(draw(20_000, () => random.pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])));
  expect(() => random.pick([])).toThrow(RangeError);
});

test("weighted draws in proportion, and never what has no weight", () => {
  const random = new Random(23);
  const drawn = draw(10_000, () => random.weighted([1, 0, 3]));
  const share = (index: number): number => drawn.filter((each) => each === index).length / drawn.length;
  expect(share(0)).toBeCloseTo(0.25, 1);
  expect(share(1)).toBe(0);
  expect(share(2)).toBeCloseTo(0.75, 1);
});

test("shuffle keeps what it is given and moves every element anywhere", () => {
  const random = new Random(29);
  const items = Object.freeze([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const places = draw(20_000, () => random.shuffle(items));
  expect(places[0]?.toSorted()).toEqual(items);
  expectEven(places.map((order) => order.indexOf(0)));
  expectEven(places.map((order) => order.indexOf(9)));
});

/** Of ten values: Pearson's test at a level that one seed in a hundred thousand misses. */
function expectEven(values: readonly number[]): void {
  const expected = values.length / 10;
  const counts = Array.from({ length: 10 }, (_, k) => values.filter((value) => value === k).length);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(values.length);
  expect(counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)).toBeLessThan(38);
}
