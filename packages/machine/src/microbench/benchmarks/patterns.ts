/**
 * Reads from global memory in other orders than one after another: by a stride between neighbours, at random, and again and
 * again from a footprint that some cache holds. Useful bytes count, so the loss against streaming is what a pattern costs.
 */

import { valueAxis } from "@evolver/base";
import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import type { Gpu, Kernel, U32 } from "@evolver/kernel";
import { fill, once, POISON, random16, randomHalf, randomise, report, verdictParam } from "../kernels.ts";
import type { Outcome } from "../runner.ts";
import type { BufferSpec, CaseSpec, Count, Setup } from "../spec.ts";
import {
  best,
  bySize,
  doubling,
  figure,
  measured,
  powerOfTwo,
  seriesBy,
  type TestPlan,
  type Test,
} from "../benchmark.ts";

const BLOCK = 256;
/** Reads of an invocation. */
const UNROLL = 8;
const SEED = 0x2545f491;

/** Twice the value of element i, as a whole number. */
const twice = (i: U32): U32 => random16(i.xor(SEED)).and(255).mul(2).sub(255);

/** The element that reader `i` of the launch reads. */
type Place = (i: U32, stride: U32, mask: U32, bits: U32) => U32;

/** i · stride, and once round the array on to the next element, so that each element is read once at most. */
const strided: Place = (i, stride, mask, bits) => i.mul(stride).and(mask).add(i.mul(stride).shr(bits));

/** An element that looks random; some come twice. */
const gathered: Place = (i, stride, mask) =>
  random16(i.mul(stride))
    .shl(16)
    .xor(random16(i.add(0x9e3779b9)))
    .xor(i.mul(0x85ebca6b))
    .and(mask);

const places = { strided, gathered } as const;
type Pattern = keyof typeof places;

function reads(gpu: Gpu, pattern: Pattern, stride: U32, mask: U32, bits: U32): U32[] {
  const first = gpu.workgroupIndex.mul(BLOCK * UNROLL).add(gpu.localIndex);
  return Array.from({ length: UNROLL }, (_, k) => places[pattern](first.add(k * BLOCK), stride, mask, bits));
}

const readKernel = (pattern: Pattern): Kernel =>
  once(`read_${pattern}`, (name) =>
    kernel(
      name,
      {
        params: { data: buffer(f32), to: buffer(f32, "write"), stride: u32, mask: u32, bits: u32 },
        workgroup: [BLOCK],
      },
      ({ data, to, stride, mask, bits }, gpu) => {
        const values = reads(gpu, pattern, stride, mask, bits).map((at) => data.get(at));
        const sum = values
          .slice(1)
          .reduce((total, value) => total.add(value), values[0] as (typeof values)[number]);
        to.set(gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex), sum);
      },
    ),
  );

const checkKernel = (pattern: Pattern): Kernel =>
  once(`check_${pattern}`, (name) =>
    kernel(
      name,
      {
        params: { from: buffer(f32), stride: u32, mask: u32, bits: u32, ...verdictParam },
        workgroup: [BLOCK],
      },
      ({ from, stride, mask, bits, verdict }, gpu) => {
        const sum = gpu.var(u32, 0);
        for (const at of reads(gpu, pattern, stride, mask, bits)) sum.add(twice(at));
        const i = gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex);
        report(gpu, verdict, from.get(i).mul(2).ne(sum.get().toI32().toF32()), i);
      },
    ),
  );

/** Rounds over a footprint, in steps of what a workgroup reads at once; each workgroup starts `part` words on from the last. */
const roundsKernel = (block: number): Kernel =>
  once(`cache_rounds_b${block}`, (name) =>
    kernel(
      name,
      {
        params: {
          data: buffer(f32),
          to: buffer(f32, "write"),
          mask: u32,
          part: u32,
          step: u32,
          iterations: u32,
        },
        workgroup: [block],
      },
      ({ data, to, mask, part, step, iterations }, gpu) => {
        const base = gpu.workgroupIndex.mul(part);
        const at = gpu.var(u32, gpu.localIndex.mul(4));
        const sums = Array.from({ length: UNROLL }, () => gpu.var(f32, 0));
        gpu.for({ from: 0, to: iterations }, () => {
          sums.forEach((sum, k) => {
            const value = data.getVec(4, base.add(at.get().add(k * block * 4)).and(mask));
            // The largest of them all needs no more than is read, and repeats change nothing.
            sum.set(sum.get().max(value.x.max(value.y)).max(value.z.max(value.w)));
          });
          at.set(at.get().add(step));
        });
        const largest = sums.reduce((most, sum) => most.max(sum.get()), gpu.constant(f32, 0));
        to.set(gpu.workgroupIndex.mul(block).add(gpu.localIndex), largest);
      },
    ),
  );

