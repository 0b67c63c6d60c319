import { buffer, f32, kernel } from "@evolver/kernel";
import { expect, it } from "vitest";
import { estimateRegisters } from "@evolver/machine";

/** A kernel that keeps `outer` values throughout and, in turns, `first` and `second` more. */
const build = (outer: number, first: number, second: number, workgroup = 64) =>
  kernel("keeps", { params: { y: buffer(f32, "write") }, workgroup: [workgroup] }, ({ y }, gpu) => {
    const kept = Array.from({ length: outer }, () => gpu.var(f32, 0));
    for (const inner of [first, second])
      gpu.for({ from: 0, to: 4 }, () => {
        const more = Array.from({ length: inner }, () => gpu.var(f32, 1));
        for (const [k, one] of more.entries()) kept[k % outer]?.add(one.get());
      });
    for (const one of kept) y.set(gpu.localIndex, one.get());
  }).build({ subgroup: 32 });

it("counts variables that live together, not those of blocks beside each other", () => {
  expect(estimateRegisters(build(10, 20, 20))).toBe(estimateRegisters(build(10, 20, 1)));
  expect(estimateRegisters(build(30, 20, 20))).toBeGreaterThan(estimateRegisters(build(10, 20, 20)));
  expect(estimateRegisters(build(10, 40, 1))).toBeGreaterThan(estimateRegisters(build(10, 20, 1)));
});

it("gives no more than instructions can name, nor than a workgroup can have", () => {
  expect(estimateRegisters(build(400, 1, 1))).toBe(256);
  expect(estimateRegisters(build(400, 1, 1, 512))).toBe(128);
  expect(estimateRegisters(build(1, 1, 1)) % 8).toBe(0);
});
