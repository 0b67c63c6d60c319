/** The text form of attention problems. */

import fc from "fast-check";
import { expect, it } from "vitest";
import { EvolverError } from "@evolver/base";
import type { AttentionProblem, Mask } from "@evolver/attention";
import { parseShape, printShape, problemOf } from "@evolver/attention/study/internal";

const extent = (largest: number): fc.Arbitrary<number> => fc.integer({ min: 1, max: largest });

const masks: fc.Arbitrary<Mask> = fc.oneof(
  fc.constantFrom<Mask>({ kind: "full" }, { kind: "causal" }),
  fc.record({
    kind: fc.constant("window" as const),
    left: fc.nat({ max: 999_999_999 }),
    right: fc.nat({ max: 999_999_999 }),
  }),
);

/** −0 means what 0 means and prints as it. */
const scales = fc.float({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0));
const softcaps = fc.oneof(fc.constant(0), fc.float({ noNaN: true, noDefaultInfinity: true, min: 2 ** -149 }));

const problems: fc.Arbitrary<AttentionProblem> = fc
  .record({
    batch: extent(4096),
    headsKv: extent(32),
    group: extent(32),
    seqQ: extent(131_072),
    seqK: extent(131_072),
    dim: extent(256),
    mask: masks,
    softcap: softcaps,
    scale: fc.option(scales),
  })
  .map(({ mask, softcap, scale, group, ...shape }) =>
    problemOf({ shape: { ...shape, headsQ: shape.headsKv * group }, mask, softcap, scale }, (what) => {
      throw new Error(what);
    }),
  );

it("reads back what it prints, for every problem", () => {
  fc.assert(
    fc.property(problems, (problem) => {
      const text = printShape(problem);
      expect(parseShape(text)).toEqual(problem);
      expect(printShape(parseShape(text))).toBe(text);
    }),
    { numRuns: 500 },
  );
});

it.each([
  ["B1,Hq8,Hkv4,S512,D32,causal", "B1,Hq8,Hkv4,S512,D32,causal"],
  ["H8,S512,D32", "B1,Hq8,Hkv8,S512,D32"],
  ["d32, SK512, hq8, sq64, full", "B1,Hq8,Hkv8,Sq64,Sk512,D32"],
  ["H8,Hkv2,S512,Sq1,D32", "B1,Hq8,Hkv2,Sq1,Sk512,D32"],
  ["H1,S8,D4,window:128:0,softcap:30,scale:0.5", "B1,Hq1,Hkv1,S8,D4,window:128:0,softcap:30"],
  ["H1,S8,D4,scale:-0.25", "B1,Hq1,Hkv1,S8,D4,scale:-0.25"],
])("%s is %s", (text, normal) => {
  expect(printShape(parseShape(text))).toBe(normal);
});

it("rounds scale and softcap to the f32 values that kernels get", () => {
  const { scale, softcap } = parseShape("H1,S8,D4,scale:0.1,softcap:0.1");
  expect([scale, softcap]).toEqual([Math.fround(0.1), Math.fround(0.1)]);
});

it.each([
  ["", '"" is not understood'],
  ["H8,S512,D32,", '"" is not understood'],
  ["H8,S512,D32,X9", '"X9" is not understood'],
  ["H8,S512,D32,constructor1", '"constructor1" is not understood'],
  ["H8,S512,D3.5", '"D3.5" is not understood'],
  ["H8,S-1,D32", '"S-1" is not understood'],
  ["S512,D32", "heads"],
  ["H8,D32", "sequence"],
  ["H8,Sq512,D32", "Sk"],
  ["H8,S512", "head dimension"],
  ["H8,S0,D32", "Sq (query rows) is 0"],
  ["H8,Sq1,Sk0,D32", "Sk (keys) is 0"],
  ["B0,H8,S512,D32", "B (the batch) is 0"],
  ["B4097,H8,S512,D32", "B (the batch) is 4097"],
  ["H8,S512,D257", "D (the head dimension) is 257"],
  ["H8,S131073,D32", "Sq (query rows) is 131073"],
  ["H8,S99999999999999999999,D32", "Sq (query rows) is 100000000000000000000"],
  ["H1025,S512,D32", "Hq (query heads) is 1025"],
  ["Hq8,Hkv3,S512,D32", "8 query heads do not divide among 3"],
  ["Hq4,Hkv8,S512,D32", "4 query heads do not divide among 8"],
  ["H8,S512,D32,D64", '"D64" comes after another D'],
  ["H8,S512,S64,D32", '"S64" comes after another S'],
  ["H8,S512,D32,causal,window:1:1", '"window:1:1" comes after another mask'],
  ["H8,S512,D32,scale:1,scale:2", '"scale:2" comes after another scale'],
  ["H8,S512,D32,window:1", '"window:1" is not'],
  ["H8,S512,D32,window:1:-1", '"window:1:-1" is not'],
  ["H8,S512,D32,window:9999999999:0", '"window:9999999999:0" is not'],
  ["H8,S512,D32,causal:1", '"causal:1" is not'],
  ["H8,S512,D32,softcap:", '"softcap:" has no proper number'],
  ["H8,S512,D32,softcap:warm", '"softcap:warm" has no proper number'],
  ["H8,S512,D32,softcap:-1", "softcap -1"],
  ["H8,S512,D32,softcap:1e-60", "softcap 1e-60"],
  ["H8,S512,D32,scale:Infinity", '"scale:Infinity" has no proper number'],
  ["H8,S512,D32,scale:1e39", "scale 1e+39"],
])("refuses %j and says %s", (text, what) => {
  let error: unknown;
  try {
    parseShape(text);
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(EvolverError);
  expect((error as EvolverError).code).toBe("SHAPE_INVALID");
  const [line = ""] = (error as EvolverError).message.split("\n");
  expect(line.slice(line.indexOf("is not one:"))).toContain(what);
});
