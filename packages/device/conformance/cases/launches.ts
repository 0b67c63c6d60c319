/** Indices of invocations and workgroups, shapes of workgroups, and numbers of them from none to 70,000. */

import { buffer, kernel, u32 } from "@evolver/kernel";
import { array, invocations, launch, type Case, type KernelCase, type Target } from "../case.ts";

type Triple = readonly [number, number, number];

const NAMES = [
  "workgroupId.x",
  "workgroupId.y",
  "workgroupId.z",
  "localId.x",
  "localId.y",
  "localId.z",
  "globalId.x",
  "globalId.y",
  "globalId.z",
  "numWorkgroups.x",
  "numWorkgroups.y",
  "numWorkgroups.z",
  "workgroupIndex",
  "localIndex",
  "subgroupId",
  "lane",
] as const;

/** Every built-in index of every invocation. */
const indices = (what: string, shape: (target: Target) => Triple, counts: Triple): KernelCase => ({
  name: `all indices, ${what}`,
  prepare(target) {
    const size = shape(target);
    const threads = size[0] * size[1] * size[2];
    const workgroups = counts[0] * counts[1] * counts[2];
    const length = workgroups * threads * NAMES.length;
    return launch({
      kernel: kernel(
        "indices",
        { params: { out: buffer(u32, "write") }, workgroup: size },
        ({ out }, gpu) => {
          const at = gpu.workgroupIndex.mul(threads).add(gpu.localIndex).mul(NAMES.length);
          const triples = [gpu.workgroupId, gpu.localId, gpu.globalId, gpu.numWorkgroups];
          const list = [
            ...triples.flatMap(({ x, y, z }) => [x, y, z]),
            gpu.workgroupIndex,
            gpu.localIndex,
            gpu.subgroupId,
            gpu.lane,
          ];
          for (const [k, value] of list.entries()) out.set(at.add(k), value);
        },
      ),
      workgroups: counts,
      args: { out: array(u32, length) },
      expected: {
        out: array(u32, length, (i) => {
          const k = i % NAMES.length;
          const invocation = Math.floor(i / NAMES.length);
          const local = invocation % threads;
          const group = Math.floor(invocation / threads);
          const split = (index: number, [x, y]: Triple): Triple => [
            index % x,
            Math.floor(index / x) % y,
            Math.floor(index / x / y),
          ];
          const groupId = split(group, counts);
          const localId = split(local, size);
          const globalId = groupId.map((id, axis) => id * (size[axis] as number) + (localId[axis] as number));
          return [
            ...groupId,
            ...localId,
            ...globalId,
            ...counts,
            group,
            local,
            Math.floor(local / target.width),
            local % target.width,
          ][k] as number;
        }),
      },
    });
  },
});

/** One write per workgroup, at its linear index. */
const many = (counts: Triple): KernelCase => ({
  name: `${counts[1] * counts[2] === 1 ? counts[0] : counts.join(" × ")} workgroups`,
  prepare({ width }) {
    const total = counts[0] * counts[1] * counts[2];
    return launch({
      kernel: kernel(
        "many",
        { params: { out: buffer(u32, "write"), ends: buffer(u32, "write") }, workgroup: [width] },
        ({ out, ends }, gpu) => {
          const { x, y, z } = gpu.workgroupId;
          const index = gpu.workgroupIndex;
          gpu.if(gpu.localIndex.eq(0), () => out.set(index, x.add(y.mul(7)).add(z.mul(1000003))));
          const isLast = index
            .add(1)
            .eq(gpu.numWorkgroups.x.mul(gpu.numWorkgroups.y).mul(gpu.numWorkgroups.z));
          gpu.if(isLast.and(gpu.localIndex.eq(width - 1)), () => {
            ends.set(0, gpu.globalId.x);
            ends.set(1, gpu.numWorkgroups.x);
          });
        },
      ),
      workgroups: counts,
      args: { out: array(u32, total), ends: array(u32, 2) },
      expected: {
        out: array(u32, total, (i) => {
          const [x, y] = [i % counts[0], Math.floor(i / counts[0]) % counts[1]];
          return (x + 7 * y + Math.imul(1000003, Math.floor(i / counts[0] / counts[1]))) >>> 0;
        }),
        ends: total === 0 ? array(u32, 2) : Uint32Array.of(counts[0] * width - 1, counts[0]),
      },
    });
  },
});

const countsInShort: KernelCase = {
  name: "workgroup counts as a number, and as one or two numbers in a list",
  prepare({ width }) {
    const program = kernel(
      "counts",
      { params: { out: buffer(u32, "write") }, workgroup: [width] },
      ({ out }, gpu) => {
        const { x, y, z } = gpu.numWorkgroups;
        gpu.if(gpu.localIndex.eq(0), () => out.set(gpu.workgroupIndex, x.mul(100).add(y.mul(10)).add(z)));
      },
    );
    const run = (workgroups: number | readonly [number, number?, number?], total: number, value: number) =>
      launch({
        kernel: program,
        workgroups,
        args: { out: array(u32, 8) },
        expected: { out: array(u32, 8, (i) => (i < total ? value : 0)) },
      });
    return [run(3, 3, 311), run([4], 4, 411), run([3, 2], 6, 321), run([1, 2, 3], 6, 123)];
  },
};

const fullWorkgroup: KernelCase = {
  name: "the largest workgroup, up to 256 invocations, that meets at a barrier",
  prepare(target) {
    const threads = invocations(target, 256);
    return launch({
      kernel: kernel(
        "full",
        { params: { out: buffer(u32, "write") }, workgroup: [threads] },
        ({ out }, gpu) => {
          const all = gpu.shared(u32, threads);
          all.set(gpu.localIndex, gpu.localIndex);
          gpu.barrier();
          out.set(gpu.globalId.x, all.get(gpu.constant(u32, threads - 1).sub(gpu.localIndex)));
        },
      ),
      workgroups: 2,
      args: { out: array(u32, 2 * threads) },
      expected: { out: array(u32, 2 * threads, (i) => threads - 1 - (i % threads)) },
    });
  },
};

export const launchCases: readonly Case[] = [
  indices("workgroups on one axis", ({ width }) => [2 * width, 1, 1], [5, 1, 1]),
  indices("workgroups [W, 2]", ({ width }) => [width, 2, 1], [3, 4, 1]),
  indices("workgroups [2, W]", ({ width }) => [2, width, 1], [2, 1, 3]),
  indices("workgroups [W / 4, 2, 6]", ({ width }) => [width / 4, 2, 6], [2, 3, 2]),
  indices(
    "workgroups [1, W / 32 or 1, W or 32]",
    ({ width }) => [1, Math.max(1, width / 32), Math.min(width, 32)],
    [3, 2, 2],
  ),
  indices("workgroups [3, 2, W / 2]", ({ width }) => [3, 2, width / 2], [1, 2, 4]),
  countsInShort,
  fullWorkgroup,
  many([0, 1, 1]),
  many([3, 0, 2]),
  many([1, 1, 1]),
  many([3, 5, 7]),
  many([65_535, 1, 1]),
  many([65_536, 1, 1]),
  many([70_000, 1, 1]),
  many([1, 65_537, 1]),
  many([2, 1, 33_000]),
  many([300, 17, 13]),
];
