/** Operations among the lanes of a subgroup, at the device's width. */

import { buffer, f32, kernel, u32, type Gpu, type WordType, type ScalarOf, type U32 } from "@evolver/kernel";
import { array, launch, noise, subgroupsOf, type Case, type KernelCase } from "../case.ts";
import { TYPES } from "./operation.ts";

const { fround } = Math;

type Lanes = readonly number[];

/** Two or three subgroups per workgroup and two workgroups; `expect` gets the lanes of one subgroup. */
function overLanes<T extends WordType, R extends WordType>(
  name: string,
  from: T,
  to: R,
  value: (i: number) => number,
  apply: (x: ScalarOf<T>, gpu: Gpu, uniform: U32) => ScalarOf<R>,
  expect: (lanes: Lanes, lane: number) => number,
): KernelCase[] {
  const source = TYPES[from] as typeof f32;
  const target = TYPES[to] as typeof f32;
  const body = apply as unknown as (x: ScalarOf<"f32">, gpu: Gpu, uniform: U32) => ScalarOf<"f32">;
  const build = (inBranches: boolean): KernelCase => ({
    name: `subgroup ${name}${inBranches ? ", in branches and loops of whole subgroups" : ""}`,
    needs: ["subgroups"],
    prepare(device) {
      const { width } = device;
      const threads = width * subgroupsOf(device, 3);
      const length = 2 * threads;
      const x = array(source, length, value);
      return launch({
        kernel: kernel(
          "lanes",
          { params: { x: buffer(source), y: buffer(target, "write"), p: u32 }, workgroup: [threads] },
          ({ x, y, p }, gpu) => {
            const i = gpu.globalId.x;
            if (!inBranches) {
              y.set(i, body(x.get(i), gpu, p));
              return;
            }
            gpu.if(gpu.subgroupId.eq(1), () =>
              gpu.for({ from: 0, to: p }, (k) => {
                const result = body(x.get(i), gpu, p);
                gpu.if(k.eq(p.sub(1)), () => y.set(i, result));
              }),
            );
          },
        ),
        workgroups: 2,
        args: { x, y: array(target, length), p: 2 },
        expected: {
          y: array(target, length, (i) => {
            const subgroup = Math.floor((i % threads) / width);
            if (inBranches && subgroup !== 1) return 0;
            const start = i - (i % width);
            return expect([...x.subarray(start, start + width)], i % width);
          }),
        },
      });
    },
  });
  return [build(false), build(true)];
}

/** v[l] ∘ v[l xor o] for o = W/2, W/4, …, 1, as every lane does it. */
function butterfly(lanes: Lanes, combine: (a: number, b: number) => number): number[] {
  let now = [...lanes];
  for (let offset = lanes.length / 2; offset >= 1; offset /= 2)
    now = now.map((v, lane) => combine(v, now[lane ^ offset] as number));
  return now;
}

/** v[l − o] + v[l] for o = 1, 2, …, W/2. */
function scan(lanes: Lanes, combine: (a: number, b: number) => number): number[] {
  let now = [...lanes];
  for (let offset = 1; offset < lanes.length; offset *= 2)
    now = now.map((v, lane) => (lane >= offset ? combine(now[lane - offset] as number, v) : v));
  return now;
}

/** Of sizes so different that the order of a sum shows in its bits. */
const uneven = (i: number): number => fround(Math.sin(i * 12.9898) * 10 ** (noise(i, 5) % 7));
const anyInt = (i: number): number => noise(i) | 0;
const anyWord = (i: number): number => noise(i);

const adds: Readonly<Record<WordType, (a: number, b: number) => number>> = {
  f32: (a, b) => fround(a + b),
  i32: (a, b) => (a + b) | 0,
  u32: (a, b) => (a + b) >>> 0,
};
const values: Readonly<Record<WordType, (i: number) => number>> = {
  f32: uneven,
  i32: anyInt,
  u32: anyWord,
};

