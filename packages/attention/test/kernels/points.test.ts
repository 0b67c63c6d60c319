/** Which points are valid, what makes others invalid, and how points are made to fit. */

import {
  axes,
  checkPoint,
  createProblem,
  fitPoint,
  ladder,
  DEFAULT_LIMITS,
  planAttention,
  type AttentionProblem,
  type FlashPoint,
} from "@evolver/attention";
import { describe, expect, it } from "vitest";
import { squareShape } from "../support/problems.ts";

const WIDTHS = [4, 8, 16, 32, 64, 128] as const;
const base = ladder.at(-1)!.point;
const problemOf = (dim: number): AttentionProblem => createProblem(squareShape(1, 64, 64, dim));
const check = (change: Partial<FlashPoint>, dim = 64, subgroup = 32): string | null =>
  checkPoint({ ...base, ...change }, problemOf(dim), subgroup);

/** All points, the last axis fastest. */
function* everyPoint(): Generator<FlashPoint> {
  let points: Record<string, unknown>[] = [{}];
  for (const { name, values } of axes)
    points = points.flatMap((point) =>
      (values as readonly unknown[]).map((value) => ({ ...point, [name]: value })),
    );
  yield* points as unknown as FlashPoint[];
}

describe("checkPoint", () => {
  it("takes the rungs at every width", () => {
    for (const { point } of ladder)
      for (const width of WIDTHS) expect(checkPoint(point, problemOf(64), width)).toBeNull();
  });

  it.each<[string, Partial<FlashPoint>, number, number, RegExp]>([
    [
      "a value that is none of the axis",
      { queryRows: 3 },
      64,
      32,
      /^queryRows is 3, and must be one of 1, 2,/,
    ],
    ["a missing value", { layout: undefined as never }, 64, 32, /^layout is undefined/],
    ["more rows a subgroup than a workgroup", { rowsPerSubgroup: 8, queryRows: 4 }, 64, 32, /only has 4/],
    ["a layout without tiles", { stage: "global" }, 64, 32, /layout and keyRows mean nothing/],
    [
      "a key tile without tiles",
      { stage: "global", layout: "row-major", keyRows: 64 },
      64,
      32,
      /mean nothing/,
    ],
    ["more keys a lane than the tile has", { keysPerLane: 4 }, 64, 32, /needs 128 keys in a tile, not 32/],
    ["too large a workgroup", { queryRows: 64 }, 64, 32, /2048 invocations; 1024 is the most/],
    ["too much shared memory", { keyRows: 128 }, 64, 32, /bytes of shared memory; 49152 is the most/],
    ["too many registers", { rowsPerSubgroup: 8, keyRows: 8 }, 256, 8, /registers; 200 is the most/],
  ])("refuses %s", (_, change, dim, subgroup, reason) =>
    expect(check(change, dim, subgroup)).toMatch(reason),
  );

  it("leaves thousands of points, each within the limits", () => {
    const valid = [...everyPoint()].filter((point) => checkPoint(point, problemOf(64), 32) === null);
    expect(valid.length).toBeGreaterThan(2000);
    for (const point of valid.filter((_, i) => i % 150 === 0)) {
      const { kernel, sharedBytes } = planAttention(point, problemOf(64), { subgroup: 32, writeLse: true });
      const ir = kernel.build({ subgroup: 32 });
      expect(ir.workgroupSize[0]).toBeLessThanOrEqual(DEFAULT_LIMITS.invocations);
      expect(sharedBytes).toBeLessThanOrEqual(DEFAULT_LIMITS.sharedBytes);
      expect(ir.shared.reduce((sum, { length }) => sum + 4 * length, 0)).toBe(sharedBytes);
    }
  });
});

describe("fitPoint", () => {
  it("leaves a point that fits as it is", () => expect(fitPoint(base, problemOf(64), 32)).toEqual(base));

  it("halves the key tile until it fits", () => {
    const fitted = fitPoint({ ...base, keyRows: 128 }, problemOf(128), 32);
    expect(fitted).toEqual({ ...base, keyRows: 32 });
    expect(checkPoint({ ...base, keyRows: 64 }, problemOf(128), 32)).not.toBeNull();
  });

  it("makes every rung fit every head dimension at every width", () => {
    for (const { point } of ladder)
      for (const width of WIDTHS)
        for (const dim of [1, 2, 3, 8, 31, 40, 59, 64, 80, 96, 111, 128, 160, 192, 224, 255, 256]) {
          const problem = problemOf(dim);
          expect(checkPoint(fitPoint(point, problem, width), problem, width)).toBeNull();
        }
  });

  it("says why no tile helps", () => {
    const point = { ...base, queryRows: 64, rowsPerSubgroup: 1 };
    expect(() => fitPoint(point, problemOf(64), 32)).toThrowError(
      expect.objectContaining({
        code: "INVALID_POINT",
        message: expect.stringContaining("2048 invocations"),
      }),
    );
    expect(() => planAttention(point, problemOf(64), { subgroup: 32, writeLse: false })).toThrowError(
      expect.objectContaining({ code: "INVALID_POINT" }),
    );
  });
});
