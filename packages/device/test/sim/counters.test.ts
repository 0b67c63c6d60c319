/** Counters against numbers worked out on paper: the comments do the sums. */

import { buffer, exp2, f32, kernel, padded, rowMajor, swizzled, u32, vec } from "@evolver/kernel";
import type { Gpu, Offset, SharedArray, U32 } from "@evolver/kernel";
import { openSim } from "@evolver/device";
import type { Counters, MemoryCounters } from "@evolver/device";
import { describe, expect, test } from "vitest";
import { simulate } from "./support.ts";

type Access = 1 | 2 | 4;

/** One load by each lane of one subgroup from shared memory, at the index that `at` gives for a lane. */
async function sharedRead(
  width: number,
  at: (lane: U32, gpu: Gpu) => U32 | number,
  access: Access = 1,
): Promise<MemoryCounters> {
  return memoryOf(width, "tile", ({ gpu, out, tile }) => {
    const index = at(gpu.lane, gpu);
    out.set(gpu.lane, access === 1 ? tile.get(index) : tile.getVec(access, index).x);
  });
}

interface Body {
  readonly gpu: Gpu;
  readonly out: { set(i: U32, v: ReturnType<SharedArray<"f32">["get"]>): void };
  readonly tile: SharedArray<"f32">;
}

async function memoryOf(width: number, name: string, body: (parts: Body) => void): Promise<MemoryCounters> {
  const counters = await run(width, (gpu, out) => {
    const tile = gpu.shared(f32, 8448, "tile");
    body({ gpu, out, tile });
  });
  return counters.memory[name] as MemoryCounters;
}

/** Unchecked, so that shared memory need not be filled first. */
async function run(width: number, body: (gpu: Gpu, out: Body["out"]) => void): Promise<Counters> {
  const device = openSim({ subgroup: width, checks: false });
  const program = await device.compile(
    kernel("k", { params: { out: buffer(f32, "read_write") }, workgroup: [width] }, ({ out }, gpu) =>
      body(gpu, out as Body["out"]),
    ),
  );
  const out = device.createBuffer("f32", 1024);
  return (await program.run({ workgroups: 1, args: { out } })).counters as Counters;
}

const passes = ({ passes: p, conflicts }: MemoryCounters): number[] => [p, conflicts];

