/** Step one: compiles, verifies and times the candidates on a device. */

import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { median, relativeSpread } from "@evolver/base";
import {
  attentionPlan,
  extentsOf,
  forwardFlops,
  limitsOf,
  planAttention,
  randomInputs,
  elementCount,
  type AttentionBuffers,
  type AttentionProblem,
  type FlashPoint,
} from "@evolver/attention";
import {
  bindPlan,
  buildOf,
  openDevice,
  type BoundPlan,
  type Device,
  type DeviceBuffer,
  type DeviceId,
} from "@evolver/device";
import { parseShape, printShape } from "@evolver/attention/study/internal";
import { headTruth, type Truth } from "../peer-truth.ts";
import { drawCandidates, type Candidate } from "./candidates.ts";

export interface MeasureOptions {
  readonly device: string;
  readonly shapes: readonly string[];
  readonly candidates: number;
  readonly seed: number;
  readonly rounds: number;
  /** For everything; what was not reached by then is not there. */
  readonly seconds: number;
}

export interface MeasuredCandidate extends Candidate {
  readonly timeMs: number;
  /** The width of the middle half of the rounds over their median. */
  readonly spread: number;
  readonly launchesPerRound: number;
}

interface MeasuredShape {
  readonly shape: string;
  readonly flops: number;
  readonly truth: string;
  readonly entries: readonly MeasuredCandidate[];
  readonly failed: readonly { readonly id: string; readonly point: FlashPoint; readonly why: string }[];
  /** Candidates for which no time was left. */
  readonly skipped: number;
}

export interface MeasuredReport {
  readonly what: string;
  readonly method: string;
  readonly device: string;
  readonly deviceName: string;
  readonly subgroup: number;
  readonly seed: number;
  readonly rounds: number;
  readonly candidates: number;
  readonly shapes: readonly MeasuredShape[];
  readonly seconds: number;
}

/** Milliseconds that a candidate's launches of one round take, as far as more than one are needed. */
const ROUND_MS = 1.5;
const MOST_LAUNCHES = 20;
const LEAST_ROUNDS = 5;
/** Share of the time that is left for each shape which its candidates may spend on compiling and verifying. */
const VERIFY_SHARE = 0.6;
const MOST_COMPILERS = 14;

const METHOD =
  "float32, normal random data, the device's clock. Each candidate is verified against float64 on some heads, on outputs " +
  "of NaN. Then rounds in which each has its turn, in the opposite order every other round: one launch untimed, then " +
  "launches back to back between two events, divided by their number. Times are medians over the rounds.";

export async function measureCandidates(options: MeasureOptions): Promise<MeasuredReport> {
  const began = performance.now();
  const problems = options.shapes.map((text) => parseShape(text));
  const left = (): number => options.seconds * 1000 - (performance.now() - began);
  if (options.device === "cuda" || options.device === "hip") await fillCompilerCache(options, left() / 2);
  const device = await openDevice(options.device as DeviceId);
  try {
    const candidatesOf = candidatesFor(options, problems, device);
    const shapes: MeasuredShape[] = [];
    for (const [k, problem] of problems.entries()) {
      const own = await measureShape(
        problem,
        candidatesOf(problem),
        device,
        options,
        left() / (problems.length - k),
      );
      process.stderr.write(
        `${own.shape}: ${own.entries.length} timed, ${own.failed.length} failed, ${own.skipped} left out\n`,
      );
      shapes.push(own);
    }
    return {
      what: "attention candidates from all over the space, measured, to hold the cost model to",
      method: METHOD,
      device: options.device,
      deviceName: device.name,
      subgroup: device.subgroupSize,
      seed: options.seed,
      rounds: options.rounds,
      candidates: options.candidates,
      shapes,
      seconds: Math.round((performance.now() - began) / 1000),
    };
  } finally {
    await device.close();
  }
}

const candidatesFor = (
  { candidates, seed }: MeasureOptions,
  problems: readonly AttentionProblem[],
  device: Device,
): ReturnType<typeof drawCandidates> =>
  drawCandidates(problems, device.subgroupSize, limitsOf(device), candidates, seed);

/** Compiling is most of the work and uses one core: as many processes as there are cores fill the cache on disk first. */
async function fillCompilerCache(options: MeasureOptions, mostMs: number): Promise<void> {
  const count = Math.max(1, Math.min(MOST_COMPILERS, availableParallelism() - 1));
  const began = performance.now();
  await Promise.all(
    Array.from(
      { length: count },
      (_, index) =>
        new Promise<void>((resolve) => {
          const shapes = options.shapes.flatMap((shape) => ["--shape", shape]);
          const args = [
            ...["--compile", `${index}/${count}`, "--device", options.device, ...shapes],
            ...["--candidates", String(options.candidates), "--seed", String(options.seed)],
          ];
          const child = spawn(process.execPath, [process.argv[1] as string, ...args], { stdio: "ignore" });
          const timer = setTimeout(() => child.kill(), mostMs);
          const done = (): void => {
            clearTimeout(timer);
            resolve();
          };
          child.on("exit", done);
          child.on("error", done);
        }),
    ),
  );
  process.stderr.write(
    `compiled by ${count} processes in ${Math.round((performance.now() - began) / 1000)} s\n`,
  );
}

