/**
 * How much parallelism a copy needs: workgroups on a multiprocessor, invocations per workgroup, and shared memory that each
 * workgroup holds on to, which keeps others from running beside it. The knee of each curve is the smallest setting within
 * 3 % of the best; of shared memory it is the largest.
 */

import { valueAxis } from "@evolver/base";
import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import type { Kernel } from "@evolver/kernel";
import { fill, FILL_BLOCK, once, POISON, randomHalf, report, randomise, verdictParam } from "../kernels.ts";
import type { Outcome } from "../runner.ts";
import type { BufferSpec, CaseSpec, Count, Setup } from "../spec.ts";
import { findKnee } from "../curves.ts";
import {
  bySize,
  doubling,
  figure,
  measured,
  powerOfTwo,
  seriesBy,
  type TestPlan,
  type Test,
} from "../benchmark.ts";

const SEED = 0x1b873593;
const WIDTH = 4;
/** Loads in flight of an invocation. */
const UNROLL = 4;

/** Copies with a loop over the whole array, so that any number of workgroups does all of it. */
const copyKernel = (block: number, sharedBytes: number): Kernel =>
  once(`copy_loop_b${block}_s${sharedBytes}`, (name) =>
    kernel(
      name,
      {
        params: { x: buffer(f32), z: buffer(f32, "write"), tiles: u32, never: u32 },
        workgroup: [block],
      },
      ({ x, z, tiles, never }, gpu) => {
        if (sharedBytes > 0) {
          // Nobody can know that this never happens, so the memory has to be there.
          const held = gpu.shared(f32, sharedBytes / 4, "held");
          gpu.if(never.ne(0), () => {
            held.set(gpu.localIndex.mul(never).remTrunc(sharedBytes / 4), x.get(gpu.localIndex));
            z.set(gpu.localIndex, held.get(never.remTrunc(sharedBytes / 4)));
          });
        }
        gpu.for({ from: gpu.workgroupIndex, to: tiles, step: gpu.numWorkgroups.x }, (tile) => {
          const first = tile.mul(block * UNROLL).add(gpu.localIndex);
          const places = Array.from({ length: UNROLL }, (_, k) => first.add(k * block).mul(WIDTH));
          const values = places.map((at) => x.getVec(WIDTH, at));
          places.forEach((at, k) => z.setVec(at, values[k] as (typeof values)[number]));
        });
      },
    ),
  );

const checkCopy = (): Kernel =>
  once("check_copy_loop", (name) =>
    kernel(
      name,
      { params: { z: buffer(f32), n: u32, ...verdictParam }, workgroup: [FILL_BLOCK] },
      ({ z, n, verdict }, gpu) => {
        const i = gpu.workgroupIndex.mul(FILL_BLOCK).add(gpu.localIndex);
        gpu.if(i.lt(n), () => report(gpu, verdict, z.get(i).ne(randomHalf(i.xor(SEED))), i));
      },
    ),
  );

interface Sweep {
  readonly kind: "workgroups" | "block" | "shared";
  readonly setting: number;
  readonly name: string;
  readonly block: number;
  readonly sharedBytes: number;
  readonly workgroups: Count;
}

function sweepCase({ kind, setting, name, block, sharedBytes, workgroups }: Sweep, length: number): CaseSpec {
  const array = (of: string): BufferSpec => ({ name: of, element: "f32", length });
  const [x, z] = [array("x"), array("z")];
  const tiles = length / (block * UNROLL * WIDTH);
  return {
    id: `${kind}.${setting}`,
    name,
    unit: "GB/s",
    launch: { kernel: copyKernel(block, sharedBytes), workgroups, args: { x, z, tiles, never: 0 } },
    before: [fill(z, POISON)],
    check: { kernel: checkCopy(), workgroups: Math.ceil(length / FILL_BLOCK), args: { z, n: length } },
    // Of all workgroups together.
    work: length * 8,
    whole: true,
    settings: { kind, setting },
  };
}

