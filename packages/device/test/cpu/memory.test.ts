/** Loads, stores and atomics of the cpu device: every width, form of the index, and with lanes masked off. */

import { atomic, buffer, f32, i32, kernel, u32 } from "@evolver/kernel";
import type { Gpu, U32 } from "@evolver/kernel";
import { afterAll, describe, expect, test } from "vitest";
import { openCpu } from "@evolver/device";

const WIDTH = 16;
const SIZE = 32;
const device = openCpu({ workers: 1, subgroup: WIDTH });
afterAll(() => device.close());

interface Form {
  readonly name: string;
  readonly index: (gpu: Gpu, table: (lane: U32) => U32) => U32;
  readonly meaning: (i: number) => number;
}

/** Indices in units of the access's width, by local index i. */
const forms: Form[] = [
  { name: "neighbours", index: (gpu) => gpu.localIndex.add(5), meaning: (i) => i + 5 },
  { name: "every third", index: (gpu) => gpu.localIndex.mul(3).add(1), meaning: (i) => 3 * i + 1 },
  {
    name: "backwards",
    index: (gpu) => gpu.constant(u32, 40).sub(gpu.localIndex),
    meaning: (i) => 40 - i,
  },
  {
    name: "from a table",
    index: (gpu, table) => table(gpu.localIndex),
    meaning: (i) => (i * 7) % 32,
  },
  {
    name: "through a negative start",
    index: (gpu) => gpu.localIndex.toI32().sub(3).add(3).toU32(),
    meaning: (i) => i,
  },
];

describe.each(forms)("$name", ({ index, meaning }) => {
  describe.each([1, 2, 4] as const)("%d elements at once", (width) => {
    test.each([
      ["all lanes", false],
      ["some lanes", true],
    ])("loads and stores of %s", async (_, some) => {
      const copy = kernel(
        "copy",
        {
          params: {
            x: buffer(f32),
            table: buffer(u32),
            y: buffer(f32, "read_write"),
            z: buffer(f32, "write"),
          },
          workgroup: [SIZE],
        },
        ({ x, table, y, z }, gpu) => {
          const at = index(gpu, (lane) => table.get(lane));
          const own = gpu.localIndex;
          const body = (): void => {
            if (width === 1) {
              z.set(own, x.get(at));
              y.set(at, x.get(own));
            } else {
              z.setVec(own.mul(width), x.getVec(width as 4, at.mul(width)));
              y.setVec(at.mul(width), x.getVec(width as 4, own.mul(width)));
            }
          };
          if (some) gpu.if(own.remTrunc(5).ne(2), body);
          else body();
        },
      );
      const length = 128 * width;
      const contents = Float32Array.from({ length }, (__, i) => i * 1.5 + 1);
      const x = device.createBuffer("f32", contents);
      const table = device.createBuffer(
        "u32",
        Uint32Array.from({ length: SIZE }, (__, i) => (i * 7) % 32),
      );
      const y = device.createBuffer("f32", length);
      const z = device.createBuffer("f32", length);
      await (await device.compile(copy)).run({ workgroups: 1, args: { x, table, y, z } });
      const expectedY = new Float32Array(length);
      const expectedZ = new Float32Array(length);
      for (let i = 0; i < SIZE; i++) {
        if (some && i % 5 === 2) continue;
        for (let c = 0; c < width; c++) {
          expectedZ[i * width + c] = contents[meaning(i) * width + c] as number;
          expectedY[meaning(i) * width + c] = contents[i * width + c] as number;
        }
      }
      expect(await z.read()).toEqual(expectedZ);
      expect(await y.read()).toEqual(expectedY);
    });
  });
});