/** The same maximum, by the indices that the rounds go over. */
const checkRounds = (block: number): Kernel =>
  once(`check_cache_rounds_b${block}`, (name) =>
    kernel(
      name,
      {
        params: {
          from: buffer(f32),
          mask: u32,
          part: u32,
          step: u32,
          iterations: u32,
          ...verdictParam,
        },
        workgroup: [block],
      },
      ({ from, mask, part, step, iterations, verdict }, gpu) => {
        const base = gpu.workgroupIndex.mul(part);
        const largest = gpu.var(f32, 0);
        gpu.for({ from: 0, to: iterations.mul(UNROLL) }, (round) => {
          const [turn, k] = [round.divTrunc(UNROLL), round.remTrunc(UNROLL)];
          const at = gpu.localIndex
            .mul(4)
            .add(turn.mul(step))
            .add(k.mul(block * 4));
          const first = base.add(at).and(mask);
          for (let c = 0; c < 4; c++) largest.set(largest.get().max(randomHalf(first.add(c).xor(SEED))));
        });
        const i = gpu.workgroupIndex.mul(block).add(gpu.localIndex);
        report(gpu, verdict, from.get(i).ne(largest.get()), i);
      },
    ),
  );

interface Layout {
  readonly data: BufferSpec;
  readonly to: BufferSpec;
  /** Workgroups that read once each. */
  readonly workgroups: number;
}

function layOut(setup: Setup): Layout {
  const wanted = bySize(setup, 2 ** 15, 2 ** 22, setup.quick ? 2 ** 27 : 2 ** 29);
  const length = powerOfTwo(Math.min(wanted, setup.maxBufferBytes / 16));
  const readers = length / bySize(setup, 4, 4, 32);
  return {
    data: { name: "data", element: "f32", length },
    to: {
      name: "to",
      element: "f32",
      length: Math.max(readers / UNROLL, bySize(setup, 2 ** 10, 2 ** 13, 2 ** 20)),
    },
    workgroups: readers / (BLOCK * UNROLL),
  };
}

function patternCase(pattern: Pattern, stride: number, { data, to, workgroups }: Layout): CaseSpec {
  const settings = { stride, mask: data.length - 1, bits: Math.log2(data.length) };
  return {
    id: pattern === "strided" ? `strided.${stride}` : "gather",
    name: pattern === "strided" ? `stride ${stride}` : "random gather",
    unit: "GB/s",
    launch: { kernel: readKernel(pattern), workgroups, args: { data, to, ...settings } },
    before: [fill(to, POISON)],
    check: { kernel: checkKernel(pattern), workgroups, args: { from: to, ...settings } },
    work: BLOCK * UNROLL * 4,
    settings: { pattern, stride },
  };
}

/** Distances that are no simple fraction of the whole, so that any number of starts lies well apart: the golden section. */
const APART = (Math.sqrt(5) - 1) / 2;
/** Words of which a start is a multiple: whole lines of any cache. */
const LINE = 256;

