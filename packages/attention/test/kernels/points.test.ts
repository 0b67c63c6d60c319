/** Which points are valid, what makes others invalid, and how points are made to fit. */

import {
  axes,
  checkPoint,
  createProblem,
  fitPoint,
  ladder,
  DEFAULT_LIMITS,
  planAttention,
  rungById,
  type AttentionProblem,
  type FlashPoint,
  type WorkgroupLimits,
} from "@evolver/attention";
import { EvolverError } from "@evolver/base";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyPoint } from "../support/random.ts";
import { squareShape } from "../support/problems.ts";

const WIDTHS = [4, 8, 16, 32, 64, 128] as const;
const base = rungById("k04").point;
const tiles = rungById("k11").point;
const problemOf = (dim: number): AttentionProblem => createProblem(squareShape(1, 64, 64, dim));
const check = (point: FlashPoint, dim = 64, subgroup = 32): string | null =>
  checkPoint(point, problemOf(dim), subgroup);
/** The rungs and their variants, by name. */
const named = ladder.flatMap(({ id, point, variants }) =>
  Object.entries({ "": point, ...variants }).map(([variant, own]) => ({
    name: `${id} ${variant}`.trim(),
    point: own,
  })),
);

describe("checkPoint", () => {
  it("takes the rungs on the problem of their claims", () => {
    for (const { point } of ladder) expect(check(point)).toBeNull();
  });

  it.each<[string, FlashPoint, number, number, RegExp]>([
    ["a value that is none of the axis", { ...base, queryRows: 3 }, 64, 32, /^queryRows is 3, .* 1, 2,/],
    ["a missing value", { ...base, layout: undefined as never }, 64, 32, /^layout is undefined/],
    [
      "more rows per subgroup than a workgroup",
      { ...base, rowsPerSubgroup: 8, queryRows: 4 },
      64,
      32,
      /holds 8 rows; the workgroup's 4 rows are not a multiple/,
    ],
    [
      "rows that subgroups cannot share out",
      { ...base, rowsPerSubgroup: 4, queryRows: 6 },
      64,
      32,
      /holds 4 rows; the workgroup's 6 rows are not a multiple/,
    ],
    [
      "more groups of lanes than rows",
      { ...base, rowsPerSubgroup: 2, rowLanes: 4 },
      64,
      32,
      /4 groups of lanes cannot share out 2 rows/,
    ],
    ["a layout without tiles", { ...base, stage: "global" }, 64, 32, /layout, keyRows and pipeline mean/],
    [
      "a key tile without tiles",
      { ...base, stage: "global", layout: "row-major", keyRows: 64 },
      64,
      32,
      /mean nothing/,
    ],
    [
      "a pipeline without tiles",
      { ...base, stage: "global", layout: "row-major", pipeline: "ring" },
      64,
      32,
      /mean nothing/,
    ],
    ["a synchronous pipeline of two tiles", { ...base, depth: 2 }, 64, 32, /synchronous .* holds 1 tiles/],
    [
      "double buffers of one tile",
      { ...base, pipeline: "double-buffered" },
      64,
      32,
      /double-buffered .* holds 2 tiles at once, not 1/,
    ],
    [
      "double buffers of three",
      { ...base, pipeline: "double-buffered", depth: 3 },
      64,
      32,
      /holds 2 tiles at once, not 3/,
    ],
    [
      "a staggered pipeline of two",
      { ...tiles, depth: 2 },
      64,
      32,
      /staggered pipeline holds 1 tiles at once, not 2/,
    ],
    [
      "roles that exchange through shared memory",
      { ...rungById("k07").point, exchange: "shared" },
      64,
      32,
      /roles, probabilities are exchanged by shuffles/,
    ],
    [
      "a staggered pipeline with tiles of several groups",
      { ...tiles, keysPerLane: 4 },
      64,
      32,
      /scores a tile at once: 32 keys at most, not 64/,
    ],
    [
      "more keys per lane than the tile has",
      { ...base, keysPerLane: 4 },
      64,
      32,
      /needs 128 keys in a tile, not 32/,
    ],
    ["too large a workgroup", { ...base, queryRows: 64 }, 64, 32, /2048 invocations; 1024 is the most/],
    [
      "too large a workgroup with the subgroups that copy",
      { ...rungById("k07").point, queryRows: 32 },
      64,
      32,
      /1088 invocations/,
    ],
    [
      "too much shared memory",
      { ...base, pipeline: "ring", depth: 4, keyRows: 128 },
      64,
      32,
      /bytes of shared memory; 232448 is the most/,
    ],
    [
      "too many registers",
      { ...base, queryRows: 8, rowsPerSubgroup: 8, keyRows: 8 },
      256,
      8,
      /registers; 200 is the most/,
    ],
    [
      "too many registers for columns of few lanes",
      { ...tiles, rowLanes: 8, keysPerLane: 8, keyRows: 32 },
      256,
      32,
      /registers; 200 is the most/,
    ],
  ])("refuses %s", (_, point, dim, subgroup, reason) => expect(check(point, dim, subgroup)).toMatch(reason));

  it("leaves thousands of points, each within the limits", () => {
    const sample = fc.sample(anyPoint, { numRuns: 40_000, seed: 11 });
    const valid = sample.filter((point) => check(point) === null);
    const size = axes.reduce((product, { values }) => product * values.length, 1);
    expect((valid.length / sample.length) * size).toBeGreaterThan(100_000);
    for (const point of valid.filter((_, i) => i % Math.ceil(valid.length / 40) === 0)) {
      const { kernel, sharedBytes } = planAttention(point, problemOf(64), { subgroup: 32, writeLse: true });
      for (const forwardProgress of [true, false]) {
        const ir = kernel.build({ subgroup: 32, forwardProgress });
        expect(ir.workgroupSize[0]).toBeLessThanOrEqual(DEFAULT_LIMITS.invocations);
        expect(sharedBytes).toBeLessThanOrEqual(DEFAULT_LIMITS.sharedBytes);
        expect(ir.shared.reduce((sum, { length }) => sum + 4 * length, 0)).toBe(sharedBytes);
      }
    }
  });
});

