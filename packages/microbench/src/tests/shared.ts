/**
 * Shared memory: how many passes over the banks an access takes by stride and width, what padding and an exclusive-or
 * layout make of a column, bandwidth, and the latency of a dependent load. Each access reads where the iteration says, so
 * that none can be taken out of the loop.
 */

import { buffer, kernel, padded, rowMajor, swizzled, u32 } from "@evolver/kernel";
import type { Gpu, Kernel, Layout, SharedArray, U32 } from "@evolver/kernel";
import { fill, once, random16, report, verdictParam } from "../kernels.ts";
import type { Outcome } from "../runner.ts";
import type { BufferSpec, CaseSpec, Count, Setup } from "../spec.ts";
import { best, bySize, figure, latencyFigures, measured, seriesBy } from "../test.ts";
import type { Context, Plan, Test } from "../test.ts";
import { jump, LCG_A, LCG_C } from "./chase.ts";

type Width = 1 | 2 | 4;

const BANKS = 32;
/** Loads of an iteration. */
const UNROLL = 8;
const BLOCK = 256;
/** Flips a bit of the address each iteration, above those that choose the bank. */
const STEP = BANKS * UNROLL;

/** Words between which lanes choose at the widest stride; the loads of an iteration reach UNROLL × BANKS beyond. */
const wordsFor = (subgroup: number): number => Math.max(1024, subgroup * 4 * BANKS);

function sumOf(array: SharedArray<"u32">, at: U32, width: Width): U32 {
  if (width === 1) return array.get(at);
  return array.getVec(width, at).components.reduce((sum, value) => sum.add(value));
}

/** Puts random data into the array: word j holds random16(j). */
function load(gpu: Gpu, words: number, set: (j: U32) => void): void {
  gpu.for({ from: gpu.localIndex, to: words, step: BLOCK }, set);
  gpu.barrier();
}

/** Each lane reads `stride` vectors away from its neighbour. */
function strideKernel(width: Width): Kernel {
  return once(`shared_stride_v${width}`, (name) =>
    kernel(
      name,
      {
        params: { to: buffer(u32, "write"), stride: u32, step: u32, iterations: u32 },
        workgroup: [BLOCK],
      },
      ({ to, stride, step, iterations }, gpu) => {
        const words = wordsFor(gpu.subgroupSize);
        const data = gpu.shared(u32, words + STEP, "data");
        load(gpu, words + STEP, (j) => data.set(j, random16(j)));
        const lane = gpu.localIndex.and(gpu.subgroupSize - 1);
        const at = gpu.var(
          u32,
          lane
            .mul(stride)
            .mul(width)
            .and(words - 1),
        );
        const sum = gpu.var(u32, 0);
        gpu.for({ from: 0, to: iterations }, () => {
          const base = at.get();
          for (let k = 0; k < UNROLL; k++) sum.add(sumOf(data, base.add(k * BANKS), width));
          // The mask changes nothing, but with it compilers know that the sums above do not overflow.
          at.set(base.xor(step).and(words - 1));
        });
        to.set(gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex), sum.get());
      },
    ),
  );
}

function checkStride(width: Width): Kernel {
  return once(`check_shared_stride_v${width}`, (name) =>
    kernel(
      name,
      {
        params: { from: buffer(u32), stride: u32, step: u32, iterations: u32, ...verdictParam },
        workgroup: [BLOCK],
      },
      ({ from, stride, step, iterations, verdict }, gpu) => {
        const words = wordsFor(gpu.subgroupSize);
        const lane = gpu.localIndex.and(gpu.subgroupSize - 1);
        const first = lane
          .mul(stride)
          .mul(width)
          .and(words - 1);
        const round = (base: U32): U32 => {
          const sum = gpu.var(u32, 0);
          for (let k = 0; k < UNROLL; k++)
            for (let c = 0; c < width; c++) sum.add(random16(base.add(k * BANKS + c)));
          return sum.get();
        };
        const odd = iterations.shr(1);
        const wanted = round(first)
          .mul(iterations.sub(odd))
          .add(round(first.xor(step)).mul(odd));
        const i = gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex);
        report(gpu, verdict, from.get(i).ne(wanted), i);
      },
    ),
  );
}

const TILE = 32;
type LayoutName = "row-major" | "padded" | "swizzled";

function layoutOf(name: LayoutName, width: Width): Layout {
  const shape = [TILE, TILE * width] as const;
  if (name === "row-major") return rowMajor(shape);
  return name === "padded" ? padded(shape, width) : swizzled(shape, { vector: width });
}

