/**
 * Every rung of the attention ladder beside PyTorch's float32 scaled_dot_product_attention on one GPU, in one run:
 * rounds in which each takes its turn. This process is the conductor; PyTorch's side is peers.py. One JSON document
 * on stdout, a table on stderr. Exits 1 where an output is not right.
 *
 *     node packages/attention/bench/peers.ts --device cuda [--shape B1,H8,S1024,D64 …] [--profile FILE.json]
 *     node packages/attention/bench/peers.ts --device webgpu --no-torch
 */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  attentionPlan,
  fitPoint,
  forwardFlops,
  ladder,
  limitsOf,
  randomInputs,
  rungById,
  type AttentionBufferTypes,
} from "@evolver/attention";
import type { AttentionProblem, FlashPoint, FloatInputs } from "@evolver/attention";
import { bindPlan, buildOf, openDevice, type BoundPlan, type Device, type DeviceId } from "@evolver/device";
import { EvolverError, median, relativeSpread } from "@evolver/base";
import { parseShape, printShape } from "@evolver/attention/study/internal";
import { headTruth, torchTruth, type Truth } from "./peer-truth.ts";
import { tableOf, type Entry, type PeersReport, type ShapeReport } from "./peers-report.ts";
import { readRoofs, type Roofs } from "./roofs.ts";
import { TorchWorker } from "./torch-worker.ts";

/** What takes part in the rounds. */
interface Contender extends Pick<
  Entry,
  "id" | "kind" | "title" | "point" | "kernels" | "error" | "verified"
> {
  /** Milliseconds per launch, over so many launches back to back, after one that is not timed. */
  time(launches: number): Promise<number>;
}

type Named = Pick<Entry, "id" | "title"> & { readonly kind: "rung" | "point"; readonly point: FlashPoint };

