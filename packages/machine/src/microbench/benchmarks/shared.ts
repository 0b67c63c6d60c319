/**
 * Shared memory: how many passes over the banks an access takes by stride and width, and where lanes read one address; what
 * padding and an exclusive-or layout make of a column; bandwidth, and the latency of a dependent load.
 */

import { SHARED_BANKS } from "@evolver/device";
import { valueAxis } from "@evolver/base";
import { fill } from "../kernels.ts";
import type { Outcome } from "../runner.ts";
import type { BufferSpec, CaseSpec, Count, Setup } from "../spec.ts";
import { best, bySize, figure, latencyFigures, measured, seriesBy } from "../benchmark.ts";
import type { Context, TestPlan, Test } from "../benchmark.ts";
import {
  BLOCK,
  CHASE_UNROLL,
  chaseKernel,
  checkChase,
  checkColumn,
  checkStride,
  columnKernel,
  STEP,
  strideKernel,
  TILE,
  UNROLL,
  type LayoutName,
  type Width,
} from "./shared-kernels.ts";

const OUTPUTS: BufferSpec = { name: "sums", element: "u32", length: 2 ** 18 };
const UNSET = 0xdeadbeef;
/** Far from overflow of the iteration count; sums wrap, and so does what they are compared with. */
const MAX_ITERATIONS = 2 ** 20;

const workgroups = (setup: Setup): Count => bySize<Count>(setup, 1, 8, { perMultiprocessor: 4 });

function outputs(setup: Setup): BufferSpec {
  return { ...OUTPUTS, length: bySize(setup, BLOCK, 8 * BLOCK, 2 ** 19) };
}

/** Which lanes want one address, by the bits of the lane (`low`) and of half of it (`high`) that choose the vector. */
interface Sharing {
  readonly id: string;
  readonly name: string;
  readonly low: number;
  readonly high: number;
  /** Passes of 32 lanes for words of 2 and of 4, as the simulator counts them (after NVIDIA's counters). */
  readonly passes: { readonly 2: number; readonly 4: number };
}

const ALL = 0xffffffff;
const SHARINGS: readonly Sharing[] = [
  { id: "Distinct", name: "all lanes apart", low: ALL, high: 0, passes: { 2: 2, 4: 4 } },
  { id: "OneAddress", name: "all lanes alike", low: 0, high: 0, passes: { 2: 1, 4: 2 } },
  { id: "Neighbours", name: "lanes l and l xor 1 alike", low: 0, high: ALL, passes: { 2: 1, 4: 2 } },
  { id: "NextNeighbours", name: "lanes l and l xor 2 alike", low: 1, high: ALL - 1, passes: { 2: 1, 4: 2 } },
  { id: "Eighths", name: "lanes l and l + 8 alike", low: 7, high: 0, passes: { 2: 2, 4: 4 } },
];

/** A case of the kernel of strides; bytes are those that lanes get. */
function readCase(
  spec: Pick<CaseSpec, "id" | "name" | "settings">,
  width: Width,
  slots: { readonly stride: number; readonly low: number; readonly high: number },
  setup: Setup,
): CaseSpec {
  const to = outputs(setup);
  const args = { ...slots, step: STEP };
  return {
    ...spec,
    unit: "GB/s",
    launch: { kernel: strideKernel(width), workgroups: workgroups(setup), args: { to, ...args } },
    before: [fill(to, UNSET)],
    check: { kernel: checkStride(width), workgroups: workgroups(setup), args: { from: to, ...args } },
    work: BLOCK * UNROLL * width * 4,
    iterations: { max: MAX_ITERATIONS },
  };
}

const strideCase = (width: Width, stride: number, setup: Setup): CaseSpec =>
  readCase(
    {
      id: `stride.v${width}.s${stride}`,
      name: `stride ${stride}, ${32 * width} bits`,
      settings: { kind: "stride", width, stride, bytes: 4 * width },
    },
    width,
    { stride, low: ALL, high: 0 },
    setup,
  );

const sharingCase = (width: 2 | 4, { id, name, low, high, passes }: Sharing, setup: Setup): CaseSpec =>
  readCase(
    {
      id: `wide.${4 * width}.${id}`,
      name: `${4 * width} bytes, ${name}`,
      settings: { kind: "sharing", width, sharing: id, passes: passes[width] },
    },
    width,
    { stride: 1, low, high },
    setup,
  );

