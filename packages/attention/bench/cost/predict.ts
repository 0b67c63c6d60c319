/** Step two: what the model says of the measured candidates, and how far it is off. */

import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { median, quantile, spearman } from "@evolver/base";
import { axes, type FlashPoint } from "@evolver/attention";
import {
  MODEL_CONSTANTS,
  type MachineProfile,
  type ModelConstants,
  type ModelledTime,
} from "@evolver/machine";
import { openSim, type Counters } from "@evolver/device";
import { TimePredictor, type Prediction } from "@evolver/attention/study/internal";
import { describePoint } from "@evolver/attention/study/internal";
import { parseShape } from "@evolver/attention/study/internal";
import type { MeasuredCandidate, MeasuredReport } from "./measure.ts";

/** Which half of the candidates one is in: constants are fitted on one, the model is judged on the other. */
type Half = "fitted" | "held out";

/** One candidate on one shape, measured and predicted. */
export interface Pair extends MeasuredCandidate {
  readonly shape: string;
  readonly half: Half;
  readonly prediction: Prediction;
}

export interface Agreement {
  readonly candidates: number;
  readonly spearman: number;
  /** Of |predicted / measured − 1|. */
  readonly medianError: number;
  readonly error90: number;
}

interface PredictedEntry {
  readonly id: string;
  readonly half: Half;
  /** Values in the order of `axes`. */
  readonly point: readonly (string | number)[];
  readonly measuredMs: number;
  readonly spread: number;
  readonly predictedMs: number;
  readonly bottleneck: string;
}

/** When, by what and on what it was measured. */
export interface Origin {
  readonly command: string;
  readonly date: string;
  readonly commit: string | null;
  readonly gpu: string | null;
}

export interface PredictedReport {
  readonly what: string;
  readonly method: string;
  readonly deviceName: string;
  /** Of the measurement, where it was kept with it. */
  readonly origin: Origin | null;
  readonly profile: string;
  readonly constants: ModelConstants;
  readonly axes: readonly string[];
  readonly agreement: Readonly<Record<Half | "all", Agreement>>;
  readonly shapes: readonly {
    readonly shape: string;
    readonly agreement: Readonly<Record<Half | "all", Agreement>>;
    readonly entries: readonly PredictedEntry[];
    readonly failed: readonly { readonly id: string; readonly why: string }[];
  }[];
  readonly worst: readonly {
    readonly id: string;
    readonly shape: string;
    readonly about: string;
    readonly ratio: number;
    readonly guess: string;
  }[];
  readonly secondsOfCounting: number;
}

const WORST = 10;

/** Counters by candidate and shape, as processes hand them over. */
export type CountedCandidates = Readonly<Record<string, Counters>>;

const keyOf = (shape: string, id: string): string => `${shape} ${id}`;

/** Pairs all candidates with what is predicted of them. Counting is shared out over the processor's cores. */
export async function pairUp(measured: MeasuredReport, file: string): Promise<readonly Pair[]> {
  const count = Math.max(1, Math.min(8, availableParallelism()));
  const slices = await Promise.all(
    Array.from({ length: count }, (_, index) => countInProcess(file, index, count)),
  );
  const counted: CountedCandidates = Object.assign({}, ...slices) as CountedCandidates;
  const sim = openSim({ subgroup: measured.subgroup, checks: false });
  try {
    const predictor = new TimePredictor(sim);
    const pairs: Pair[] = [];
    for (const { shape, entries } of measured.shapes) {
      const problem = parseShape(shape);
      for (const [k, entry] of entries.entries()) {
        const prediction = await predictor.predict(entry.point, problem, counted[keyOf(shape, entry.id)]);
        pairs.push({ ...entry, shape, half: halfOf(entry.id, k), prediction });
      }
    }
    return pairs;
  } finally {
    await sim.close();
  }
}

/** By the candidate's number, so that one is in the same half on all shapes. */
function halfOf(id: string, place: number): Half {
  const number = Number(/\d+$/.exec(id)?.[0] ?? place);
  return Math.floor(number / 2) % 2 === 0 ? "fitted" : "held out";
}

function countInProcess(file: string, index: number, of: number): Promise<CountedCandidates> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [process.argv[1] as string, "--count", `${index}/${of}`, "--predict", file],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    child.on("error", reject);
    child.on("exit", (code) =>
      code === 0
        ? resolve(JSON.parse(text) as CountedCandidates)
        : reject(new Error(`counting ${index}/${of} exits ${code}`)),
    );
  });
}

