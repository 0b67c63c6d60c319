/** Subgroup operations on the cpu device against their descriptions in nodes.ts, with all lanes on and with some off. */

import { buffer, f32, i32, kernel, math, u32 } from "@evolver/kernel";
import type { F32, I32, U32 } from "@evolver/kernel";
import { afterAll, describe, expect, test } from "vitest";
import { openCpu } from "@evolver/device";
import type { TypedArrayOf } from "@evolver/device";

type Element = "f32" | "i32" | "u32";
type Num = F32 | I32 | U32;

const WIDTHS = [4, 8, 16, 32, 64, 128];
const device = openCpu({ workers: 1 });
afterAll(() => device.close());

const wrap: Record<Element, (x: number) => number> = {
  f32: Math.fround,
  i32: (x) => x | 0,
  u32: (x) => x >>> 0,
};
const descriptors = { f32, i32, u32 } as const;
const arrays = { f32: Float32Array, i32: Int32Array, u32: Uint32Array } as const;

function input(element: Element, width: number): number[] {
  return Array.from({ length: width }, (_, i) => {
    const x = Math.sin(i * 37.7 + 1) * 1e6;
    return element === "f32" ? Math.fround(x / 1e3) : wrap[element](Math.trunc(x) * 3001);
  });
}

const IDENTITY = {
  sum: { f32: 0, i32: 0, u32: 0 },
  min: { f32: Infinity, i32: 0x7fffffff, u32: 0xffffffff },
  max: { f32: -Infinity, i32: -0x80000000, u32: 0 },
} as const;

/** The butterfly as nodes.ts words it. */
function butterfly(op: "sum" | "min" | "max", element: Element, values: number[], on: boolean[]): number[] {
  let v = values.map((x, l) => (on[l] ? x : IDENTITY[op][element]));
  for (let o = v.length / 2; o >= 1; o /= 2)
    v = v.map((x, l) => {
      const other = v[l ^ o] as number;
      return op === "sum" ? wrap[element](x + other) : math[op](x, other);
    });
  return v;
}

function inclusive(element: Element, values: number[], on: boolean[]): number[] {
  let v = values.map((x, l) => (on[l] ? x : 0));
  for (let o = 1; o < v.length; o *= 2)
    v = v.map((x, l) => (l >= o ? wrap[element]((v[l - o] as number) + x) : x));
  return v;
}

type Lanes = (element: Element, values: number[], on: boolean[]) => number[];

const same = (width: number, value: number): number[] => Array.from({ length: width }, () => value);
const from =
  (source: (lane: number, width: number) => number): Lanes =>
  (_, values, on) =>
    values.map((own, l) => {
      const at = source(l, values.length);
      return at >= 0 && at < values.length && on[at] ? (values[at] as number) : own;
    });

interface Case {
  readonly name: string;
  readonly apply: (gpu: Parameters<Parameters<typeof kernel>[2]>[1], x: Num) => Num;
  readonly expected: Lanes;
}

const cases: Case[] = [
  ...(["sum", "min", "max"] as const).map((op): Case => ({
    name: op,
    apply: (gpu, x) => gpu.subgroup[op](x),
    expected: (element, values, on) => butterfly(op, element, values, on),
  })),
  { name: "inclusiveSum", apply: (gpu, x) => gpu.subgroup.inclusiveSum(x), expected: inclusive },
  {
    name: "exclusiveSum",
    apply: (gpu, x) => gpu.subgroup.exclusiveSum(x),
    expected: (element, values, on) => [0, ...inclusive(element, values, on).slice(0, -1)],
  },
  {
    name: "broadcastFirst",
    apply: (gpu, x) => gpu.subgroup.broadcastFirst(x),
    expected: (_, values, on) => same(values.length, values[on.indexOf(true)] as number),
  },
  {
    name: "broadcast of lane 3",
    apply: (gpu, x) => gpu.subgroup.broadcast(x, 3),
    expected: (_, values) => same(values.length, values[3] as number),
  },
  {
    name: "broadcast of a lane known at run time",
    apply: (gpu, x) => gpu.subgroup.broadcast(x, gpu.numWorkgroups.x.mul(3)),
    expected: (_, values) => same(values.length, values[3] as number),
  },
  { name: "shuffleXor by 1", apply: (gpu, x) => gpu.subgroup.shuffleXor(x, 1), expected: from((l) => l ^ 1) },
  {
    name: "shuffleXor by half the width",
    apply: (gpu, x) => gpu.subgroup.shuffleXor(x, gpu.subgroupSize / 2),
    expected: from((l, width) => l ^ (width / 2)),
  },
  {
    name: "shuffleXor by a lane's own number",
    apply: (gpu, x) => gpu.subgroup.shuffleXor(x, gpu.lane.and(3)),
    expected: from((l) => l ^ (l & 3)),
  },
  { name: "shuffleUp by 1", apply: (gpu, x) => gpu.subgroup.shuffleUp(x, 1), expected: from((l) => l - 1) },
  {
    name: "shuffleDown by 3",
    apply: (gpu, x) => gpu.subgroup.shuffleDown(x, 3),
    expected: from((l) => l + 3),
  },
  {
    name: "shuffleDown by more than any width",
    apply: (gpu, x) => gpu.subgroup.shuffleDown(x, 0xffffffff),
    expected: (_, values) => values,
  },
  {
    name: "shuffle in reverse",
    apply: (gpu, x) => gpu.subgroup.shuffle(x, gpu.lane.xor(gpu.subgroupSize - 1)),
    expected: from((l, width) => width - 1 - l),
  },
];

