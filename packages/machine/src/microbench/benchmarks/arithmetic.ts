/**
 * Arithmetic: chains of one operation, each result the operand of the next. One chain and one subgroup show an operation's
 * latency; several independent chains in many subgroups show the throughput. What the language compiles an operation to
 * is measured, with the accuracy that it promises: a division is the exact one, not an approximation.
 */

import { valueAxis } from "@evolver/base";
import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import type { F32, Kernel, U32 } from "@evolver/kernel";
import { fill, once, POISON, random16, report, verdictParam } from "../kernels.ts";
import type { BufferSpec, CaseSpec, Count, LaunchSpec, Setup } from "../spec.ts";
import {
  best,
  bySize,
  doubling,
  figure,
  latencyFigures,
  seriesBy,
  type Context,
  type TestPlan,
  type Test,
} from "../benchmark.ts";
import type { Outcome } from "../runner.ts";
import { OPERATIONS, type Operation } from "./operations.ts";

/** Operations of an iteration, over all chains, so that the loop itself is below 1 %. */
const LATENCY_UNROLL = 128;
const THROUGHPUT_UNROLL = 256;
/** Of functions that are long themselves: the loop must stay in the instruction cache, and compilers have to swallow it. */
const FUNCTION_UNROLL = 16;

interface Shape {
  readonly block: number;
  /** Independent chains of an invocation. */
  readonly chains: number;
  /** Steps of all chains together in an iteration. */
  readonly unroll: number;
}

/** What the first chain of an invocation starts from; the next ones start one higher each. */
const start = (i: U32): F32 => random16(i).and(127).add(1).toF32();

function chainKernel(operation: Operation, { block, chains, unroll }: Shape): Kernel {
  return once(`${operation.name}_b${block}_c${chains}_u${unroll}`, (name) =>
    kernel(
      name,
      { params: { to: buffer(f32, "write"), a: f32, b: f32, iterations: u32 }, workgroup: [block] },
      ({ to, a, b, iterations }, gpu) => {
        const i = gpu.workgroupIndex.mul(block).add(gpu.localIndex);
        const first = start(i);
        const source = operation.turns === true ? gpu.lane.add(1).and(gpu.subgroupSize - 1) : gpu.localIndex;
        const values = Array.from({ length: chains }, (_, k) => gpu.var(f32, first.add(k)));
        gpu.for({ from: 0, to: iterations }, () => {
          for (let step = 0; step < unroll / chains; step++)
            for (const x of values) x.set(operation.step(x.get(), a, b, gpu, source));
        });
        const sum = values.reduce((total, x) => total.add(x.get()), gpu.constant(f32, 0));
        to.set(i, sum);
      },
    ),
  );
}

/** One kernel for all operations and numbers of chains: what differs are numbers that it is given. */
function checkChains(block: number, turns: boolean): Kernel {
  return once(`check_chains_b${block}${turns ? "_turns" : ""}`, (name) =>
    kernel(
      name,
      {
        params: {
          from: buffer(f32),
          stepsEach: u32,
          chains: f32,
          offset: f32,
          keep: f32,
          flips: u32,
          gain: f32,
          fixed: f32,
          tolerance: f32,
          iterations: u32,
          ...verdictParam,
        },
        workgroup: [block],
      },
      (
        { from, stepsEach, chains, offset, keep, flips, gain, fixed, tolerance, iterations, verdict },
        gpu,
      ) => {
        const i = gpu.workgroupIndex.mul(block).add(gpu.localIndex);
        const steps = iterations.mul(stepsEach);
        const width = gpu.subgroupSize;
        const lane = gpu.localIndex.and(width - 1);
        const began = turns ? i.sub(lane).add(lane.add(steps).and(width - 1)) : i;
        const sign = steps.and(flips).mul(2).toI32().neg().add(1).toF32();
        const kept = start(began).mul(chains).add(offset).mul(keep).mul(sign);
        const wanted = kept.add(steps.toF32().mul(gain)).add(fixed);
        // Not "error > tolerance", which a NaN would pass.
        const right = from.get(i).sub(wanted).abs().le(wanted.abs().mul(tolerance));
        report(gpu, verdict, right.not(), i);
      },
    ),
  );
}

function checkOf(
  operation: Operation,
  { block, chains, unroll }: Shape,
  from: BufferSpec,
): Omit<LaunchSpec, "workgroups"> {
  const { keep, gain, fixed, tolerance, turns, flips } = operation;
  return {
    kernel: checkChains(block, turns === true),
    args: {
      from,
      stepsEach: unroll / chains,
      chains,
      offset: (chains * (chains - 1)) / 2,
      keep,
      flips: flips === true ? 1 : 0,
      gain: gain * chains,
      fixed: fixed * chains,
      tolerance,
    },
  };
}

/** An odd number of steps in each iteration where an even one, or a power of two, would leave everything as it was. */
function shapeOf({ long, turns, flips }: Operation, block: number, chains: number, unroll: number): Shape {
  const steps = (long === true ? FUNCTION_UNROLL : unroll) / chains;
  const isOdd = turns === true || flips === true;
  return { block, chains, unroll: (isOdd ? steps - 1 : steps) * chains };
}