describe("shared memory: passes and conflicts of one request of 32 lanes", () => {
  test("stride 1: 32 words in 32 banks, one pass", async () => {
    const counters = await sharedRead(32, (lane) => lane);
    expect(counters).toMatchObject({
      readBytes: 128,
      readRequests: 1,
      passes: 1,
      conflicts: 0,
      readSectors: 0,
    });
  });

  test("stride 2: banks 0, 2, …, 30 twice each (lanes l and l + 16), two passes", async () => {
    expect(passes(await sharedRead(32, (lane) => lane.mul(2)))).toEqual([2, 1]);
  });

  test("stride 32: all in bank 0, 32 passes", async () => {
    expect(passes(await sharedRead(32, (lane) => lane.mul(32)))).toEqual([32, 31]);
  });

  test("stride 33: lane l in bank (33 l) mod 32 = l, one pass", async () => {
    expect(passes(await sharedRead(32, (lane) => lane.mul(33)))).toEqual([1, 0]);
  });

  test("stride 3 is odd, so a permutation of the banks; stride 12 = 4 · 3 hits 8 banks 4 times", async () => {
    expect(passes(await sharedRead(32, (lane) => lane.mul(3)))).toEqual([1, 0]);
    expect(passes(await sharedRead(32, (lane) => lane.mul(12)))).toEqual([4, 3]);
  });

  test("broadcast: one word, one pass, though 32 lanes ask for 4 bytes each", async () => {
    const uniform = await sharedRead(32, () => 7);
    expect(uniform).toMatchObject({ readBytes: 128, readRequests: 1, passes: 1, conflicts: 0 });
    // The same where the simulator cannot know that lanes agree before it runs.
    expect(passes(await sharedRead(32, (lane) => lane.shr(5).add(7)))).toEqual([1, 0]);
  });

  test("pairs of lanes share words: 16 words in 16 banks, one pass", async () => {
    expect(passes(await sharedRead(32, (lane) => lane.shr(1)))).toEqual([1, 0]);
  });

  test("two words of one bank, each broadcast to 16 lanes: two passes", async () => {
    expect(passes(await sharedRead(32, (lane) => lane.remTrunc(2).mul(32)))).toEqual([2, 1]);
  });

  test("float4, lane after lane: 4 groups of 8 lanes, each 32 consecutive words, one pass per group", async () => {
    const counters = await sharedRead(32, (lane) => lane.mul(4), 4);
    expect(counters).toMatchObject({ readBytes: 512, readRequests: 1, passes: 4, conflicts: 0 });
  });

  test("float4 rows of 64 words: the 8 lanes of a group all start in bank 0, 8 passes per group", async () => {
    // Banks 0 to 3 have 8 distinct words each: 4 groups · 8 passes, 7 of 8 beyond the first.
    expect(passes(await sharedRead(32, (lane) => lane.mul(64), 4))).toEqual([32, 28]);
  });

  test("float4 rows padded to 68 words: lane l starts in bank 4 l mod 32, no conflict", async () => {
    expect(passes(await sharedRead(32, (lane) => lane.mul(68), 4))).toEqual([4, 0]);
  });

  test("float2, lane after lane: 2 groups of 16 lanes; stride 64: 16 words in bank 0, 2 · 16 passes", async () => {
    expect(passes(await sharedRead(32, (lane) => lane.mul(2), 2))).toEqual([2, 0]);
    expect(passes(await sharedRead(32, (lane) => lane.mul(64), 2))).toEqual([32, 30]);
  });

  test("float4 broadcast: the lanes of each half share a pass", async () => {
    expect(passes(await sharedRead(32, () => 8, 4))).toEqual([2, 0]);
  });

  test("float4 where lanes l and l xor 1, or l and l xor 2, want one address: a pass for each half", async () => {
    expect(passes(await sharedRead(32, (lane) => lane.shr(1).mul(4), 4))).toEqual([2, 0]);
    const alternating = (lane: U32): U32 => lane.and(1).add(lane.shr(2).shl(1)).mul(4);
    expect(passes(await sharedRead(32, alternating, 4))).toEqual([2, 0]);
    // The quarters of the subgroup alike, but no neighbours: each quarter by itself.
    expect(passes(await sharedRead(32, (lane) => lane.and(7).mul(4), 4))).toEqual([4, 0]);
  });

  test("float2 where neighbours want one address: all lanes in a pass", async () => {
    expect(passes(await sharedRead(32, (lane) => lane.shr(1).mul(2), 2))).toEqual([1, 0]);
    expect(passes(await sharedRead(32, (lane) => lane.and(15).mul(2), 2))).toEqual([2, 0]);
  });

  test("float4 where neighbours want one address, but pairs meet in a bank", async () => {
    expect(passes(await sharedRead(32, (lane) => lane.shr(1).mul(64), 4))).toEqual([16, 14]);
  });

  test("a column of a 32 × 32 tile: row-major 32-way, padded and swizzled free", async () => {
    const column = async (layout: ReturnType<typeof rowMajor>): Promise<number[]> => {
      const counters = await run(32, (gpu, out) => {
        const tile = gpu.shared(f32, layout, "tile");
        out.set(gpu.lane, tile.get(gpu.lane, 5));
      });
      return passes(counters.memory["tile"] as MemoryCounters);
    };
    expect(await column(rowMajor([32, 32]))).toEqual([32, 31]);
    expect(await column(padded([32, 32], 1))).toEqual([1, 0]);
    expect(await column(swizzled([32, 32], { vector: 1 }))).toEqual([1, 0]);
  });
});

describe("shared memory: other widths", () => {
  // Groups are of 32 lanes: a narrower subgroup is one group, wider ones are 2 or 4.
  test.each([
    [4, 1],
    [8, 1],
    [16, 1],
    [32, 1],
    [64, 2],
    [128, 4],
  ])("stride 1 with subgroups of %i takes %i passes", async (width, expected) => {
    expect(passes(await sharedRead(width, (lane) => lane))).toEqual([expected, 0]);
  });

  // Stride 32: every lane of a group in bank 0, at most 32 of them.
  test.each([
    [4, 4, 3],
    [8, 8, 7],
    [16, 16, 15],
    [64, 64, 62],
    [128, 128, 124],
  ])("stride 32 with subgroups of %i takes %i passes, %i of them conflicts", async (width, all, beyond) => {
    expect(passes(await sharedRead(width, (lane) => lane.mul(32)))).toEqual([all, beyond]);
  });

  test("float4 with subgroups of 4: half a group, one pass; of 64: 8 groups", async () => {
    expect(passes(await sharedRead(4, (lane) => lane.mul(4), 4))).toEqual([1, 0]);
    expect(passes(await sharedRead(64, (lane) => lane.mul(4), 4))).toEqual([8, 0]);
  });
});

