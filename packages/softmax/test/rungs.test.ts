/** Every rung on every device that is here, and on the simulator at several subgroup widths. */

import { Random } from "@evolver/base";
import { CLAIM_SUBGROUP, listDevices, openDevice, openSim, type Device } from "@evolver/device";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  axes,
  checkPoint,
  fitPoint,
  ladder,
  rowOperations,
  rowTruth,
  runClaims,
  type RowPoint,
  type RowProblem,
} from "@evolver/softmax";
import { runRows } from "./support/run.ts";

const hasWebgpu = (await listDevices()).some(({ id, available }) => id === "webgpu" && available);

const OPENED: readonly (readonly [name: string, open: () => Promise<Device>])[] = [
  ...[4, 8, 32, 64].map((subgroup) => [`sim ${subgroup}`, async () => openSim({ subgroup })] as const),
  ["cpu", () => openDevice("cpu")],
  ...(hasWebgpu ? [["webgpu", () => openDevice("webgpu")] as const] : []),
];

/** Rows and columns that divide nothing, one of each, and more than a pass of every width takes. */
const SIZES = [
  [1, 1],
  [5, 3],
  [19, 37],
  [33, 64],
  [3, 130],
] as const;

const POINTS: readonly (readonly [name: string, point: RowPoint])[] = ladder.flatMap(
  ({ id, point, variants }) => [
    [id, point] as const,
    ...Object.entries(variants).map(([name, variant]) => [`${id} ${name}`, variant] as const),
  ],
);

function dataOf({ rows, columns }: RowProblem, seed = 1): Float32Array {
  const random = new Random(seed);
  return Float32Array.from({ length: rows * columns }, () => random.normal());
}

/** How many errors beyond the bound there are. */
function errorsOf(y: Float32Array, { values, bound }: ReturnType<typeof rowTruth>): number {
  return y.reduce((count, got, i) => count + (Math.abs(got - (values[i] as number)) <= bound ? 0 : 1), 0);
}

describe.each(OPENED)("on %s", (_, open) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.close());

  it.each(POINTS)("%s is right for both operations and all sizes", async (_name, point) => {
    for (const operation of rowOperations)
      for (const [rows, columns] of SIZES) {
        const problem = { operation, rows, columns };
        const x = dataOf(problem);
        const limits = { invocations: 1024, workgroups: 65_535 };
        const fitted = fitPoint(point, problem, device.subgroupSize, limits);
        const y = await runRows(device, fitted, problem, x);
        expect(errorsOf(y, rowTruth(problem, x)), `${operation} ${rows}×${columns}`).toBe(0);
      }
  });
});

describe("every point of the space", () => {
  it("that fits is right, on columns that four divides and on some that it does not", async () => {
    const device = openSim({ subgroup: 8 });
    const points = axes.reduce<readonly object[]>(
      (all, { name, values }) => all.flatMap((point) => values.map((value) => ({ ...point, [name]: value }))),
      [{}],
    ) as readonly RowPoint[];
    let tried = 0;
    for (const operation of rowOperations)
      for (const columns of [44, 27]) {
        const problem = { operation, rows: 11, columns };
        const x = dataOf(problem, 2);
        const truth = rowTruth(problem, x);
        for (const point of points) {
          if (checkPoint(point, problem, device.subgroupSize) !== null) continue;
          tried++;
          const y = await runRows(device, point, problem, x);
          expect(errorsOf(y, truth), JSON.stringify([operation, columns, point])).toBe(0);
        }
      }
    expect(tried).toBe(4 * points.length);
    await device.close();
  });

  it("says what is wrong where it does not fit", () => {
    const problem = { operation: "softmax", rows: 100_000, columns: 4096 } as const;
    const point = ladder[2]?.point as RowPoint;
    expect(checkPoint(point, problem, 32)).toMatch(/keep 128 elements in registers, more than 64/);
    expect(checkPoint({ ...point, vector: 3 }, problem, 32)).toMatch(
      /vector is 3, and must be one of 1, 2, 4/,
    );
    expect(checkPoint({ ...point, subgroups: 8 }, { ...problem, columns: 8 }, 64)).toMatch(/512 invocations/);
    const narrow = { ...point, subgroups: 1 };
    expect(checkPoint(narrow, { ...problem, columns: 8 }, 32)).toMatch(/100000 workgroups/);
    expect(() => fitPoint(point, problem, 32)).toThrow(/in registers/);
    expect(fitPoint(point, { ...problem, columns: 8 }, 128).subgroups).toBe(2);
  });
});

describe("claims", () => {
  it.each(ladder)("of $id hold", async (rung) => {
    const sim = openSim({ subgroup: CLAIM_SUBGROUP });
    for (const { text, holds, value, limit } of await runClaims(sim, rung))
      expect(holds, `${text}: ${value}, ${limit}`).toBe(true);
    await sim.close();
  });

  it("need a device that counts", async () => {
    const cpu = await openDevice("cpu");
    const rung = ladder[0] as (typeof ladder)[number];
    await expect(runClaims(cpu, rung)).rejects.toMatchObject({ code: "CLAIMS_NEED_COUNTERS" });
    await cpu.close();
  });
});