function sweeps(setup: Setup): Sweep[] {
  const most = Math.min(1024, setup.maxInvocations);
  const perMultiprocessor = bySize(setup, [1, 2], [1, 2, 8], [1, 2, 3, 4, 6, 8, 12, 16, 32]);
  const grids = perMultiprocessor
    .filter((_, k) => !setup.quick || k % 2 === 0)
    .map((count) => ({
      kind: "workgroups" as const,
      setting: count,
      name: `${count} workgroups of 256 ${setup.size === "full" ? "a multiprocessor" : ""}`.trim(),
      block: 256,
      sharedBytes: 0,
      workgroups: setup.size === "full" ? { perMultiprocessor: count } : count,
    }));
  const blocks = doubling(Math.max(32, setup.subgroup), most)
    .filter((block) => setup.size !== "tiny" || block <= 2 * Math.max(32, setup.subgroup))
    .filter((_, k) => !setup.quick || k % 2 === 0)
    .map((block) => ({
      kind: "block" as const,
      setting: block,
      name: `workgroups of ${block}, as many as fit`,
      block,
      sharedBytes: 0,
      workgroups: bySize<Count>(setup, 2, 16, { perMultiprocessor: 32 }),
    }));
  const kilobytes = bySize(setup, [1], [16], [8, 16, 24, 32, 48, 64, 96, 112, 160, 224]);
  const held = kilobytes
    .filter((size) => size * 1024 <= setup.maxSharedBytes)
    .map((size) => ({
      kind: "shared" as const,
      setting: size * 1024,
      name: `workgroups of 256 that hold ${size} KiB`,
      block: 256,
      sharedBytes: size * 1024,
      workgroups: bySize<Count>(setup, 2, 16, { perMultiprocessor: 32 }),
    }));
  return [...grids, ...blocks, ...(setup.quick ? held.filter((_, k) => k % 3 === 0) : held)];
}

const points = (outcomes: readonly Outcome[], kind: string) =>
  measured(outcomes)
    .filter(({ spec }) => spec.settings["kind"] === kind)
    .map(({ spec, value }) => ({ setting: spec.settings["setting"] as number, value }));

export const occupancy: Test = {
  id: "occupancy",
  title: "Occupancy",
  about:
    "A copy by how many workgroups share a multiprocessor, how large they are, and how much shared memory they hold. The knee is the smallest setting within 3 % of the best; of shared memory the largest.",
  plan: (setup): TestPlan => {
    const wanted = bySize(setup, 2 ** 13, 2 ** 22, setup.quick ? 2 ** 26 : 2 ** 28);
    const length = powerOfTwo(Math.min(wanted, setup.maxBufferBytes / 16));
    return {
      fills: [randomise({ name: "x", element: "f32", length }, SEED)],
      cases: sweeps(setup).map((sweep) => sweepCase(sweep, length)),
      read: (outcomes) => {
        const negated = points(outcomes, "shared").map(({ setting, value }) => ({
          setting: -setting,
          value,
        }));
        const held = findKnee(negated)?.setting ?? null;
        return {
          figures: [
            ...figure(
              "workgroupsKnee",
              "workgroups of 256 per multiprocessor that suffice",
              findKnee(points(outcomes, "workgroups"))?.setting ?? null,
              "workgroups",
            ),
            ...figure(
              "blockKnee",
              "invocations per workgroup that suffice",
              findKnee(points(outcomes, "block"))?.setting ?? null,
              "invocations",
            ),
            ...figure(
              "sharedKnee",
              "shared memory that a workgroup may hold",
              held === null ? null : -held,
              "bytes",
            ),
          ],
          plots: (
            [
              ["workgroups", "workgroups of 256 per multiprocessor", null],
              ["block", "invocations per workgroup", null],
              ["shared", "shared memory a workgroup", "bytes"],
            ] as const
          ).map(([kind, x, unit]) => ({
            id: `occupancy-${kind}`,
            title: `Copy by ${x}`,
            x: valueAxis(x, unit, { log: true }),
            y: valueAxis("bandwidth", "GB/s"),
            notes: [],
            series: seriesBy(
              outcomes.filter(({ spec }) => spec.settings["kind"] === kind),
              "setting",
              "none",
            ),
          })),
        };
      },
    };
  },
};