/** What such a process does: every `of`th candidate, on all shapes, since one count serves several. */
export async function countSlice(
  measured: MeasuredReport,
  index: number,
  of: number,
): Promise<CountedCandidates> {
  const sim = openSim({ subgroup: measured.subgroup, checks: false });
  const counted: Record<string, Counters> = {};
  try {
    const predictor = new TimePredictor(sim);
    for (const { shape, entries } of measured.shapes) {
      const problem = parseShape(shape);
      for (const [k, { id, point }] of entries.entries())
        if (k % of === index) counted[keyOf(shape, id)] = (await predictor.predict(point, problem)).counters;
    }
    return counted;
  } finally {
    await sim.close();
  }
}

export function agreementOf(
  pairs: readonly Pair[],
  machine: MachineProfile,
  constants: ModelConstants = MODEL_CONSTANTS,
): Agreement {
  const predicted = pairs.map(({ prediction }) => prediction.model(machine, constants).timeMs);
  const measured = pairs.map(({ timeMs }) => timeMs);
  const errors = predicted.map((value, i) => Math.abs(value / (measured[i] as number) - 1));
  return {
    candidates: pairs.length,
    spearman: spearman(predicted, measured),
    medianError: median(errors),
    error90: quantile(errors, 0.9),
  };
}

const byHalf = (pairs: readonly Pair[], machine: MachineProfile): Record<Half | "all", Agreement> => ({
  fitted: agreementOf(
    pairs.filter(({ half }) => half === "fitted"),
    machine,
  ),
  "held out": agreementOf(
    pairs.filter(({ half }) => half === "held out"),
    machine,
  ),
  all: agreementOf(pairs, machine),
});

export function reportOf(
  measured: MeasuredReport,
  pairs: readonly Pair[],
  machine: MachineProfile,
  about: Pick<PredictedReport, "origin" | "secondsOfCounting">,
): PredictedReport {
  const judged = pairs.map((pair) => ({ pair, modelled: pair.prediction.model(machine) }));
  const off = ({ pair, modelled }: (typeof judged)[number]): number =>
    Math.abs(Math.log(modelled.timeMs / pair.timeMs));
  return {
    what: "the cost model's predictions beside measured times of attention candidates",
    method: `${measured.method} Predictions: counters of one tile, counted twice, and the machine profile; the constants that are fitted saw one half of the candidates only.`,
    deviceName: measured.deviceName,
    origin: about.origin,
    profile: machine.name,
    constants: MODEL_CONSTANTS,
    axes: axes.map(({ name }) => name),
    agreement: byHalf(pairs, machine),
    shapes: measured.shapes.map(({ shape, failed }) => ({
      shape,
      agreement: byHalf(
        pairs.filter((pair) => pair.shape === shape),
        machine,
      ),
      entries: judged
        .filter(({ pair }) => pair.shape === shape)
        .map(({ pair: { id, half, point, timeMs, spread }, modelled }) => ({
          id,
          half,
          point: axes.map(({ name }) => point[name]),
          measuredMs: round(timeMs),
          spread: round(spread),
          predictedMs: round(modelled.timeMs),
          bottleneck: modelled.bottleneck,
        })),
      failed: failed.map(({ id, why }) => ({ id, why })),
    })),
    worst: judged
      .toSorted((a, b) => off(b) - off(a))
      .slice(0, WORST)
      .map(({ pair, modelled }) => ({
        id: pair.id,
        shape: pair.shape,
        about: describePoint(pair.point),
        ratio: round(modelled.timeMs / pair.timeMs),
        guess: guessWhy(pair.point, modelled, modelled.timeMs / pair.timeMs),
      })),
    secondsOfCounting: about.secondsOfCounting,
  };
}

const round = (value: number): number => Number(value.toPrecision(4));

/** A guess, from what decides in the model and which way it is off; nothing was measured to confirm it. */
function guessWhy(
  { stage, vector, unroll, pipeline }: FlashPoint,
  { bottleneck, terms }: ModelledTime,
  ratio: number,
): string {
  const decides = `${bottleneck} decides in the model`;
  if (ratio > 1) {
    if (bottleneck.endsWith("cache")) return `${decides}: the first-level cache serves more than is assumed`;
    if (bottleneck === "latency")
      return `${decides}: a subgroup's own instructions overlap more than is assumed`;
    return `${decides}, and overlaps with ${terms[1]?.name} better than is assumed`;
  }
  if (stage === "global") return `${decides}: reads of global memory are waited for longer than is assumed`;
  if (unroll === 1 || vector === 1)
    return `${decides}: address arithmetic that is not folded away, with single steps or single elements`;
  if (pipeline === "synchronous")
    return `${decides}: synchronous copies are waited for longer than is assumed`;
  return `${decides}: registers spill, or fewer workgroups are resident than is assumed`;
}