/** Lanes walk down the rows of a tile, all in one column: 32-way conflicts unless the layout spreads them. */
function columnKernel(layout: LayoutName, width: Width): Kernel {
  return once(`shared_${layout.replace("-", "_")}_v${width}`, (name) =>
    kernel(
      name,
      { params: { to: buffer(u32, "write"), step: u32, iterations: u32 }, workgroup: [BLOCK] },
      ({ to, step, iterations }, gpu) => {
        const tile = gpu.shared(u32, layoutOf(layout, width), "tile");
        const columns = TILE * width;
        load(gpu, TILE * columns, (j) => tile.set(j.divTrunc(columns), j.and(columns - 1), random16(j)));
        const row = gpu.localIndex.and(TILE - 1);
        const at = gpu.var(u32, 0);
        const sum = gpu.var(u32, 0);
        gpu.for({ from: 0, to: iterations }, () => {
          const base = at.get();
          for (let k = 0; k < UNROLL; k++) {
            const column = base.xor(k * width);
            const values = width === 1 ? [tile.get(row, column)] : tile.getVec(width, row, column).components;
            for (const value of values) sum.add(value);
          }
          at.set(base.xor(step));
        });
        to.set(gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex), sum.get());
      },
    ),
  );
}

function checkColumn(width: Width): Kernel {
  return once(`check_shared_column_v${width}`, (name) =>
    kernel(
      name,
      {
        params: { from: buffer(u32), step: u32, iterations: u32, ...verdictParam },
        workgroup: [BLOCK],
      },
      ({ from, step, iterations, verdict }, gpu) => {
        const row = gpu.localIndex.and(TILE - 1).mul(TILE * width);
        const round = (base: U32): U32 => {
          const sum = gpu.var(u32, 0);
          for (let k = 0; k < UNROLL; k++)
            for (let c = 0; c < width; c++) sum.add(random16(row.add(base.xor(k * width)).add(c)));
          return sum.get();
        };
        const odd = iterations.shr(1);
        const zero = gpu.localIndex.and(0);
        const wanted = round(zero).mul(iterations.sub(odd)).add(round(step).mul(odd));
        const i = gpu.workgroupIndex.mul(BLOCK).add(gpu.localIndex);
        report(gpu, verdict, from.get(i).ne(wanted), i);
      },
    ),
  );
}

const CHASE_WORDS = 1024;
const CHASE_UNROLL = 32;

const chaseKernel = (): Kernel =>
  once("shared_chase", (name) =>
    kernel(
      name,
      { params: { to: buffer(u32, "write"), iterations: u32 }, workgroup: [1] },
      ({ to, iterations }, gpu) => {
        const next = gpu.shared(u32, CHASE_WORDS, "next");
        gpu.for({ from: 0, to: CHASE_WORDS }, (j) =>
          next.set(
            j,
            j
              .mul(LCG_A)
              .add(LCG_C)
              .and(CHASE_WORDS - 1),
          ),
        );
        const at = gpu.var(u32, 0);
        gpu.for({ from: 0, to: iterations }, () => {
          for (let k = 0; k < CHASE_UNROLL; k++) at.set(next.get(at.get()));
        });
        to.set(0, at.get());
      },
    ),
  );

const checkChase = (): Kernel =>
  once("check_shared_chase", (name) =>
    kernel(
      name,
      { params: { from: buffer(u32), iterations: u32, ...verdictParam }, workgroup: [1] },
      ({ from, iterations, verdict }, gpu) => {
        const wanted = jump(gpu, iterations.mul(CHASE_UNROLL)).and(CHASE_WORDS - 1);
        report(gpu, verdict, from.get(0).ne(wanted), gpu.localIndex);
      },
    ),
  );

const OUTPUTS: BufferSpec = { name: "sums", element: "u32", length: 2 ** 18 };
const UNSET = 0xdeadbeef;
/** Far from overflow of the iteration count; sums wrap, and so does what they are compared with. */
const MAX_ITERATIONS = 2 ** 20;

const workgroups = (setup: Setup): Count => bySize<Count>(setup, 1, 8, { perMultiprocessor: 4 });

function outputs(setup: Setup): BufferSpec {
  return { ...OUTPUTS, length: bySize(setup, BLOCK, 8 * BLOCK, 2 ** 19) };
}

function strideCase(width: Width, stride: number, setup: Setup): CaseSpec {
  const to = outputs(setup);
  const settings = { kind: "stride", width, stride, bytes: 4 * width };
  return {
    id: `stride.v${width}.s${stride}`,
    name: `stride ${stride}, ${32 * width} bits`,
    unit: "GB/s",
    launch: { kernel: strideKernel(width), workgroups: workgroups(setup), args: { to, stride, step: STEP } },
    before: [fill(to, UNSET)],
    check: {
      kernel: checkStride(width),
      workgroups: workgroups(setup),
      args: { from: to, stride, step: STEP },
    },
    work: BLOCK * UNROLL * width * 4,
    iterations: { max: MAX_ITERATIONS },
    settings,
  };
}

