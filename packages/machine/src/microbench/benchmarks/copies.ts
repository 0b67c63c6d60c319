/**
 * Copies from global to shared memory: loaded and stored by the invocation, or asynchronous in groups of which several are
 * in flight. Few workgroups run, so that the depth hides latency and not other workgroups. Where a device has no
 * asynchronous copies they are loads and stores, and depth gains nothing.
 */

import { valueAxis } from "@evolver/base";
import { buffer, f32, kernel, u32, vec } from "@evolver/kernel";
import type { F32, Gpu, Kernel, SharedArray, U32 } from "@evolver/kernel";
import { fill, once, POISON, random16, randomise, report, verdictParam } from "../kernels.ts";
import type { Outcome } from "../runner.ts";
import type { BufferSpec, CaseSpec, Count, Setup } from "../spec.ts";
import { best, bySize, figure, powerOfTwo, seriesBy, type TestPlan, type Test } from "../benchmark.ts";

type Width = 1 | 2 | 4;

const BLOCK = 128;
/** Copies of an invocation for each stage. */
const UNROLL = 4;
const SEED = 0x3c6ef372;

const stageWords = (width: Width): number => BLOCK * UNROLL * width;

/** Each invocation sums what its neighbour in the subgroup copied. */
function use(gpu: Gpu, stages: SharedArray<"f32">, slot: U32, width: Width, sum: (value: F32) => void): void {
  const neighbour = gpu.localIndex.xor(1).mul(width);
  for (let k = 0; k < UNROLL; k++) {
    const at = slot
      .mul(stageWords(width))
      .add(neighbour)
      .add(k * BLOCK * width);
    const values = width === 1 ? [stages.get(at)] : stages.getVec(width, at).components;
    for (const value of values) sum(value);
  }
}

const params = { data: buffer(f32), to: buffer(f32, "write"), tiles: u32 };

/** Load, store, barrier, use, barrier. */
const plainKernel = (width: Width): Kernel =>
  once(`copies_plain_v${width}`, (name) =>
    kernel(name, { params, workgroup: [BLOCK] }, ({ data, to, tiles }, gpu) => {
      const stage = gpu.shared(f32, stageWords(width), "stage");
      const sum = gpu.var(f32, 0);
      const workgroups = gpu.numWorkgroups.x;
      const rounds = tiles.add(workgroups).sub(1).divTrunc(workgroups);
      gpu.for({ from: 0, to: rounds }, (round) => {
        const tile = round.mul(workgroups).add(gpu.workgroupIndex);
        // The last tile again where there is none left: it is loaded, and counts for nothing.
        const source = tile.min(tiles.sub(1)).mul(stageWords(width));
        const isReal = tile.lt(tiles);
        const places = Array.from({ length: UNROLL }, (_, k) => gpu.localIndex.add(k * BLOCK).mul(width));
        const values = places.map((at) =>
          width === 1 ? [data.get(source.add(at))] : [...data.getVec(width, source.add(at)).components],
        );
        places.forEach((at, k) => {
          const [a, b, c, d] = values[k] as [F32, F32, F32, F32];
          if (width === 1) stage.set(at, a);
          else if (width === 2) stage.setVec(at, vec(a, b));
          else stage.setVec(at, vec(a, b, c, d));
        });
        gpu.barrier();
        gpu.if(isReal, () => use(gpu, stage, round.and(0), width, (value) => sum.add(value)));
        gpu.barrier();
      });
      to.set(gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex), sum.get());
    }),
  );

/** `depth` groups under way: await the oldest, use it, start another in its place. */
const asyncKernel = (width: Width, depth: number): Kernel =>
  once(`copies_async_v${width}_d${depth}`, (name) =>
    kernel(name, { params, workgroup: [BLOCK] }, ({ data, to, tiles }, gpu) => {
      const stages = gpu.shared(f32, stageWords(width) * depth, "stages");
      const sum = gpu.var(f32, 0);
      const workgroups = gpu.numWorkgroups.x;
      const rounds = tiles.add(workgroups).sub(1).divTrunc(workgroups);
      const start = (round: U32, slot: U32): void => {
        const tile = round.mul(workgroups).add(gpu.workgroupIndex);
        for (let k = 0; k < UNROLL; k++) {
          const at = gpu.localIndex.add(k * BLOCK).mul(width);
          gpu.copies.start({
            to: stages,
            at: [slot.mul(stageWords(width)).add(at)],
            from: data,
            index: [tile.mul(stageWords(width)).add(at)],
            width,
            active: tile.lt(tiles),
          });
        }
        gpu.copies.commit();
      };
      const zero = gpu.localIndex.and(0);
      for (let stage = 0; stage < depth; stage++) start(zero.add(stage), zero.add(stage));
      gpu.for({ from: 0, to: rounds }, (round) => {
        const slot = round.remTrunc(depth);
        gpu.copies.await(depth - 1);
        gpu.barrier();
        use(gpu, stages, slot, width, (value) => sum.add(value));
        gpu.barrier();
        start(round.add(depth), slot);
      });
      gpu.copies.await();
      to.set(gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex), sum.get());
    }),
  );