function columnCase(layout: LayoutName, width: Width, setup: Setup): CaseSpec {
  const to = outputs(setup);
  const args = { step: TILE };
  return {
    id: `column.${layout}.v${width}`,
    name: `a column, ${layout}, ${32 * width} bits`,
    unit: "GB/s",
    launch: {
      kernel: columnKernel(layout, width),
      workgroups: workgroups(setup),
      args: { to, ...args },
    },
    before: [fill(to, UNSET)],
    check: { kernel: checkColumn(width), workgroups: workgroups(setup), args: { from: to, ...args } },
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

/** Passes that a read by 32 lanes takes: its time against that of a read of 4 bytes without conflicts, which takes one. */
function passesOf(outcomes: readonly Outcome[], kind: string): { outcome: Outcome; passes: number }[] {
  const of = (wanted: string) => measured(outcomes).filter(({ spec }) => spec.settings["kind"] === wanted);
  const one = best(of("stride").filter(({ spec }) => spec.settings["width"] === 1));
  if (one === null) return [];
  return of(kind).map((outcome) => ({
    outcome,
    passes: (one.value / outcome.value) * (outcome.spec.settings["width"] as number),
  }));
}

function read(outcomes: readonly Outcome[], context: Context): ReturnType<TestPlan["read"]> {
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
        "passes over 32 banks, each clock and multiprocessor",
        bytesPerClock === null ? null : bytesPerClock / (4 * SHARED_BANKS),
        "passes",
      ),
      ...latencyFigures("sharedLatency", "a dependent load", latency, context),
      ...passesOf(outcomes, "stride").flatMap(({ outcome: { spec }, passes: value }) => {
        const { stride, width } = spec.settings;
        return width === 1 && [2, 4, 8, 16, 32].includes(stride as number)
          ? figure(`stride${stride}Passes`, `passes of a load at stride ${stride}`, value, "passes")
          : [];
      }),
      ...passesOf(outcomes, "sharing").flatMap(({ outcome: { spec }, passes: value }) =>
        figure(
          `wide${4 * (spec.settings["width"] as number)}${spec.settings["sharing"]}Passes`,
          `passes of ${spec.name} (the simulator counts ${spec.settings["passes"]})`,
          value,
          "passes",
        ),
      ),
      ...figure("paddedGain", "a padded column, times as fast as row-major", times(pads), "×"),
      ...figure("swizzledGain", "a swizzled column, times as fast as row-major", times(swizzles), "×"),
    ],
    plots: [
      {
        id: "shared",
        title: "Shared memory: bandwidth by the stride between lanes",
        x: valueAxis("stride, in accesses"),
        y: valueAxis("bandwidth", "GB/s", { log: true }),
        notes: [],
        series: seriesBy(
          outcomes.filter(({ spec }) => spec.settings["kind"] === "stride"),
          "stride",
          "bytes",
        ).map((series) => ({ ...series, name: `${Number(series.name) * 8} bits` })),
      },
    ],
  };
}

export const sharedMemory: Test = {
  id: "shared",
  title: "Shared memory",
  about:
    "Bandwidth by the stride between lanes and the width of the access, which shows bank conflicts; reads of 8 and 16 bytes where lanes want one address; a column of a tile in three layouts; the latency of a dependent load. GB/s are what lanes get. A pass is a read of 4 bytes by 32 lanes without conflicts.",
  plan: (setup): TestPlan => {
    const all = Array.from({ length: SHARED_BANKS }, (_, k) => k + 1);
    const few = [1, 2, 3, 4, 8, 16, 17, 32];
    const strides = setup.size === "full" && !setup.quick ? all : setup.size === "tiny" ? [1, 2, 32] : few;
    const widths: readonly Width[] = setup.size === "tiny" ? [1, 4] : [1, 2, 4];
    const layouts: readonly LayoutName[] = ["row-major", "padded", "swizzled"];
    return {
      fills: [],
      cases: [
        latencyCase(),
        ...widths.flatMap((width) => strides.map((stride) => strideCase(width, stride, setup))),
        ...([2, 4] as const).flatMap((width) =>
          SHARINGS.map((sharing) => sharingCase(width, sharing, setup)),
        ),
        ...widths.flatMap((width) => layouts.map((layout) => columnCase(layout, width, setup))),
      ],
      read,
    };
  },
};