describe("fitPoint", () => {
  const KIB = 1024;
  const fit = (point: FlashPoint, dim: number, subgroup: number, limits?: Partial<WorkgroupLimits>) =>
    fitPoint(point, problemOf(dim), subgroup, { ...DEFAULT_LIMITS, ...limits });

  it("leaves a point that fits as it is", () => {
    for (const { point } of named) expect(fit(point, 64, 32)).toEqual(point);
  });

  it("halves the key tile until it fits", () => {
    const fitted = fit({ ...base, keyRows: 128 }, 128, 32, { sharedBytes: 48 * KIB });
    expect(fitted).toEqual({ ...base, keyRows: 32 });
  });

  it("keeps fewer tiles on their way before it makes them smaller", () => {
    const ring: FlashPoint = { ...base, pipeline: "ring", depth: 4 };
    expect(fit(ring, 64, 32, { sharedBytes: 48 * KIB })).toEqual({ ...ring, depth: 2 });
    expect(fit(ring, 64, 32, { sharedBytes: 32 * KIB })).toEqual({ ...ring, depth: 2, keyRows: 16 });
  });

  it("gives up the second buffer last", () => {
    const { point } = rungById("k05");
    expect(fit(point, 192, 32, { sharedBytes: 16 * KIB })).toMatchObject({
      pipeline: "synchronous",
      depth: 1,
      keyRows: 8,
    });
    expect(fit(rungById("k06").point, 192, 32, { sharedBytes: 16 * KIB })).toMatchObject({
      pipeline: "ring",
      depth: 1,
      keyRows: 8,
    });
  });

  it("shrinks tiles of queries and of keys alike where both are large", () =>
    expect(fit(tiles, 64, 32, { sharedBytes: 48 * KIB })).toEqual({
      ...tiles,
      queryRows: 64,
      keyRows: 32,
      keysPerLane: 4,
    }));

  it("keeps six subgroups that compute a number that there is", () =>
    expect(fit(rungById("k07").point, 64, 64, { invocations: 256 })).toMatchObject({ queryRows: 2 }));

  it("makes every rung fit every head dimension at every width", () => {
    for (const { point } of named)
      for (const width of WIDTHS)
        for (const dim of [1, 2, 3, 8, 31, 40, 59, 64, 80, 96, 111, 128, 160, 192, 224, 255, 256])
          expect(check(fit(point, dim, width), dim, width)).toBeNull();
  });

  describe.each([16, 32, 48].flatMap((kib) => [256, 1024].map((invocations) => ({ kib, invocations }))))(
    "with $kib KB and $invocations invocations",
    ({ kib, invocations }) => {
      const limits = { sharedBytes: kib * KIB, invocations };
      it.each(named)("$name fits, or says what there is too little of", ({ name, point }) => {
        for (const width of WIDTHS)
          for (const dim of [8, 16, 40, 59, 64, 80, 96, 111, 128, 192, 256]) {
            const problem = problemOf(dim);
            // Two producers and a consumer of 128 lanes; a tile of eight keys of 256 elements with its values.
            const cannot =
              (name === "k07" && width === 128 && invocations === 256) ||
              (name !== "k01" && dim === 256 && kib === 16);
            const [fitted, error] = attempt(() => fitPoint(point, problem, width, limits));
            if (fitted !== null) expect(checkPoint(fitted, problem, width, limits)).toBeNull();
            expect([width, dim, error === null]).toEqual([width, dim, !cannot]);
            if (error !== null) {
              expect(error.code).toBe("INVALID_POINT");
              expect(error.message).toMatch(/\d+ (bytes of shared memory|invocations)[^;]*; \d+ is the most/);
            }
          }
      });
    },
  );

  it("makes any point fit where a smaller one exists, or says why not", () => {
    fc.assert(
      fc.property(
        anyPoint,
        fc.constantFrom(...WIDTHS),
        fc.constantFrom(8, 40, 59, 64, 111, 128, 256),
        fc.constantFrom(16, 32, 48, 227),
        fc.constantFrom(256, 1024),
        (point, width, dim, kib, invocations) => {
          const limits = { sharedBytes: kib * KIB, invocations };
          const problem = problemOf(dim);
          const [fitted, error] = attempt(() => fitPoint(point, problem, width, limits));
          if (fitted !== null) expect(checkPoint(fitted, problem, width, limits)).toBeNull();
          else expect(error?.code).toBe("INVALID_POINT");
          // What contradicts itself anywhere is nobody's to make smaller.
          if (checkPoint(point, problem, width, limits) === null) expect(fitted).toEqual(point);
        },
      ),
      { numRuns: 3000, seed: 12 },
    );
  });

  it("says why nothing smaller helps", () => {
    const point = { ...base, queryRows: 64, rowsPerSubgroup: 3 };
    expect(() => fitPoint(point, problemOf(64), 32)).toThrowError(
      expect.objectContaining({
        code: "INVALID_POINT",
        message: expect.stringContaining("rowsPerSubgroup is 3"),
      }),
    );
    const large = { ...base, queryRows: 64 };
    expect(() => planAttention(large, problemOf(64), { subgroup: 32, writeLse: false })).toThrowError(
      expect.objectContaining({
        code: "INVALID_POINT",
        message: expect.stringContaining("2048 invocations"),
      }),
    );
  });
});

function attempt(fit: () => FlashPoint): [FlashPoint, null] | [null, EvolverError] {
  try {
    return [fit(), null];
  } catch (error) {
    if (error instanceof EvolverError) return [null, error];
    throw error;
  }
}