/** The sum of each invocation in whole numbers, twice the halves. */
const checkKernel = (width: Width): Kernel =>
  once(`check_copies_v${width}`, (name) =>
    kernel(
      name,
      { params: { from: buffer(f32), tiles: u32, ...verdictParam }, workgroup: [BLOCK] },
      ({ from, tiles, verdict }, gpu) => {
        const sum = gpu.var(u32, 0);
        gpu.for({ from: gpu.workgroupIndex, to: tiles, step: gpu.numWorkgroups.x }, (tile) => {
          for (let k = 0; k < UNROLL; k++)
            for (let c = 0; c < width; c++) {
              const at = gpu.localIndex
                .xor(1)
                .add(k * BLOCK)
                .mul(width)
                .add(c);
              const i = tile.mul(stageWords(width)).add(at);
              sum.add(random16(i.xor(SEED)).and(255).mul(2).sub(255));
            }
        });
        const i = gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex);
        report(gpu, verdict, from.get(i).mul(2).ne(sum.get().toI32().toF32()), i);
      },
    ),
  );

interface Arrays {
  readonly data: BufferSpec;
  readonly to: BufferSpec;
}

/** @param depth 0 for plain loads and stores */
function copyCase(width: Width, depth: number, { data, to }: Arrays, setup: Setup): CaseSpec {
  const workgroups = bySize<Count>(setup, 2, 4, { perMultiprocessor: 2 });
  const tiles = data.length / stageWords(width);
  const how = depth === 0 ? "load and store" : `asynchronous, depth ${depth}`;
  return {
    id: `copies.${depth === 0 ? "plain" : `async${depth}`}.v${width}`,
    name: `${how}, ${4 * width} bytes`,
    unit: "GB/s",
    launch: {
      kernel: depth === 0 ? plainKernel(width) : asyncKernel(width, depth),
      workgroups,
      args: { data, to, tiles },
    },
    before: [fill(to, POISON)],
    check: { kernel: checkKernel(width), workgroups, args: { from: to, tiles } },
    work: 4 * data.length,
    whole: true,
    settings: { depth, width, bytes: 4 * width },
  };
}

export const copies: Test = {
  id: "copies",
  title: "Copies to shared memory",
  about:
    "Bytes per second from global to shared memory, by two workgroups of 128 on each multiprocessor: loaded and stored, and asynchronous with 1 to 4 groups under way.",
  plan: (setup): TestPlan => {
    const wanted = bySize(setup, 2 ** 13, 2 ** 20, setup.quick ? 2 ** 25 : 2 ** 27);
    const arrays: Arrays = {
      data: { name: "data", element: "f32", length: powerOfTwo(Math.min(wanted, setup.maxBufferBytes / 8)) },
      to: { name: "to", element: "f32", length: bySize(setup, 2 * BLOCK, 4 * BLOCK, 2 ** 18) },
    };
    const widths: readonly Width[] = setup.quick || setup.size === "tiny" ? [1, 4] : [1, 2, 4];
    const depths = setup.size === "tiny" ? [0, 1, 3] : [0, 1, 2, 3, 4];
    return {
      fills: [randomise(arrays.data, SEED)],
      cases: widths.flatMap((width) => depths.map((depth) => copyCase(width, depth, arrays, setup))),
      read: (outcomes: readonly Outcome[]) => {
        const at = (depth: (d: number) => boolean) =>
          best(
            outcomes.filter(
              ({ spec: { settings } }) => settings["width"] === 4 && depth(settings["depth"] as number),
            ),
          )?.value ?? null;
        return {
          figures: [
            ...figure(
              "plainCopyGBPerSecond",
              "load and store, 16 bytes",
              at((depth) => depth === 0),
              "GB/s",
            ),
            ...figure(
              "asyncCopyGBPerSecond",
              "asynchronous, 16 bytes, best depth",
              at((depth) => depth > 0),
              "GB/s",
            ),
          ],
          plots: [
            {
              id: "copies",
              title: "Copies to shared memory by depth (0: load and store)",
              x: valueAxis("groups under way"),
              y: valueAxis("bandwidth", "GB/s"),
              notes: [],
              series: seriesBy(outcomes, "depth", "bytes").map((series) => ({
                ...series,
                name: `${series.name} bytes`,
              })),
            },
          ],
        };
      },
    };
  },
};