function columnCase(layout: LayoutName, width: Width, setup: Setup): CaseSpec {
  const to = outputs(setup);
  const step = UNROLL * width;
  return {
    id: `column.${layout}.v${width}`,
    name: `a column, ${layout}, ${32 * width} bits`,
    unit: "GB/s",
    launch: { kernel: columnKernel(layout, width), workgroups: workgroups(setup), args: { to, step } },
    before: [fill(to, UNSET)],
    check: { kernel: checkColumn(width), workgroups: workgroups(setup), args: { from: to, step } },
    work: BLOCK * UNROLL * width * 4,
    iterations: { max: MAX_ITERATIONS },
    settings: { kind: "column", layout, width },
  };
}

function latencyCase(): CaseSpec {
  const to: BufferSpec = { name: "place", element: "u32", length: 1 };
  return {
    id: "shared.latency",
    name: "a dependent load, latency",
    unit: "ns",
    launch: { kernel: chaseKernel(), workgroups: 1, args: { to } },
    before: [fill(to, UNSET)],
    check: { kernel: checkChase(), workgroups: 1, args: { from: to } },
    work: CHASE_UNROLL,
    iterations: { max: MAX_ITERATIONS },
    settings: { kind: "latency" },
  };
}

/** Passes that each access takes, if one without conflicts takes as many as its bytes need. */
function passes(outcomes: readonly Outcome[]): { stride: number; width: number; passes: number }[] {
  const strides = measured(outcomes).filter(({ spec }) => spec.settings["kind"] === "stride");
  return strides.flatMap(({ spec: { settings }, value }) => {
    const width = settings["width"] as number;
    const free = best(strides.filter(({ spec }) => spec.settings["width"] === width));
    return free === null
      ? []
      : [{ stride: settings["stride"] as number, width, passes: (free.value / value) * width }];
  });
}

function read(outcomes: readonly Outcome[], context: Context): ReturnType<Plan["read"]> {
  const swept = passes(outcomes);
  const peak = best(outcomes.filter(({ spec }) => spec.settings["kind"] === "stride"))?.value ?? null;
  const latency = best(outcomes.filter(({ spec }) => spec.settings["kind"] === "latency"))?.value ?? null;
  const bytesPerClock =
    peak === null || context.clockGHz === null ? null : peak / context.clockGHz / context.multiprocessors;
  const column = (layout: string): number | null =>
    best(
      outcomes.filter(({ spec: { settings } }) => settings["layout"] === layout && settings["width"] === 1),
    )?.value ?? null;
  const [plain, pads, swizzles] = [column("row-major"), column("padded"), column("swizzled")];
  const times = (a: number | null): number | null => (a === null || plain === null ? null : a / plain);
  return {
    figures: [
      ...figure("sharedGBPerSecond", "all multiprocessors, without conflicts", peak, "GB/s"),
      ...figure("sharedBytesPerClock", "a multiprocessor, each clock", bytesPerClock, "bytes"),
      ...figure(
        "sharedPassesPerClock",
        "passes over 32 banks a clock and multiprocessor",
        bytesPerClock === null ? null : bytesPerClock / (4 * BANKS),
        "passes",
      ),
      ...latencyFigures("sharedLatency", "a dependent load", latency, context),
      ...swept
        .filter(({ stride, width }) => width === 1 && [2, 4, 8, 16, 32].includes(stride))
        .map(({ stride, passes: value }) => ({
          id: `stride${stride}Passes`,
          name: `passes of a load at stride ${stride}`,
          value,
          unit: "passes",
        })),
      ...figure("paddedGain", "a padded column, times as fast as row-major", times(pads), "×"),
      ...figure("swizzledGain", "a swizzled column, times as fast as row-major", times(swizzles), "×"),
    ],
    plots: [
      {
        id: "shared",
        title: "Shared memory: bandwidth by the stride between lanes",
        x: "stride, in accesses",
        y: "GB/s",
        logX: false,
        logY: true,
        series: seriesBy(
          outcomes.filter(({ spec }) => spec.settings["kind"] === "stride"),
          "stride",
          "bytes",
        ).map(({ name, points }) => ({ name: `${Number(name) * 8} bits`, points })),
      },
    ],
  };
}

export const sharedMemory: Test = {
  id: "shared",
  title: "Shared memory",
  about:
    "Bandwidth by the stride between lanes and the width of the access, which shows bank conflicts; a column of a tile in three layouts; the latency of a dependent load.",
  plan: (setup): Plan => {
    const all = Array.from({ length: BANKS }, (_, k) => k + 1);
    const few = [1, 2, 3, 4, 8, 16, 17, 32];
    const strides = setup.size === "full" && !setup.quick ? all : setup.size === "tiny" ? [1, 2, 32] : few;
    const widths: readonly Width[] = setup.size === "tiny" ? [1, 4] : [1, 2, 4];
    const layouts: readonly LayoutName[] = ["row-major", "padded", "swizzled"];
    return {
      fills: [],
      cases: [
        latencyCase(),
        ...widths.flatMap((width) => strides.map((stride) => strideCase(width, stride, setup))),
        ...widths.flatMap((width) => layouts.map((layout) => columnCase(layout, width, setup))),
      ],
      read,
    };
  },
};
