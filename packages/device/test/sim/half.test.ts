/** Elements of two bytes on the simulator: counters worked out on paper, alignment, and races element by element. */

import { bf16, buffer, f16, f32, kernel } from "@evolver/kernel";
import type { SharedArray, U32 } from "@evolver/kernel";
import { fromF16Bits, openSim, toF16Bits } from "@evolver/device";
import type { Counters, Finding, MemoryCounters } from "@evolver/device";
import { describe, expect, test } from "vitest";

type Access = 1 | 2 | 4 | 8;

/** One load by each lane of one subgroup, from a buffer of f16 or from shared memory of bf16. */
async function read(
  space: "global" | "shared",
  at: (lane: U32) => U32 | number,
  access: Access = 1,
  width = 32,
): Promise<MemoryCounters> {
  const device = openSim({ subgroup: width, checks: false });
  const params = { x: buffer(f16), out: buffer(f32, "write") };
  const program = await device.compile(
    kernel("k", { params, workgroup: [width] }, ({ x, out }, gpu) => {
      const tile = gpu.shared(bf16, 8448, "tile");
      const index = at(gpu.lane) as U32;
      const take = (memory: Pick<SharedArray<"f16" | "bf16">, "get" | "getVec">) =>
        access === 1 ? memory.get(index) : memory.getVec(access, index).x;
      out.set(gpu.lane, take((space === "global" ? x : tile) as never).toF32());
    }),
  );
  const args = { x: device.createBuffer("f16", 16384), out: device.createBuffer("f32", width) };
  const { counters } = await program.run({ workgroups: 1, args });
  await device.close();
  return (counters as Counters).memory[space === "global" ? "x" : "tile"] as MemoryCounters;
}

describe("global memory", () => {
  test("stride 1: 32 lanes read 64 bytes, 2 sectors; from element 1 on bytes 2 to 65 touch 3", async () => {
    const counters = await read("global", (lane) => lane);
    expect(counters).toMatchObject({ readBytes: 64, readRequests: 1, readSectors: 2 });
    expect((await read("global", (lane) => lane.add(1))).readSectors).toBe(3);
  });

  test("stride 2: 128 bytes, 4 sectors; stride 16 and more: one per lane; broadcast: one", async () => {
    expect((await read("global", (lane) => lane.mul(2))).readSectors).toBe(4);
    expect((await read("global", (lane) => lane.mul(16))).readSectors).toBe(32);
    expect((await read("global", (lane) => lane.xor(31))).readSectors).toBe(2);
    expect(await read("global", () => 7)).toMatchObject({ readBytes: 64, readSectors: 1 });
  });

  test("8 elements at once: 32 · 16 bytes are 16 sectors; rows of 64 elements: one sector each", async () => {
    expect(await read("global", (lane) => lane.mul(8), 8)).toMatchObject({ readBytes: 512, readSectors: 16 });
    expect((await read("global", (lane) => lane.mul(64), 8)).readSectors).toBe(32);
  });
});

describe("shared memory: two elements share a word and so a bank", () => {
  const passes = async (...given: [at: (lane: U32) => U32 | number, access?: Access, width?: number]) => {
    const { passes: count, conflicts } = await read("shared", ...given);
    return [count, conflicts];
  };

  test("stride 1: 16 words, two lanes each, one pass", async () => {
    expect(await passes((lane) => lane)).toEqual([1, 0]);
    expect(await passes((lane) => lane.xor(1))).toEqual([1, 0]);
  });

  test("stride 2: 32 words in 32 banks, one pass; stride 4: banks 0, 2, … twice, two passes", async () => {
    expect(await passes((lane) => lane.mul(2))).toEqual([1, 0]);
    expect(await passes((lane) => lane.mul(4))).toEqual([2, 1]);
  });

  test("stride 64: all in bank 0, 32 passes; stride 66 = 33 words: one pass", async () => {
    expect(await passes((lane) => lane.mul(64))).toEqual([32, 31]);
    expect(await passes((lane) => lane.mul(66))).toEqual([1, 0]);
  });

  test("pairs are one word per lane: 32 lanes per group; fours two words: 16 lanes; eights four: 8 lanes", async () => {
    expect(await passes((lane) => lane.mul(2), 2)).toEqual([1, 0]);
    expect(await passes((lane) => lane.mul(4), 4)).toEqual([2, 0]);
    expect(await passes((lane) => lane.mul(8), 8)).toEqual([4, 0]);
    // Rows of 64 elements: in each group of 8 lanes all start in bank 0, 8 passes and 7 conflicts.
    expect(await passes((lane) => lane.mul(64), 8)).toEqual([32, 28]);
  });

  test("one word for all lanes is one pass, whichever half each lane reads", async () => {
    expect(await passes((lane) => lane.and(1))).toEqual([1, 0]);
  });
});

async function findingsOf(
  body: (x: SharedArray<"f16">, tile: SharedArray<"f16">, lane: U32) => void,
): Promise<{
  findings: readonly Finding[];
  x: Float32Array;
}> {
  const device = openSim({ onFinding: "collect" });
  const program = await device.compile(
    kernel("k", { params: { x: buffer(f16, "read_write") }, workgroup: [32] }, ({ x }, gpu) =>
      body(x as unknown as SharedArray<"f16">, gpu.shared(f16, 64, "tile"), gpu.lane),
    ),
  );
  const x = device.createBuffer("f16", toF16Bits(Array.from({ length: 64 }, (_, i) => i)));
  const { findings } = await program.run({ workgroups: 1, args: { x } });
  const after = fromF16Bits(await x.read());
  await device.close();
  return { findings, x: after };
}

describe("findings", () => {
  test("neighbours in one word are no race; the same element is", async () => {
    const apart = await findingsOf((x, _, lane) => x.set(lane, x.get(lane.add(32))));
    expect(apart.findings).toEqual([]);
    const { findings } = await findingsOf((x, _, lane) => x.set(lane.divTrunc(2), 1));
    expect(findings.map(({ kind }) => kind)).toContain("data-race");
    expect(findings[0]?.message).toContain('buffer "x"[0]');
  });

  test("8 elements at once start at a multiple of 8", async () => {
    const good = await findingsOf((x, _, lane) =>
      x.setVec(lane.and(7).mul(8), x.getVec(8, lane.and(7).mul(8))),
    );
    expect(good.findings.filter(({ kind }) => kind === "misaligned-access")).toEqual([]);
    const { findings } = await findingsOf((x, tile, lane) => tile.setVec(0, x.getVec(8, lane.and(1).mul(4))));
    expect(findings.some(({ kind }) => kind === "misaligned-access")).toBe(true);
    expect(findings.find(({ kind }) => kind === "misaligned-access")?.message).toContain(
      "an 8-element access",
    );
  });

  test("an element beyond the end, and one that was never written", async () => {
    const { findings } = await findingsOf((x, tile, lane) => x.set(lane.add(33), tile.get(lane)));
    expect(new Set(findings.map(({ kind }) => kind))).toEqual(
      new Set(["out-of-bounds", "uninitialised-shared-memory"]),
    );
  });
});