const reductions = (type: WordType): KernelCase[] => [
  ...overLanes(
    `sum of ${type}`,
    type,
    type,
    values[type],
    (x, gpu) => gpu.subgroup.sum(x),
    (lanes, lane) => butterfly(lanes, adds[type])[lane] as number,
  ),
  ...overLanes(
    `min of ${type}`,
    type,
    type,
    values[type],
    (x, gpu) => gpu.subgroup.min(x),
    (lanes) => Math.min(...lanes),
  ),
  ...overLanes(
    `max of ${type}`,
    type,
    type,
    values[type],
    (x, gpu) => gpu.subgroup.max(x),
    (lanes) => Math.max(...lanes),
  ),
  ...overLanes(
    `inclusiveSum of ${type}`,
    type,
    type,
    values[type],
    (x, gpu) => gpu.subgroup.inclusiveSum(x),
    (lanes, lane) => scan(lanes, adds[type])[lane] as number,
  ),
  ...overLanes(
    `exclusiveSum of ${type}`,
    type,
    type,
    values[type],
    (x, gpu) => gpu.subgroup.exclusiveSum(x),
    (lanes, lane) => (lane === 0 ? 0 : (scan(lanes, adds[type])[lane - 1] as number)),
  ),
];

const moves = (type: WordType): KernelCase[] => [
  ...overLanes(
    `broadcast of ${type}`,
    type,
    type,
    values[type],
    (x, gpu) => gpu.subgroup.broadcast(x, 3),
    (lanes) => lanes[3] as number,
  ),
  ...overLanes(
    `broadcastFirst of ${type}`,
    type,
    type,
    values[type],
    (x, gpu) => gpu.subgroup.broadcastFirst(x),
    (lanes) => lanes[0] as number,
  ),
  ...overLanes(
    `shuffle of ${type}`,
    type,
    type,
    values[type],
    (x, gpu) => gpu.subgroup.shuffle(x, gpu.lane.mul(5).add(1).remTrunc(gpu.subgroupSize)),
    (lanes, lane) => lanes[(lane * 5 + 1) % lanes.length] as number,
  ),
  ...overLanes(
    `shuffleXor of ${type}, by every power of two`,
    type,
    type,
    values[type],
    (x, gpu) => {
      let result = x;
      for (let mask = 1; mask < gpu.subgroupSize; mask *= 2) {
        const other = gpu.subgroup.shuffleXor(result, mask);
        result = (other as ScalarOf<"u32">).max(result as ScalarOf<"u32">) as typeof x;
      }
      return result;
    },
    (lanes) => Math.max(...lanes),
  ),
];

const others: readonly KernelCase[] = [
  ...overLanes(
    "broadcast of a lane known at run time",
    "u32",
    "u32",
    anyWord,
    (x, gpu, p) => gpu.subgroup.broadcast(x, p),
    (lanes) => lanes[2] as number,
  ),
  ...overLanes(
    "shuffleXor by a mask known at run time",
    "f32",
    "f32",
    uneven,
    (x, gpu, p) => gpu.subgroup.shuffleXor(x, p.add(1)),
    (lanes, lane) => lanes[lane ^ 3] as number,
  ),
  ...overLanes(
    "shuffleUp, which wraps nothing",
    "i32",
    "i32",
    anyInt,
    (x, gpu) => {
      const lane = gpu.lane;
      // Lanes below the shift name themselves, so that no lane reads outside the subgroup.
      const from = gpu.subgroup.shuffleUp(x, lane.min(2));
      return from.sub(x);
    },
    (lanes, lane) => ((lanes[lane - Math.min(lane, 2)] as number) - (lanes[lane] as number)) | 0,
  ),
  ...overLanes(
    "shuffleDown",
    "u32",
    "u32",
    anyWord,
    (x, gpu) =>
      gpu.subgroup.shuffleDown(
        x,
        gpu
          .constant(u32, gpu.subgroupSize - 1)
          .sub(gpu.lane)
          .min(1),
      ),
    (lanes, lane) => lanes[Math.min(lane + 1, lanes.length - 1)] as number,
  ),
  ...overLanes(
    "any and all",
    "u32",
    "u32",
    (i) => (noise(i >> 2, 9) % 5 === 0 ? 1 : noise(i) % 3),
    (x, gpu) => {
      const some = gpu.subgroup.any(x.eq(2));
      const all = gpu.subgroup.all(x.lt(2));
      const none = gpu.subgroup.any(x.gt(5));
      const every = gpu.subgroup.all(x.lt(5));
      return some.toU32().add(all.toU32().mul(2)).add(none.toU32().mul(4)).add(every.toU32().mul(8));
    },
    (lanes) => Number(lanes.includes(2)) + 2 * Number(lanes.every((x) => x < 2)) + 8,
  ),
  ...overLanes(
    "ballot, every word of it",
    "u32",
    "u32",
    (i) => noise(i, 3) % 2,
    (x, gpu) => {
      const votes = gpu.subgroup.ballot(x.eq(1));
      return votes.reduce((sum, word, k) => sum.xor(word.add(k)));
    },
    (lanes) => {
      let sum = 0;
      for (let word = 0; word < lanes.length; word += 32) {
        let bits = 0;
        lanes.slice(word, word + 32).forEach((x, k) => (bits |= x << k));
        sum ^= word === 0 ? bits : bits + word / 32;
      }
      return sum >>> 0;
    },
  ),
  ...overLanes(
    "operations on values that the subgroup shares",
    "u32",
    "u32",
    anyWord,
    (x, gpu, p) =>
      gpu.subgroup
        .sum(p)
        .add(gpu.subgroup.max(p.add(gpu.subgroupId)).mul(0))
        .add(x.and(1)),
    (lanes, lane) => 2 * lanes.length + ((lanes[lane] as number) & 1),
  ),
];