test("all lanes load one address, and one lane's store wins where all write it", async () => {
  const made = kernel(
    "shared_address",
    { params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 }, workgroup: [SIZE] },
    ({ x, y, n }, gpu) => {
      const four = x.getVec(4, n.mul(4));
      y.set(gpu.localIndex, four.x.add(four.y).add(four.z.mul(four.w)));
      y.set(n.add(100), x.get(n));
    },
  );
  const x = device.createBuffer(
    "f32",
    Float32Array.from({ length: 64 }, (_, i) => i),
  );
  const y = device.createBuffer("f32", 128);
  await (await device.compile(made)).run({ workgroups: 1, args: { x, y, n: 3 } });
  const read = await y.read();
  expect(Array.from(read.slice(0, SIZE))).toEqual(Array.from({ length: SIZE }, () => 12 + 13 + 14 * 15));
  expect(read[103]).toBe(3);
});

test("lanes that are masked off neither trap nor write, wherever their index points", async () => {
  const made = kernel(
    "guarded",
    {
      params: { x: buffer(f32), y: buffer(f32, "read_write"), n: u32, far: u32 },
      workgroup: [SIZE],
    },
    ({ x, y, n, far }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(i.lt(n), () => {
        y.set(i, x.get(i.mul(far)));
        y.setVec(i.mul(4).add(64), x.getVec(4, i.mul(far)));
        y.set(i.add(32), x.get(i.add(n).sub(n)));
      });
      gpu.if(i.ge(SIZE), () => y.set(far.mul(far), x.get(far.mul(far))));
    },
  );
  const x = device.createBuffer(
    "f32",
    Float32Array.from({ length: 64 }, (_, i) => i + 1),
  );
  const y = device.createBuffer("f32", 256);
  // Only lane 0 is on; lane 1 would read 1.6 GB away.
  await (await device.compile(made)).run({ workgroups: 1, args: { x, y, n: 1, far: 400_000_000 } });
  const read = await y.read();
  expect(Array.from(read).filter((value) => value !== 0)).toEqual([1, 1, 1, 2, 3, 4]);
});

test("an access far outside every buffer is an error that names the kernel, and the device goes on", async () => {
  const made = kernel(
    "wild",
    { params: { y: buffer(f32, "write"), at: u32 }, workgroup: [WIDTH] },
    ({ y, at }, gpu) => y.set(at.add(gpu.lane), 1),
  );
  const y = device.createBuffer("f32", 64);
  const program = await device.compile(made);
  await expect(program.run({ workgroups: 1, args: { y, at: 900_000_000 } })).rejects.toMatchObject({
    code: "KERNEL_TRAP",
    message: expect.stringContaining('"wild"'),
    hint: expect.stringContaining("sim"),
  });
  await program.run({ workgroups: 1, args: { y, at: 8 } });
  expect((await y.read())[8]).toBe(1);
});

test("a store and a load of other elements of one array keep their order in a subgroup", async () => {
  const made = kernel(
    "shift",
    { params: { y: buffer(f32, "read_write") }, workgroup: [WIDTH] },
    ({ y }, gpu) => {
      // Lockstep, as on cards: all lanes have read before any writes.
      y.set(gpu.lane.add(1), y.get(gpu.lane));
    },
  );
  const y = device.createBuffer(
    "f32",
    Float32Array.from({ length: WIDTH + 1 }, (_, i) => i),
  );
  await (await device.compile(made)).run({ workgroups: 1, args: { y } });
  expect(Array.from(await y.read())).toEqual([0, ...Array.from({ length: WIDTH }, (_, i) => i)]);
});