async function run(
  element: Element,
  width: number,
  some: boolean,
  apply: Case["apply"],
  values: number[],
): Promise<number[]> {
  const type = descriptors[element];
  const made = kernel(
    "subgroups",
    {
      params: { x: buffer(type), out: buffer(type, "write") },
      workgroup: [2 * width],
      uniformity: "dynamic",
    },
    ({ x, out }, gpu) => {
      const i = gpu.localIndex;
      const body = (): void => out.set(i, apply(gpu, x.get(gpu.lane) as Num) as never);
      if (some) gpu.if(gpu.lane.remTrunc(3).ne(1), body);
      else body();
    },
  );
  const x = device.createBuffer(element, arrays[element].from(values) as TypedArrayOf<Element>);
  const out = device.createBuffer(element, 2 * width);
  const program = await device.compile(made.build({ subgroup: width }));
  await program.run({ workgroups: 1, args: { x, out } as never });
  const read = Array.from(await out.read());
  x.destroy();
  out.destroy();
  expect(read.slice(width), "the second subgroup").toEqual(read.slice(0, width));
  return read.slice(0, width);
}

describe.each(WIDTHS)("subgroups of %d", (width) => {
  describe.each(["f32", "i32", "u32"] as const)("of %s", (element) => {
    test.each(cases)("$name", async ({ apply, expected }) => {
      const values = input(element, width);
      const all = values.map(() => true);
      expect(await run(element, width, false, apply, values)).toEqual(expected(element, values, all));
    });

    // Reading a lane that is off is an error where all lanes read one; elsewhere it gives the lane's own value.
    test.each(cases.filter(({ name }) => !name.startsWith("broadcast of")))(
      "$name, lanes off",
      async (entry) => {
        const values = input(element, width);
        const on = values.map((_, l) => l % 3 !== 1);
        const expected = entry.expected(element, values, on);
        const got = await run(element, width, true, entry.apply, values);
        for (let l = 0; l < width; l++) expect(got[l], `lane ${l}`).toBe(on[l] ? expected[l] : 0);
      },
    );
  });

  test("any, all and ballot, with all lanes on and with some", async () => {
    const made = kernel(
      "votes",
      { params: { out: buffer(u32, "write") }, workgroup: [width], uniformity: "dynamic" },
      ({ out }, gpu) => {
        const { lane, subgroup } = gpu;
        const words = (at: number, condition: ReturnType<typeof lane.lt>): void =>
          subgroup.ballot(condition).forEach((word, i) => out.set(lane.mul(20).add(at + i), word));
        const bit = (at: number, condition: ReturnType<typeof lane.lt>): void =>
          out.set(lane.mul(20).add(at), condition.toU32());
        bit(0, subgroup.any(lane.eq(width - 1)));
        bit(1, subgroup.any(lane.eq(width)));
        bit(2, subgroup.all(lane.lt(width)));
        bit(3, subgroup.all(lane.lt(width - 1)));
        words(4, lane.remTrunc(5).eq(2));
        gpu.if(lane.and(1).eq(1), () => {
          bit(8, subgroup.any(lane.and(1).eq(0)));
          bit(9, subgroup.all(lane.and(1).eq(1)));
          words(10, lane.ge(2));
        });
      },
    );
    const out = device.createBuffer("u32", width * 20);
    await (
      await device.compile(made.build({ subgroup: width }))
    ).run({ workgroups: 1, args: { out } as never });
    const read = await out.read();
    const lanes = Array.from({ length: width }, (_, l) => l);
    const ballot = (holds: (l: number) => boolean): number[] => {
      const words = Array.from({ length: Math.ceil(width / 32) }, () => 0);
      for (const l of lanes)
        if (holds(l)) words[l >> 5] = ((words[l >> 5] as number) | (1 << (l & 31))) >>> 0;
      return words;
    };
    for (const l of lanes) {
      const row = Array.from(read.slice(20 * l, 20 * l + 20));
      expect(row.slice(0, 4)).toEqual([1, 0, 1, 0]);
      expect(row.slice(4, 4 + Math.ceil(width / 32))).toEqual(ballot((lane) => lane % 5 === 2));
      if (l % 2 === 0) continue;
      expect(row.slice(8, 10)).toEqual([0, 1]);
      expect(row.slice(10, 10 + Math.ceil(width / 32))).toEqual(
        ballot((lane) => lane >= 2 && lane % 2 === 1),
      );
    }
    out.destroy();
  });
});