describe("shared memory: masked lanes and writes", () => {
  test("only active lanes count: 8 of 32 at stride 32 take 8 passes and ask for 32 bytes", async () => {
    const counters = await memoryOf(32, "tile", ({ gpu, out, tile }) =>
      gpu.if(gpu.lane.lt(8), () => out.set(gpu.lane, tile.get(gpu.lane.mul(32)))),
    );
    expect(counters).toMatchObject({ readBytes: 32, readRequests: 1, passes: 8, conflicts: 7 });
  });

  test("groups without an active lane take no pass: lanes 0 to 31 of 64", async () => {
    const counters = await memoryOf(64, "tile", ({ gpu, out, tile }) =>
      gpu.if(gpu.lane.lt(32), () => out.set(gpu.lane, tile.get(gpu.lane))),
    );
    expect(passes(counters)).toEqual([1, 0]);
  });

  test("writes count like reads", async () => {
    const counters = await memoryOf(32, "tile", ({ gpu, tile }) => tile.set(gpu.lane.mul(2), 1));
    expect(counters).toMatchObject({
      writeBytes: 128,
      writeRequests: 1,
      readRequests: 0,
      passes: 2,
      conflicts: 1,
    });
  });
});

describe("global memory: bytes and 32-byte sectors of one request", () => {
  async function globalRead(
    at: (lane: U32) => U32 | number | Offset,
    access: Access = 1,
    width = 32,
  ): Promise<MemoryCounters> {
    const device = openSim({ subgroup: width });
    const program = await device.compile(
      kernel(
        "k",
        { params: { x: buffer(f32), out: buffer(f32, "write") }, workgroup: [width] },
        ({ x, out }, gpu) => {
          const index = at(gpu.lane) as U32;
          out.set(gpu.lane, access === 1 ? x.get(index) : x.getVec(access, index).x);
        },
      ),
    );
    const args = { x: device.createBuffer("f32", 8192), out: device.createBuffer("f32", width) };
    const { counters } = await program.run({ workgroups: 1, args });
    const { readBytes, readRequests, readSectors } = (counters as Counters).memory["x"] as MemoryCounters;
    return { readBytes, readRequests, readSectors } as MemoryCounters;
  }
  const sectors = async (at: (lane: U32) => U32 | number, access: Access = 1, width = 32): Promise<number> =>
    (await globalRead(at, access, width)).readSectors;

  test("stride 1: 128 bytes are 4 sectors", async () => {
    expect(await globalRead((lane) => lane)).toEqual({ readBytes: 128, readRequests: 1, readSectors: 4 });
  });

  test("stride 1 from element 1 on: bytes 4 to 131 touch 5 sectors", async () => {
    expect(await sectors((lane) => lane.add(1))).toBe(5);
  });

  test("stride 2: 256 bytes are 8 sectors, half of each used; stride 8 and more: one per lane", async () => {
    expect(await sectors((lane) => lane.mul(2))).toBe(8);
    expect(await sectors((lane) => lane.mul(8))).toBe(32);
    expect(await sectors((lane) => lane.mul(33))).toBe(32);
  });

  test("broadcast: one sector", async () => {
    expect(await globalRead(() => 9)).toEqual({ readBytes: 128, readRequests: 1, readSectors: 1 });
    expect(await sectors((lane) => lane.shr(5))).toBe(1);
  });

  test("reversed and permuted lanes touch the same sectors as ordered ones", async () => {
    expect(await sectors((lane) => lane.xor(31))).toBe(4);
    expect(await sectors((lane) => lane.mul(5).remTrunc(32))).toBe(4);
  });

  test("float4: 512 bytes are 16 sectors; rows of 64 elements: one sector each", async () => {
    expect(await globalRead((lane) => lane.mul(4), 4)).toEqual({
      readBytes: 512,
      readRequests: 1,
      readSectors: 16,
    });
    expect(await sectors((lane) => lane.mul(64), 4)).toBe(32);
  });

  test.each([
    [4, 1],
    [8, 1],
    [16, 2],
    [64, 8],
    [128, 16],
  ])("stride 1 with subgroups of %i: %i sectors", async (width, expected) => {
    expect(await sectors((lane) => lane, 1, width)).toBe(expected);
  });
});

