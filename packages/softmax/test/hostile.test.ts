/** What comes of NaN, infinities and extreme rows, the same at every point. */

import { openSim, type SimDevice } from "@evolver/device";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ladder, referenceRows, rowTruth, type RowPoint, type RowProblem } from "@evolver/softmax";
import { runRows } from "./support/run.ts";

let device: SimDevice;
beforeAll(() => {
  device = openSim({ subgroup: 8 });
});
afterAll(() => device.close());

const POINTS: readonly (readonly [string, RowPoint])[] = ladder.flatMap(({ id, point, variants }) =>
  [point, ...Object.values(variants)].map((each, k) => [`${id} ${k}`, each] as const),
);

const COLUMNS = 12;
const row = (fill: (column: number) => number): number[] =>
  Array.from({ length: COLUMNS }, (_, i) => fill(i));
const tame = row((i) => Math.sin(i));

describe.each(POINTS)("at %s", (_, point) => {
  const run = (operation: RowProblem["operation"], rows: readonly (readonly number[])[]) =>
    runRows(
      device,
      point,
      { operation, rows: rows.length, columns: COLUMNS },
      Float32Array.from(rows.flat()),
    );
  const rowOf = (y: Float32Array, k: number): number[] => [...y.subarray(k * COLUMNS, (k + 1) * COLUMNS)];

  it.each(["softmax", "layerNorm"] as const)(
    "%s: a NaN makes its row NaN, and no other",
    async (operation) => {
      const y = await run(operation, [tame, row((i) => (i === 7 ? Number.NaN : 1)), tame]);
      expect(rowOf(y, 1).every(Number.isNaN)).toBe(true);
      expect([...rowOf(y, 0), ...rowOf(y, 2)].every(Number.isFinite)).toBe(true);
      expect(rowOf(y, 2)).toEqual(rowOf(y, 0));
    },
  );

  it("softmax of +∞ is NaN, and so is layer norm of any infinity, as the reference has it", async () => {
    const infinite = row((i) => (i === 3 ? Infinity : 0));
    for (const [operation, value] of [
      ["softmax", infinite],
      ["layerNorm", infinite],
      ["layerNorm", infinite.map((each) => -each)],
    ] as const) {
      const problem = { operation, rows: 1, columns: COLUMNS };
      const wanted = referenceRows(problem, Float32Array.from(value));
      const y = await run(operation, [value, tame]);
      for (const [i, got] of rowOf(y, 0).entries())
        expect(Number.isNaN(got) || got === wanted[i], `${operation} ${i}`).toBe(true);
      expect(rowOf(y, 0).some(Number.isNaN)).toBe(true);
      expect(rowOf(y, 1).every(Number.isFinite)).toBe(true);
    }
  });

  it("softmax of −∞ is 0, of nothing else all zeros", async () => {
    const y = await run("softmax", [row(() => -Infinity), row((i) => (i < 3 ? -Infinity : 0))]);
    expect(rowOf(y, 0)).toEqual(row(() => 0));
    expect(rowOf(y, 1).slice(0, 3)).toEqual([0, 0, 0]);
    for (const got of rowOf(y, 1).slice(3)) expect(got).toBeCloseTo(1 / 9, 6);
  });

  it("softmax of the largest numbers is finite", async () => {
    const y = await run("softmax", [row((i) => (i === 5 ? 3.4e38 : -3.4e38)), row(() => -3.4e38)]);
    expect(rowOf(y, 0)).toEqual(row((i) => (i === 5 ? 1 : 0)));
    for (const got of rowOf(y, 1)) expect(got).toBeCloseTo(1 / COLUMNS, 6);
  });

  it("layer norm of equal values is 0, and of values far from 0 within its tolerance", async () => {
    const far = row((i) => 1000 + Math.sin(i));
    const y = await run("layerNorm", [row(() => 3), far]);
    expect(rowOf(y, 0)).toEqual(row(() => 0));
    const { values, bound } = rowTruth(
      { operation: "layerNorm", rows: 1, columns: COLUMNS },
      Float32Array.from(far),
    );
    for (const [i, got] of rowOf(y, 1).entries())
      expect(Math.abs(got - (values[i] as number))).toBeLessThanOrEqual(bound);
  });
});