/** Sums of all chains stay below 2²⁴ and so exact. */
const maxIterations = ({ unroll }: Shape): number => Math.floor((2 ** 24 - 2 ** 13) / unroll);

const outputs = (setup: Setup): BufferSpec => ({
  name: "chains",
  element: "f32",
  length: bySize(setup, 2 ** 12, 2 ** 14, 2 ** 22),
});

function chainCase(
  operation: Operation,
  shape: Shape,
  workgroups: Count,
  kind: "latency" | "throughput" | "table",
  setup: Setup,
): CaseSpec {
  const { block, chains, unroll } = shape;
  const { a, b, flops } = operation;
  const to = outputs(setup);
  const isLatency = kind === "latency";
  return {
    id: `${operation.name}.${kind}.b${block}.c${chains}`,
    name: isLatency
      ? `${operation.title}, latency`
      : `${operation.title}, ${block} invocations, ${chains} chains`,
    unit: isLatency ? "ns" : flops === null ? "Gop/s" : "GFLOP/s",
    launch: { kernel: chainKernel(operation, shape), workgroups, args: { to, a, b } },
    before: [fill(to, POISON)],
    check: { ...checkOf(operation, shape, to), workgroups },
    work: isLatency ? unroll : block * unroll * (flops ?? 1),
    // What settles has to be given the steps to do so.
    iterations: { max: maxIterations(shape), min: operation.keep === 0 ? (64 * chains) / unroll : 1 },
    settings: { operation: operation.name, kind, block, chains },
  };
}

/** One subgroup, one chain. */
const latencyCase = (operation: Operation, setup: Setup): CaseSpec =>
  chainCase(operation, shapeOf(operation, setup.subgroup, 1, LATENCY_UNROLL), 1, "latency", setup);

function throughputCases(operation: Operation, setup: Setup): CaseSpec[] {
  const block = Math.min(256, setup.maxInvocations);
  // Enough workgroups to fill every multiprocessor twice over.
  const workgroups: Count = bySize<Count>(setup, 2, 16, { perMultiprocessor: 16 });
  const chains = bySize(setup, [4], [4, 8], setup.quick ? [8] : [1, 2, 4, 8]);
  return chains.map((count) =>
    chainCase(
      operation,
      shapeOf(operation, block, count, THROUGHPUT_UNROLL),
      workgroups,
      "throughput",
      setup,
    ),
  );
}

/** One workgroup on each multiprocessor: how many subgroups and chains it takes. */
function tableCases(operation: Operation, setup: Setup): CaseSpec[] {
  if (setup.size !== "full") return [];
  const largest = Math.min(1024, setup.maxInvocations);
  const blocks = doubling(setup.subgroup, largest).filter((_, k) => !setup.quick || k % 2 === 0);
  return blocks.flatMap((block) =>
    (setup.quick ? [1, 4] : [1, 2, 4, 8]).map((chains) =>
      chainCase(
        operation,
        shapeOf(operation, block, chains, THROUGHPUT_UNROLL),
        { perMultiprocessor: 1 },
        "table",
        setup,
      ),
    ),
  );
}

function read(outcomes: readonly Outcome[], context: Context): ReturnType<TestPlan["read"]> {
  const of = (name: string, kind: string) =>
    outcomes.filter(({ spec: { settings } }) => settings["operation"] === name && settings["kind"] === kind);
  const figures = OPERATIONS.flatMap(({ name, title, flops }) => {
    const latency = best(of(name, "latency"), "less");
    const peak = best(of(name, "throughput"))?.value ?? null;
    const perClock =
      peak === null || context.clockGHz === null
        ? null
        : peak / (flops ?? 1) / context.clockGHz / context.multiprocessors;
    return [
      ...latencyFigures(`${name}Latency`, `${title}, latency`, latency?.value ?? null, context),
      ...figure(`${name}Peak`, `${title}, throughput`, peak, flops === null ? "Gop/s" : "GFLOP/s"),
      ...figure(`${name}LanesPerClock`, `${title}, lanes per clock and multiprocessor`, perClock, "lanes"),
    ];
  });
  return {
    figures,
    plots: [
      {
        id: "arithmetic",
        title: "fma: throughput by invocations of the one workgroup on each multiprocessor, and chains",
        x: valueAxis("invocations", null, { log: true }),
        y: valueAxis("throughput", "GFLOP/s", { log: true }),
        notes: [],
        series: seriesBy(of("fma", "table"), "block", "chains").map((series) => ({
          ...series,
          name: series.name === "1" ? "1 chain" : `${series.name} chains`,
        })),
      },
    ].filter(({ series }) => series.length > 0),
  };
}

export const arithmetic: Test = {
  id: "arithmetic",
  title: "Arithmetic",
  about:
    "Latency (one chain, one subgroup) and throughput (several chains, many subgroups) of f32 operations as the language compiles them, special functions and shuffles included.",
  plan: (setup): TestPlan => {
    const chosen = OPERATIONS.filter(({ name }) => setup.size === "full" || name !== "cos");
    const [first] = chosen as [Operation];
    return {
      fills: [],
      cases: [
        ...chosen.map((operation) => latencyCase(operation, setup)),
        ...chosen.flatMap((operation) => throughputCases(operation, setup)),
        ...tableCases(first, setup),
      ],
      read,
    };
  },
};