describe("atomics", () => {
  const operations: [string, "i32" | "u32", (a: number, b: number) => number][] = [
    ["add", "i32", (a, b) => (a + b) | 0],
    ["add", "u32", (a, b) => (a + b) >>> 0],
    ["min", "i32", Math.min],
    ["min", "u32", Math.min],
    ["max", "i32", Math.max],
    ["max", "u32", Math.max],
    ["and", "u32", (a, b) => (a & b) >>> 0],
    ["or", "i32", (a, b) => a | b],
    ["xor", "u32", (a, b) => (a ^ b) >>> 0],
  ];
  test.each(operations)(
    "%s of %s, by lanes and by workgroups on two threads",
    async (op, element, meaning) => {
      const threads = openCpu({ workers: 2, subgroup: WIDTH });
      const type = element === "i32" ? i32 : u32;
      const values = Array.from({ length: 4096 }, (_, i) => {
        const x = Math.imul(i + 1, 2654435761);
        return element === "i32" ? x | 0 : x >>> 0;
      });
      const made = kernel(
        "atomics",
        { params: { x: buffer(type), y: buffer(atomic(type)) }, workgroup: [SIZE] },
        ({ x, y }, gpu) => {
          const method = (y as unknown as Record<string, (at: U32, value: unknown) => unknown>)[op];
          gpu.if(gpu.lane.ne(3), () => method?.call(y, gpu.globalId.x.and(1), x.get(gpu.globalId.x)));
        },
      );
      const ArrayType = element === "i32" ? Int32Array : Uint32Array;
      const x = threads.createBuffer(element, ArrayType.from(values) as never);
      const y = threads.createBuffer(element, ArrayType.from([12345, 999]) as never);
      await (await threads.compile(made)).run({ workgroups: values.length / SIZE, args: { x, y } as never });
      const expected = [12345, 999];
      values.forEach((value, i) => {
        if (i % WIDTH !== 3) expected[i & 1] = meaning(expected[i & 1] as number, value);
      });
      expect(Array.from(await y.read())).toEqual(expected);
      await threads.close();
    },
  );

  test("results are the old values; exchange, compareExchange, load and store", async () => {
    const made = kernel(
      "old_values",
      { params: { y: buffer(atomic(u32)), out: buffer(u32, "write") }, workgroup: [WIDTH] },
      ({ y, out }, gpu) => {
        const { lane } = gpu;
        out.set(lane, y.add(0, 2));
        out.set(lane.add(16), y.exchange(lane.add(1), lane.mul(3)));
        out.set(lane.add(32), y.compareExchange(lane.add(1), 6, 77));
        out.set(lane.add(48), y.get(lane.add(1)));
        y.set(lane.add(1), 5);
      },
    );
    const y = device.createBuffer(
      "u32",
      Uint32Array.from({ length: WIDTH + 1 }, (_, i) => 100 + i),
    );
    const out = device.createBuffer("u32", 64);
    await (await device.compile(made)).run({ workgroups: 1, args: { y, out } });
    const lanes = Array.from({ length: WIDTH }, (_, l) => l);
    expect(Array.from(await out.read())).toEqual([
      ...lanes.map((l) => 100 + 2 * l),
      ...lanes.map((l) => 101 + l),
      ...lanes.map((l) => 3 * l),
      ...lanes.map((l) => (l === 2 ? 77 : 3 * l)),
    ]);
    expect(Array.from(await y.read())).toEqual([132, ...lanes.map(() => 5)]);
  });

  test("f32 add, in shared memory too", async () => {
    const made = kernel(
      "sums",
      { params: { y: buffer(atomic(f32)), out: buffer(f32, "write") }, workgroup: [SIZE] },
      ({ y, out }, gpu) => {
        const total = gpu.shared(atomic(f32), 1);
        gpu.if(gpu.localIndex.eq(0), () => total.set(0, 0.5));
        gpu.barrier();
        total.add(0, gpu.localIndex.toF32());
        y.add(0, 1.25);
        gpu.barrier();
        out.set(gpu.localIndex, total.get(0));
      },
    );
    const y = device.createBuffer("f32", 1);
    const out = device.createBuffer("f32", SIZE);
    await (await device.compile(made)).run({ workgroups: 1, args: { y, out } });
    expect(Array.from(await y.read())).toEqual([40]);
    expect(new Set(await out.read())).toEqual(new Set([496.5]));
  });
});