/** All workgroups over the same footprint, which one multiprocessor's cache or the shared one holds. */
function roundsCase(bytes: number, level: "first-level" | "shared", setup: Setup, layout: Layout): CaseSpec {
  const { data, to } = layout;
  const isShared = level === "shared";
  // From the shared cache one large workgroup per multiprocessor walks the whole footprint from a start of its own: what it
  // comes back to has left its own cache long ago, and no workgroup beside it reads what it has just read.
  const block = isShared && setup.size === "full" ? powerOfTwo(Math.min(1024, setup.maxInvocations)) : BLOCK;
  const workgroups = bySize<Count>(setup, 2, 8, { perMultiprocessor: isShared ? 1024 / block : 8 });
  const words = bytes / 4;
  const args = {
    mask: words - 1,
    part: isShared ? Math.round((words * APART) / LINE) * LINE : 0,
    step: block * UNROLL * 4,
  };
  return {
    id: `cache.${level}.${bytes}`,
    name: `rounds over ${bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 1024} KiB`}, ${level}`,
    unit: "GB/s",
    launch: { kernel: roundsKernel(block), workgroups, args: { data, to, ...args } },
    before: [fill(to, POISON)],
    check: { kernel: checkRounds(block), workgroups, args: { from: to, ...args } },
    work: block * UNROLL * 16,
    iterations: { max: 2 ** 14, min: setup.size === "tiny" ? 1 : 2 },
    alone: true,
    settings: { pattern: "rounds", level, bytes },
  };
}

/** The largest footprint that surely fits: half the shared cache. Where its size is not known, the best of all. */
function fromCache(outcomes: readonly Outcome[], cacheBytes: number | null): number | null {
  const bytesOf = ({ spec }: Outcome): number => spec.settings["bytes"] as number;
  const within = measured(outcomes).filter(
    (outcome) => cacheBytes !== null && bytesOf(outcome) <= cacheBytes / 2,
  );
  const largest = within.toSorted((a, b) => bytesOf(b) - bytesOf(a))[0];
  return (largest ?? best(outcomes))?.value ?? null;
}

export const patterns: Test = {
  id: "patterns",
  title: "Strides, gathers and caches",
  about:
    "Useful bytes per second of reads at a stride between neighbours and of reads at random; and of rounds over a footprint that fits a multiprocessor's own cache, or the one that all share.",
  plan: (setup): TestPlan => {
    const layout = layOut(setup);
    const strides =
      setup.size === "tiny" ? [1, 8, 32] : [...doubling(1, 128), 3, 33].toSorted((a, b) => a - b);
    const footprints = bySize(
      setup,
      [2 ** 15],
      [2 ** 15, 2 ** 18, 2 ** 20, 2 ** 22],
      setup.quick ? [2 ** 22, 2 ** 24] : doubling(2 ** 22, 2 ** 28),
    );
    return {
      fills: [randomise(layout.data, SEED)],
      cases: [
        ...strides.map((stride) => patternCase("strided", stride, layout)),
        patternCase("gathered", 1, layout),
        roundsCase(2 ** 15, "first-level", setup, layout),
        ...footprints
          .filter((bytes) => bytes / 4 <= layout.data.length)
          .map((bytes) => roundsCase(bytes, "shared", setup, layout)),
      ],
      read: (outcomes, { multiprocessors, clockGHz, cacheBytes }) => {
        const level = (name: string) => outcomes.filter(({ spec }) => spec.settings["level"] === name);
        const first = best(level("first-level"))?.value ?? null;
        const cache = fromCache(level("shared"), cacheBytes);
        const perClock = first === null || clockGHz === null ? null : first / clockGHz / multiprocessors;
        const gather = measured(outcomes).find(({ spec }) => spec.id === "gather")?.value ?? null;
        return {
          figures: [
            ...figure("firstLevelGBPerSecond", "first-level caches together", first, "GB/s"),
            ...figure("firstLevelBytesPerClock", "first-level cache, each clock", perClock, "bytes"),
            ...figure("cacheGBPerSecond", "shared cache", cache, "GB/s"),
            ...figure("gatherGBPerSecond", "random gather of single elements", gather, "GB/s"),
          ],
          plots: [
            {
              id: "strided",
              title: "Useful bandwidth of strided reads",
              x: valueAxis("stride, in elements of 4 bytes", null, { log: true }),
              y: valueAxis("bandwidth", "GB/s", { log: true }),
              notes: [],
              series: seriesBy(
                outcomes.filter(({ spec }) => spec.settings["pattern"] === "strided"),
                "stride",
                "none",
              ),
            },
            {
              id: "caches",
              title: "Bandwidth of rounds over a footprint that all workgroups share",
              x: valueAxis("footprint", "bytes", { log: true }),
              y: valueAxis("bandwidth", "GB/s", { log: true }),
              notes: [],
              series: seriesBy(level("shared"), "bytes", "none"),
            },
          ],
        };
      },
    };
  },
};