const SHAPES = [
  "B1,H8,S1024,D64",
  "B1,H8,S1024,D128",
  "B4,H16,S4096,D64",
  "B1,Hq32,Hkv8,S2048,D128",
  "B1,Hq32,Hkv8,S2048,D128,causal",
];
const MOST_LAUNCHES = 1000;
const COPY_BYTES = 2 ** 32;
/** Bounds that a peer may be off and still be compared with: none is to be left out for a few roundings. */
const PEER_LENIENCE = 10;
const METHOD =
  "float32, normal random data. A round gives each entry its turn, in the opposite order every other round: one launch " +
  "untimed, then launches back to back between two device events, divided by their number. Both sides are timed this " +
  "way. PyTorch's efficient backend multiplies float32 on tensor cores, as three tf32 products, whatever allowTf32 " +
  "says; its math backend, like ours, on the ordinary float32 units. Buffers are not changed between launches and nothing empties the second-level cache, so what fits in it is " +
  "found there.";

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      device: { type: "string", default: "cuda" },
      shape: { type: "string", multiple: true, default: SHAPES },
      rungs: { type: "string" },
      points: { type: "string" },
      variants: { type: "string" },
      rounds: { type: "string", default: "15" },
      "budget-ms": { type: "string", default: "60" },
      seed: { type: "string", default: "1" },
      torch: { type: "boolean", default: true },
      python: { type: "string", default: "python3" },
      worker: { type: "string", default: join(import.meta.dirname, "peers.py") },
      profile: { type: "string" },
      "peak-tflops": { type: "string" },
      "gb-per-second": { type: "string" },
    },
    allowNegative: true,
  });
  const problems = values.shape.map((text) => parseShape(text));
  const named = [...chosenRungs(values.rungs), ...variantsOf(values.variants), ...pointsOf(values.points)];
  const [rounds, budgetMs, seed] = [
    positive(values.rounds, "--rounds"),
    positive(values["budget-ms"], "--budget-ms"),
    positive(values.seed, "--seed"),
  ];
  const stated = readRoofs(values.profile, values["peak-tflops"], values["gb-per-second"]);
  const device = await openDevice(values.device as DeviceId);
  const torch = values.torch ? new TorchWorker([values.python, values.worker]) : null;
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "evolver-peers-"));
  try {
    const facts = (await torch?.ask("facts", {})) ?? null;
    const roofs = await completeRoofs(stated, torch);
    const shapes: ShapeReport[] = [];
    const failures: { shape: string; why: string }[] = [];
    for (const problem of problems) {
      try {
        const own = await measure({ problem, named, device, torch, folder, rounds, budgetMs, seed, roofs });
        process.stderr.write(tableOf(own));
        shapes.push(own);
      } catch (error) {
        if (!(error instanceof EvolverError)) throw error;
        process.stderr.write(`\n${printShape(problem)}: ${error.message}\n`);
        failures.push({ shape: printShape(problem), why: `${error.code}: ${error.message}` });
      }
    }
    const report: PeersReport = {
      what: "the attention ladder beside PyTorch's float32 attention, interleaved",
      method: METHOD,
      device: values.device,
      deviceName: device.name,
      torch: facts,
      roofs,
      rounds,
      budgetMs,
      seed,
      shapes,
      failures,
    };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    const right = shapes.every(({ entries }) => {
      const ours = entries.filter(({ kind }) => kind !== "torch");
      return ours.length > 0 && ours.every(({ verified }) => verified);
    });
    process.exitCode = right && failures.length === 0 ? 0 : 1;
  } finally {
    torch?.close();
    await device.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Measurement {
  readonly problem: AttentionProblem;
  readonly named: readonly Named[];
  readonly device: Device;
  readonly torch: TorchWorker | null;
  /** For tensors on their way to the worker. */
  readonly folder: string;
  readonly rounds: number;
  readonly budgetMs: number;
  readonly seed: number;
  readonly roofs: Roofs;
}

async function measure(run: Measurement): Promise<ShapeReport> {
  const { problem, device, torch, folder, rounds, budgetMs, roofs } = run;
  const inputs = randomInputs(problem, { seed: run.seed });
  const truth =
    torch === null ? headTruth(problem, inputs) : await torchTruth(torch, problem, inputs, folder);
  const bound: BoundPlan<AttentionBufferTypes>[] = [];
  const contenders: Contender[] = [];
  const refused = [...truth.refused];
  try {
    for (const each of run.named) {
      try {
        const own = await bind(each, problem, device, inputs);
        bound.push(own);
        contenders.push(await contender(each, own, truth));
      } catch (error) {
        if (!(error instanceof EvolverError)) throw error;
        refused.push({ id: each.id, why: error.message });
      }
    }
    for (const { id, gqa, error, kernels } of truth.variants) {
      const title = `scaled_dot_product_attention${gqa === null ? "" : `, ${gqa}`}`;
      const verified = error !== null && error <= truth.bound;
      const time = async (launches: number): Promise<number> =>
        (await (torch as TorchWorker).ask("time", { id, launches })).timeMs;
      contenders.push({ id, kind: "torch", title, point: null, kernels, error, verified, time });
    }
    const timed = await interleave(contenders, rounds, budgetMs);
    return reportOf(run, truth, timed, refused, roofs);
  } finally {
    for (const each of bound) each.destroy();
  }
}

async function bind(
  { point }: Named,
  problem: AttentionProblem,
  device: Device,
  inputs: FloatInputs,
): Promise<BoundPlan<AttentionBufferTypes>> {
  const fitted = fitPoint(point, problem, device.subgroupSize, limitsOf(device));
  const plan = attentionPlan(fitted, problem, { ...buildOf(device), machine: device.machine });
  return bindPlan(device, plan, { inputs: { ...inputs }, fill: "nan" });
}

/** Runs it once on outputs of NaN and compares what it gave with the truth. */
async function contender(
  named: Named,
  own: BoundPlan<AttentionBufferTypes>,
  truth: Truth,
): Promise<Contender> {
  await own.run();
  const [o, lse] = [await own.read("o"), await own.read("lse")];
  const { error, verified } = await truth.compare(o, lse);
  return { ...named, kernels: null, error, verified, time: (launches) => timeLaunches(own, launches) };
}

/** Milliseconds per launch, after one that is not timed. */
async function timeLaunches(own: BoundPlan<AttentionBufferTypes>, launches: number): Promise<number> {
  await own.time();
  return own.time(launches);
}

interface Timed {
  readonly contender: Contender;
  readonly launches: number;
  /** One per round, in the rounds' order. */
  readonly times: readonly number[];
}

async function interleave(
  contenders: readonly Contender[],
  rounds: number,
  budgetMs: number,
): Promise<Timed[]> {
  const timed: { contender: Contender; launches: number; times: number[] }[] = [];
  for (const each of contenders) {
    const once = await each.time(1);
    const launches = Math.max(1, Math.min(MOST_LAUNCHES, Math.floor(budgetMs / once)));
    timed.push({ contender: each, launches, times: [] });
  }
  for (let round = 0; round < rounds; round++) {
    for (const { contender: each, launches, times } of round % 2 === 0 ? timed : timed.toReversed())
      times.push(await each.time(launches));
  }
  return timed;
}

function reportOf(
  { problem }: Measurement,
  truth: Truth,
  timed: readonly Timed[],
  refused: ShapeReport["refused"],
  { peakTflops, gbPerSecond }: Roofs,
): ShapeReport {
  const { batch, headsQ, headsKv, seqQ, seqK, dim } = problem.shape;
  const compulsoryBytes = 4 * batch * dim * (2 * headsQ * seqQ + 2 * headsKv * seqK);
  const flops = forwardFlops(problem);
  const torches = timed
    .filter(
      ({ contender: { kind, error } }) =>
        kind === "torch" && error !== null && error <= PEER_LENIENCE * truth.bound,
    )
    .toSorted((a, b) => median(a.times) - median(b.times));
  const [fastest] = torches;
  const math = torches.find(({ contender: { id } }) => id.startsWith("torch math"));
  const entries = timed.map(({ contender: each, launches, times }): Entry => {
    const { time: _, ...facts } = each;
    const middle = median(times);
    const tflops = flops / middle / 1e9;
    return {
      ...facts,
      launchesPerRound: launches,
      timeMs: { median: middle, least: Math.min(...times), most: Math.max(...times) },
      spread: relativeSpread(times),
      tflops,
      shareOfPeak: peakTflops === null ? null : tflops / peakTflops.value,
      shareOfBandwidth: gbPerSecond === null ? null : compulsoryBytes / middle / 1e6 / gbPerSecond.value,
      ofFastestTorch: speedOver(fastest, times),
      ofTorchMath: speedOver(math, times),
    };
  });
  return {
    shape: printShape(problem),
    flops,
    compulsoryBytes,
    truth: truth.title,
    bound: truth.bound,
    entries,
    refused,
    fastestTorch: fastest?.contender.id ?? null,
  };
}

/** The median of the rounds' ratios; null where there is nothing to compare with. */
function speedOver(other: Timed | undefined, times: readonly number[]): number | null {
  if (other === undefined) return null;
  return median(times.map((time, round) => (other.times[round] as number) / time));
}

/** What is not stated is measured where PyTorch can: the bandwidth of a copy. */
async function completeRoofs(stated: Roofs, torch: TorchWorker | null): Promise<Roofs> {
  if (stated.gbPerSecond !== null || torch === null) return stated;
  const { gbPerSecond } = await torch.ask("copy", { bytes: COPY_BYTES });
  return {
    ...stated,
    gbPerSecond: { value: gbPerSecond, from: `PyTorch's copy of ${COPY_BYTES / 2 ** 30} GiB in this run` },
  };
}

function chosenRungs(list: string | undefined): Named[] {
  const rungs = list === undefined ? ladder : list.split(",").map((id) => rungById(id));
  return rungs.map(({ id, title, point }) => ({ id, kind: "rung", title, point }));
}

/** The variants of some rungs: `k06,k11`. */
function variantsOf(list: string | undefined): Named[] {
  return (list?.split(",") ?? []).flatMap((rung) =>
    Object.entries(rungById(rung).variants).map(([name, point]): Named => ({
      id: `${rung} ${name}`,
      kind: "point",
      title: `${rung}, ${name}`,
      point,
    })),
  );
}

/** Points in a JSON file: `[{ "id": "wide", "point": { … } }]`. */
function pointsOf(file: string | undefined): Named[] {
  if (file === undefined) return [];
  const listed = JSON.parse(readFileSync(file, "utf8")) as readonly { id: string; point: FlashPoint }[];
  return listed.map(({ id, point }) => ({ id, kind: "point", title: `a point of ${file}`, point }));
}

function positive(text: string, option: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  process.stderr.write(`${option} is "${text}", and must be a whole number from 1 on\n`);
  process.exit(2);
}

await main();
