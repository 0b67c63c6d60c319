/** Warnings before work that takes long. */

import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import { estimateWork, longCheck, longLadder } from "evolver/internal";
import { expect, it } from "vitest";

const rows = kernel(
  "rows",
  { params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 }, workgroup: [64] },
  ({ x, y, n }, gpu) => {
    const sum = gpu.var(f32, 0);
    gpu.for({ from: 0, to: n }, (i) => sum.add(x.get(i)));
    y.set(gpu.globalId.x, sum.get());
  },
).build({ subgroup: 32 });

it("a launch grows with its invocations and with the turns of its loops", () => {
  const of = (workgroups: number, n: number) => estimateWork(rows, [workgroups, 1, 1], { n }).operations;
  expect(of(20, 10_000) / of(10, 10_000)).toBe(2);
  expect(of(10, 20_000) / of(10, 10_000)).toBeCloseTo(2, 2);
  expect(estimateWork(rows, [1], { n: 8 }).atLeast).toBe(false);
  expect(estimateWork(rows, [1], {}).atLeast).toBe(true);
});

it("only what takes long is warned of, with what takes less", () => {
  expect(longCheck(estimateWork(rows, [4, 1, 1], { n: 1000 }), 3, "rows")).toBeNull();
  expect(longCheck(estimateWork(rows, [4096, 1, 1], { n: 100_000 }), 3, "rows")).toMatch(
    /^warning: one launch of rows is about [\d.]+ G operations, and 3 of them may take some [\d.]+ minutes; fewer --workgroups/,
  );
});

it("a ladder is warned of where the device's speed is known", () => {
  const work = { rungs: 12, runs: 25, flops: 275e9 };
  expect(longLadder(work, "cpu")).toMatch(
    /^warning: one run is 275 GFLOP, and 12 rungs, 25 times each, may take some [\d.]+ hours on cpu/,
  );
  expect(longLadder({ ...work, runs: 1, flops: 1e9 }, "sim")).toBeNull();
  expect(longLadder(work, "cuda")).toBeNull();
});
