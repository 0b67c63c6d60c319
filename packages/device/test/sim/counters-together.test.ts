/** Counters of operations that lanes do together, and on memory that they change together: against numbers worked out by hand. */

import { abs, atomic, buffer, f32, i32, kernel, u32 } from "@evolver/kernel";
import type { F32, Gpu, Kernel } from "@evolver/kernel";
import { openSim } from "@evolver/device";
import type { Counters } from "@evolver/device";
import { describe, expect, test } from "vitest";

const LENGTH = 2048;

async function countersOf(
  made: unknown,
  subgroup = 32,
  lengths: Record<string, number> = {},
): Promise<Counters> {
  const device = openSim({ subgroup, onFinding: "collect" });
  const { params } = made as Kernel;
  const program = await device.compile(made as Kernel);
  const args = Object.entries(params).map(([name, param]) => [
    name,
    device.createBuffer(param.kind === "buffer" ? param.element : "f32", lengths[name] ?? LENGTH),
  ]);
  const { counters } = await program.run({ workgroups: 1, args: Object.fromEntries(args) as never });
  return counters as Counters;
}

describe("atomic operations on global memory", () => {
  const adding = (stride: number, lanes: number): unknown =>
    kernel("k", { params: { counts: buffer(atomic(u32)) }, workgroup: [32] }, ({ counts }, gpu) =>
      gpu.if(gpu.lane.lt(lanes), () => counts.add(gpu.lane.mul(stride), 1)),
    );

  test.each([
    ["words side by side", 1, 32, { atomicSectors: 4, atomicBytes: 128, atomicRequests: 1 }],
    ["one word", 0, 32, { atomicSectors: 1, atomicBytes: 128, atomicRequests: 1 }],
    ["a sector each", 8, 32, { atomicSectors: 32, atomicBytes: 128, atomicRequests: 1 }],
    ["five lanes, a sector each", 8, 5, { atomicSectors: 5, atomicBytes: 20, atomicRequests: 1 }],
  ])("%s", async (_, stride, lanes, expected) => {
    const counters = await countersOf(adding(stride, lanes));
    expect(counters.memory["counts"]).toMatchObject({
      ...expected,
      readBytes: 0,
      writeBytes: 0,
      readSectors: 0,
    });
    expect(counters.globalSectors).toBe(expected.atomicSectors);
    expect(counters.globalAtomics).toBe(lanes);
  });

  test("outside the buffer move nothing", async () => {
    const counters = await countersOf(adding(8, 32), 32, { counts: 100 });
    expect(counters.memory["counts"]?.atomicBytes).toBe(0);
  });
});

describe("atomic operations on shared memory", () => {
  test.each([
    ["a word of each bank", 1, 1, 0],
    ["words of one bank", 32, 32, 31],
    ["one word", 0, 1, 0],
    ["every other bank", 2, 2, 1],
  ])("%s", async (_, stride, passes, conflicts) => {
    const counters = await countersOf(
      kernel("k", { params: { out: buffer(u32, "write") }, workgroup: [32] }, ({ out }, gpu) => {
        const bins = gpu.shared(atomic(u32), 1024);
        bins.set(gpu.lane.mul(stride), 1);
        out.set(gpu.lane, 1);
      }),
    );
    expect(counters.memory["bins"]).toMatchObject({ passes, conflicts, atomicRequests: 1, atomicBytes: 128 });
    expect(counters).toMatchObject({ sharedPasses: passes, sharedConflicts: conflicts, sharedAtomics: 32 });
  });
});

describe("floating-point operations", () => {
  const flopsOf = async (body: (x: F32, gpu: Gpu) => F32, subgroup = 32): Promise<number> => {
    const params = { x: buffer(f32), out: buffer(f32, "write") };
    const made = kernel("k", { params, workgroup: [subgroup] }, ({ x, out }, gpu) =>
      out.set(gpu.lane, body(x.get(gpu.lane), gpu)),
    );
    return (await countersOf(made, subgroup)).flops;
  };

  test.each([
    [8, 3],
    [32, 5],
    [128, 7],
  ])("a sum or extreme of %d lanes is %d per lane", async (width, steps) => {
    expect(await flopsOf((x, gpu) => gpu.subgroup.sum(x), width)).toBe(steps * width);
    expect(await flopsOf((x, gpu) => gpu.subgroup.max(x), width)).toBe(steps * width);
  });

  test("a scan is as many as lanes add: 0 in lane 0, 5 in the upper half of 32", async () => {
    const byHand = [1, 2, 4, 8, 16].reduce((sum, distance) => sum + 32 - distance, 0);
    expect(await flopsOf((x, gpu) => gpu.subgroup.inclusiveSum(x))).toBe(byHand);
    expect(await flopsOf((x, gpu) => gpu.subgroup.exclusiveSum(x))).toBe(byHand);
  });

  test("votes, shuffles and sums of integers are none", async () => {
    const none = await flopsOf((_, gpu) => gpu.subgroup.sum(gpu.subgroup.shuffleXor(gpu.lane, 1)).toF32());
    expect(none).toBe(0);
  });

  test("a minimum or maximum is one, a sign none", async () => {
    expect(await flopsOf((x) => x.min(1).max(0))).toBe(64);
    expect(await flopsOf((x) => abs(x.neg()))).toBe(0);
  });

  test("an atomic addition of f32 is one per lane, one of integers and an exchange none", async () => {
    const params = { x: buffer(atomic(f32)), n: buffer(atomic(i32)) };
    const { flops } = await countersOf(
      kernel("k", { params, workgroup: [32] }, ({ x, n }, gpu) => {
        gpu.if(gpu.lane.lt(10), () => {
          x.add(0, 1);
          x.exchange(1, 2);
          n.add(0, 1);
        });
      }),
    );
    expect(flops).toBe(10);
  });
});
