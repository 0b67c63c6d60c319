/**
 * A pointer chase: each load gives the address of the next, over a random cycle through all cache lines of a footprint. The
 * time of a step is the latency of whatever level of memory holds the footprint.
 */

import { valueAxis } from "@evolver/base";
import { buffer, kernel, u32 } from "@evolver/kernel";
import type { Gpu, Kernel, U32 } from "@evolver/kernel";
import { fill, FILL_BLOCK, once, report, verdictParam } from "../kernels.ts";
import type { BufferSpec, CaseSpec, Setup } from "../spec.ts";
import { findPlateaus } from "../curves.ts";
import {
  bySize,
  doubling,
  latencyFigures,
  measured,
  powerOfTwo,
  seriesBy,
  type TestPlan,
  type Test,
} from "../benchmark.ts";

/** Words from one line to the next: 128 bytes. */
const LINE_WORDS = 32;
/** i → (a·i + c) mod m visits all of 0 … m − 1 where m is a power of two, by Hull and Dobell. */
export const LCG_A = 1664525;
export const LCG_C = 1013904223;
const UNROLL = 16;

const fillChain = (): Kernel =>
  once("fillChain", (name) =>
    kernel(
      name,
      { params: { next: buffer(u32, "write"), lines: u32 }, workgroup: [FILL_BLOCK] },
      ({ next, lines }, gpu) => {
        const i = gpu.workgroupIndex.mul(FILL_BLOCK).add(gpu.localIndex);
        const line = i.divTrunc(LINE_WORDS);
        const successor = line.mul(LCG_A).add(LCG_C).and(lines.sub(1));
        gpu.if(i.lt(lines.mul(LINE_WORDS)), () =>
          next.set(i, successor.mul(LINE_WORDS).add(i.and(LINE_WORDS - 1))),
        );
      },
    ),
  );

/** Goes on from where the last launch stopped: state holds the place, and the steps made so far. */
const chase = (): Kernel =>
  once("chase", (name) =>
    kernel(
      name,
      { params: { next: buffer(u32), state: buffer(u32, "read_write"), iterations: u32 }, workgroup: [1] },
      ({ next, state, iterations }, gpu) => {
        const at = gpu.var(u32, state.get(0));
        gpu.for({ from: 0, to: iterations }, () => {
          for (let k = 0; k < UNROLL; k++) at.set(next.get(at.get()));
        });
        state.set(0, at.get());
        state.set(1, state.get(1).add(iterations.mul(UNROLL)));
      },
    ),
  );

/** Where `steps` steps of the generator lead from 0, modulo 2³²: by squaring, not by walking. */
export function jump(gpu: Gpu, steps: U32): U32 {
  const [left, a, c, at] = [gpu.var(u32, steps), gpu.var(u32, LCG_A), gpu.var(u32, LCG_C), gpu.var(u32, 0)];
  gpu.while(
    () => left.get().ne(0),
    () => {
      gpu.if(left.get().and(1).ne(0), () => at.set(at.get().mul(a.get()).add(c.get())));
      c.set(c.get().mul(a.get()).add(c.get()));
      a.set(a.get().mul(a.get()));
      left.set(left.get().shr(1));
    },
  );
  return at.get();
}

const checkChase = (): Kernel =>
  once("check_chase", (name) =>
    kernel(
      name,
      { params: { state: buffer(u32), lines: u32, ...verdictParam }, workgroup: [1] },
      ({ state, lines, verdict }, gpu) => {
        const steps = state.get(1);
        const line = jump(gpu, steps).and(lines.sub(1));
        report(gpu, verdict, state.get(0).ne(line.mul(LINE_WORDS)).or(steps.eq(0)), gpu.localIndex);
      },
    ),
  );

function chaseCase(bytes: number, { size }: Setup): CaseSpec {
  const lines = bytes / (4 * LINE_WORDS);
  const next: BufferSpec = { name: `next${bytes}`, element: "u32", length: bytes / 4 };
  const state: BufferSpec = { name: "state", element: "u32", length: 2 };
  const chain = {
    kernel: fillChain(),
    workgroups: Math.ceil(next.length / FILL_BLOCK),
    args: { next, lines },
  };
  // The short launch should go round a small footprint more than once: then what is cold is in both, and cancels.
  const least = size === "tiny" ? 1 : Math.max(64, Math.min(512, (2 * lines) / UNROLL));
  return {
    id: `chase.${bytes}`,
    name: `chase over ${bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 1024} KiB`}`,
    unit: "ns",
    launch: { kernel: chase(), workgroups: 1, args: { next, state } },
    before: [fill(state, 0), chain],
    check: { kernel: checkChase(), workgroups: 1, args: { state, lines } },
    work: UNROLL,
    iterations: { min: Math.ceil(least), max: 2 ** 22 },
    alone: true,
    settings: { bytes },
  };
}

export const chases: Test = {
  id: "chase",
  title: "Memory latency",
  about:
    "One invocation follows a random cycle of pointers; the time of a step over a growing footprint is a staircase whose levels are the caches and memory.",
  plan: (setup): TestPlan => {
    const largest = bySize(setup, 2 ** 12, setup.quick ? 2 ** 26 : 2 ** 27, setup.quick ? 2 ** 28 : 2 ** 30);
    const end = powerOfTwo(Math.min(largest, setup.maxBufferBytes / 4));
    return {
      fills: [],
      cases: doubling(bySize(setup, 2 ** 10, 2 ** 12, 2 ** 12), end).map((bytes) => chaseCase(bytes, setup)),
      read: (outcomes, context) => {
        const points = measured(outcomes).map(({ spec, value }) => ({
          setting: spec.settings["bytes"] as number,
          value,
        }));
        const levels = findPlateaus(points);
        const figures = levels.flatMap(({ from, to, value }, k) => [
          ...latencyFigures(
            `level${k + 1}Latency`,
            `level ${k + 1}, ${size(from)} to ${size(to)}`,
            value,
            context,
          ),
        ]);
        const [first, last] = [points[0]?.value ?? null, points.at(-1)?.value ?? null];
        // Well inside the shared cache where its size is known; else the second of at least three levels.
        const { cacheBytes } = context;
        const inCache = points.findLast(({ setting }) => cacheBytes !== null && setting <= cacheBytes / 4);
        const middle = inCache?.value ?? (levels.length > 2 ? (levels[1]?.value ?? null) : null);
        return {
          figures: [
            ...figures,
            ...latencyFigures("firstLevelLatency", "smallest footprint (first-level cache)", first, context),
            ...latencyFigures("cacheLatency", "second level", middle, context),
            ...latencyFigures("memoryLatency", "largest footprint (memory)", last, context),
          ],
          plots: [
            {
              id: "chase",
              title: "Latency of a dependent load",
              x: valueAxis("footprint", "bytes", { log: true }),
              y: valueAxis("latency", "ns", { log: true }),
              notes: [],
              series: seriesBy(outcomes, "bytes", "none"),
            },
          ],
        };
      },
    };
  },
};

const size = (bytes: number): string => (bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 1024} KiB`);