const lanesOfOne: KernelCase = {
  name: "subgroup min and max pass over NaN",
  needs: ["subgroups"],
  prepare({ width }) {
    const x = array(f32, width, (i) => (i % 3 === 1 ? NaN : i - 1));
    const numbers = [...x].filter((v) => !Number.isNaN(v));
    return launch({
      kernel: kernel(
        "passOver",
        { params: { x: buffer(f32), y: buffer(f32, "write") }, workgroup: [width] },
        ({ x, y }, gpu) => {
          const v = x.get(gpu.lane);
          y.set(gpu.lane, gpu.subgroup.max(v).sub(gpu.subgroup.min(v)));
        },
      ),
      workgroups: 1,
      args: { x, y: array(f32, width) },
      expected: { y: array(f32, width, () => Math.max(...numbers) - Math.min(...numbers)) },
    });
  },
};

/** A reduction as it is used: subgroups first, then their sums through shared memory. */
const wholeWorkgroup: KernelCase = {
  name: "subgroup sums joined through shared memory",
  needs: ["subgroups"],
  prepare(device) {
    const subgroups = subgroupsOf(device, 4);
    const threads = device.width * subgroups;
    const x = array(u32, 2 * threads, anyWord);
    return launch({
      kernel: kernel(
        "joined",
        { params: { x: buffer(u32), y: buffer(u32, "write") }, workgroup: [threads] },
        ({ x, y }, gpu) => {
          const sums = gpu.shared(u32, gpu.numSubgroups);
          const sum = gpu.subgroup.sum(x.get(gpu.globalId.x));
          gpu.if(gpu.lane.eq(0), () => sums.set(gpu.subgroupId, sum));
          gpu.barrier();
          const total = gpu.var(u32, 0);
          for (let k = 0; k < gpu.numSubgroups; k++) total.add(sums.get(k));
          y.set(gpu.globalId.x, total.get());
        },
      ),
      workgroups: 2,
      args: { x, y: array(u32, 2 * threads) },
      expected: {
        y: array(u32, 2 * threads, (i) => {
          const start = i - (i % threads);
          return x.subarray(start, start + threads).reduce((sum, v) => (sum + v) >>> 0, 0);
        }),
      },
    });
  },
};

const TYPE_NAMES = ["f32", "i32", "u32"] as const;

export const subgroupCases: readonly Case[] = [
  ...TYPE_NAMES.flatMap(reductions),
  ...TYPE_NAMES.flatMap(moves),
  ...others,
  lanesOfOne,
  wholeWorkgroup,
];