describe("work", () => {
  test("flops, specials and instructions of active lanes", async () => {
    const { counters } = await simulate(({ a, b, n }, gpu) => {
      const i = gpu.localIndex;
      const x = a.get(i);
      // 2 subgroups: mul and add (2 flops), fma-free; div and exp2 are special (2 flops).
      const y = x.mul(2).add(1).div(3);
      b.set(i, exp2(y));
      // 10 lanes of subgroup 0: one multiplication. The comparison is arithmetic without a flop.
      gpu.if(i.lt(10), () => b.set(i, x.mul(x)));
      // u32 arithmetic has no flops.
      void n;
    });
    expect(counters).toMatchObject({
      workgroups: 1,
      invocations: 64,
      flops: 64 * 4 + 10,
      specials: 64 * 2,
      // mul, add, lt in both subgroups; mul in one.
      issuedArithmetic: 2 * 3 + 1,
      issuedInteger: 2 * 1,
      issuedSpecial: 2 * 2,
      // One load and one store in both, one store in one.
      issuedMemory: 2 * 2 + 1,
      branches: 2,
      divergentBranches: 1,
      globalReadBytes: 256,
      globalWriteBytes: 256 + 40,
    });
  });

  test("loop tests are branches, divergent where lanes leave at different times", async () => {
    const uniform = await simulate(({ n }, gpu) => gpu.for({ from: 0, to: n }, () => {}), { n: 5, size: 32 });
    // 5 tests pass, the sixth ends the loop.
    expect(uniform.counters).toMatchObject({ branches: 6, divergentBranches: 0 });
    const varying = await simulate((_, gpu) => gpu.for({ from: 0, to: gpu.lane.shr(4) }, () => {}), {
      size: 32,
    });
    // Half of the lanes leave at the first test, the other half at the second.
    expect(varying.counters).toMatchObject({ branches: 2, divergentBranches: 1 });
  });

  test("barriers, atomics, subgroup operations, workgroups", async () => {
    const { counters, b } = await simulate(
      ({ b, flags }, gpu) => {
        const s = gpu.shared(f32, 1);
        gpu.if(gpu.localIndex.eq(0), () => s.set(0, 3));
        const x = gpu.uniformLoad(s, 0);
        flags.add(0, 1);
        const sum = gpu.subgroup.sum(x);
        gpu.barrier();
        gpu.if(gpu.localIndex.eq(0), () => b.set(gpu.workgroupIndex, sum));
      },
      { workgroups: [2, 2], size: [8, 8] },
    );
    expect(b[3]).toBe(96);
    expect(counters).toMatchObject({
      workgroups: 4,
      invocations: 256,
      // Two of the uniform load and one more, in each of 4 workgroups.
      barriers: 12,
      globalAtomics: 256,
      sharedAtomics: 0,
      issuedSubgroup: 8,
      // The uniform load is one request of each subgroup, a broadcast.
      sharedReadBytes: 4 * 256,
      sharedPasses: 8 + 4,
    });
  });

  test("a sample counts its own workgroups alone", async () => {
    const device = openSim();
    const program = await device.compile(
      kernel("k", { params: { out: buffer(u32, "write") }, workgroup: [32] }, ({ out }, gpu) =>
        out.set(gpu.globalId.x, gpu.workgroupIndex.add(1)),
      ),
    );
    const out = device.createBuffer("u32", 320);
    const { counters } = await program.run({ workgroups: 10, sample: [3, 7], args: { out } });
    expect(counters).toMatchObject({ workgroups: 2, globalWriteBytes: 256, globalSectors: 8 });
    const values = await out.read();
    expect([0, 96, 127, 128, 224].map((i) => values[i])).toEqual([0, 4, 4, 0, 8]);
  });

  test("wide writes of a vector", async () => {
    const { counters } = await simulate(
      ({ a }, gpu) => {
        const x = a.get(gpu.lane);
        a.setVec(gpu.lane.mul(4), vec(x, x, x, x));
      },
      { size: 32, checks: false },
    );
    expect(counters.memory["a"]).toMatchObject({ writeBytes: 512, writeRequests: 1, writeSectors: 16 });
  });

  test("no counters where they are not wanted", async () => {
    const { counters } = await simulate(({ b }, gpu) => b.set(gpu.localIndex, 1), { counters: false });
    expect(counters).toBeNull();
  });
});