/** What such a process does: compiles every `of`th candidate, so that the result lies in the cache. */
export async function compileSlice(options: MeasureOptions, index: number, of: number): Promise<void> {
  const problems = options.shapes.map((text) => parseShape(text));
  const device = await openDevice(options.device as DeviceId);
  try {
    const candidatesOf = candidatesFor(options, problems, device);
    const all = problems.flatMap((problem) => candidatesOf(problem).map(({ point }) => ({ problem, point })));
    for (const [k, { problem, point }] of all.entries()) {
      if (k % of !== index) continue;
      try {
        await device.compile(
          planAttention(point, problem, { subgroup: device.subgroupSize, writeLse: true }).kernel,
        );
      } catch {
        // The measuring process meets it again and records it.
      }
    }
  } finally {
    await device.close();
  }
}

/** A candidate ready to run on the shape's buffers. */
interface Ready extends Candidate {
  /** Milliseconds per launch, over so many back to back, after one that is not timed. */
  time(launches: number): Promise<number>;
}

/** Buffers of all candidates for a shape, and what outputs hold before anything is written. */
interface Tensors {
  readonly buffers: AttentionBuffers & { readonly lse: DeviceBuffer<"f32"> };
  readonly unwritten: { readonly o: Float32Array; readonly lse: Float32Array };
}

async function measureShape(
  problem: AttentionProblem,
  candidates: readonly Candidate[],
  device: Device,
  { seed, rounds }: MeasureOptions,
  mostMs: number,
): Promise<MeasuredShape> {
  const began = performance.now();
  const left = (): number => mostMs - (performance.now() - began);
  const inputs = randomInputs(problem, { seed });
  const truth = headTruth(problem, inputs);
  const tensors = createTensors(problem, inputs, device);
  const bound: BoundPlan[] = [];
  const ready: Ready[] = [];
  const failed: { id: string; point: FlashPoint; why: string }[] = [];
  try {
    for (const candidate of candidates) {
      if (left() < mostMs * (1 - VERIFY_SHARE)) break;
      try {
        ready.push(await prepare(candidate, { problem, device, tensors, truth, bound }));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        failed.push({ ...candidate, why });
        process.stderr.write(`${printShape(problem)} ${candidate.id}: ${why}\n`);
      }
    }
    return {
      shape: printShape(problem),
      flops: forwardFlops(problem),
      truth: truth.title,
      entries: await interleave(ready, rounds, left),
      failed,
      skipped: candidates.length - ready.length - failed.length,
    };
  } finally {
    for (const each of [...bound, ...Object.values(tensors.buffers)]) each.destroy();
  }
}

function createTensors(
  problem: AttentionProblem,
  inputs: ReturnType<typeof randomInputs>,
  device: Device,
): Tensors {
  const { batch, headsQ, seqQ } = problem.shape;
  const length = { o: elementCount(extentsOf(problem.shape).o), lse: batch * headsQ * seqQ };
  const o = device.createBuffer("f32", length.o);
  const lse = device.createBuffer("f32", length.lse);
  const input = (data: Float32Array): DeviceBuffer<"f32"> => device.createBuffer("f32", data);
  return {
    buffers: { q: input(inputs.q), k: input(inputs.k), v: input(inputs.v), o, lse },
    unwritten: {
      o: new Float32Array(length.o).fill(Number.NaN),
      lse: new Float32Array(length.lse).fill(Number.NaN),
    },
  };
}

/** What a candidate is made ready on; it adds itself to `bound`, which are to be destroyed. */
interface Bench {
  readonly problem: AttentionProblem;
  readonly device: Device;
  readonly tensors: Tensors;
  readonly truth: Truth;
  readonly bound: BoundPlan[];
}

/** Compiles it, runs it once and compares what it wrote with the truth. */
async function prepare(
  candidate: Candidate,
  { problem, device, tensors: { buffers, unwritten }, truth, bound }: Bench,
): Promise<Ready> {
  const plan = attentionPlan(candidate.point, problem, { ...buildOf(device), machine: device.machine });
  await buffers.o.write(unwritten.o);
  await buffers.lse.write(unwritten.lse);
  const own = await bindPlan(device, plan, { buffers: { ...buffers } });
  bound.push(own);
  await own.run();
  const { verified, error } = await truth.compare(await buffers.o.read(), await buffers.lse.read());
  if (!verified) throw new Error(`wrong result: off by ${error ?? "NaN"}, ${truth.bound} may be`);
  const time = async (launches: number): Promise<number> => {
    if (own.enqueue !== null) await own.time();
    return own.time(launches);
  };
  return { ...candidate, time };
}

async function interleave(
  ready: readonly Ready[],
  rounds: number,
  left: () => number,
): Promise<MeasuredCandidate[]> {
  const timed: { own: Ready; launches: number; times: number[] }[] = [];
  for (const own of ready) {
    const once = await own.time(1);
    const launches = Math.max(1, Math.min(MOST_LAUNCHES, Math.ceil(ROUND_MS / once)));
    timed.push({ own, launches, times: [] });
  }
  for (let round = 0; round < rounds && (round < LEAST_ROUNDS || left() > 0); round++) {
    for (const { own, launches, times } of round % 2 === 0 ? timed : timed.toReversed())
      times.push(await own.time(launches));
  }
  return timed.map(({ own: { id, point }, launches, times }) => ({
    id,
    point,
    timeMs: median(times),
    spread: relativeSpread(times),
    launchesPerRound: launches,
  }));
}
