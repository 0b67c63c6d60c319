/**
 * Holds the cost model to measured times, in two steps. One JSON document on stdout.
 *
 *     node packages/attention/bench/cost-model.ts --measure --device cuda > measured.json      on the machine, < 200 s
 *     node packages/attention/bench/cost-model.ts --predict measured.json --profile profile.json
 *     node packages/attention/bench/cost-model.ts --fit measured.json --profile profile.json   constants from one half
 *
 * Without a profile, the H200's datasheet is taken.
 */

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { h200Datasheet, MODEL_CONSTANTS, parseProfile } from "@evolver/machine";
import { fitConstants, lossOf } from "./cost/fit.ts";
import { compileSlice, measureCandidates, type MeasuredReport, type MeasureOptions } from "./cost/measure.ts";
import { agreementOf, countSlice, pairUp, reportOf, type Origin } from "./cost/predict.ts";

/** As tools/gpu/evidence.ts keeps it. */
interface Kept {
  readonly result: MeasuredReport;
  readonly command: string;
  readonly date: string;
  readonly versions: { readonly commit: string | null };
  readonly machine?: { readonly gpu: string | null };
}

/** One that leaves most of a large GPU idle, one that fills it, and a language model's. */
const SHAPES = ["B1,H8,S1024,D64", "B4,H16,S2048,D64", "B1,Hq32,Hkv8,S2048,D128,causal"];

const { values } = parseArgs({
  options: {
    measure: { type: "boolean", default: false },
    predict: { type: "string" },
    fit: { type: "string" },
    profile: { type: "string" },
    /** "k/n": what a process of --measure or --predict is started with. */
    compile: { type: "string" },
    count: { type: "string" },
    device: { type: "string", default: "cuda" },
    shape: { type: "string", multiple: true, default: SHAPES },
    candidates: { type: "string", default: "112" },
    seed: { type: "string", default: "1" },
    rounds: { type: "string", default: "9" },
    seconds: { type: "string", default: "180" },
  },
});

const options: MeasureOptions = {
  device: values.device,
  shapes: values.shape,
  candidates: positive(values.candidates, "--candidates"),
  seed: positive(values.seed, "--seed"),
  rounds: positive(values.rounds, "--rounds"),
  seconds: positive(values.seconds, "--seconds"),
};
const machine =
  values.profile === undefined
    ? h200Datasheet
    : parseProfile(readFileSync(values.profile, "utf8"), values.profile);

if (values.compile !== undefined) await compileSlice(options, ...sliceOf(values.compile));
else if (values.count !== undefined && values.predict !== undefined)
  print(await countSlice(measuredIn(values.predict), ...sliceOf(values.count)), 0);
else if (values.measure) print(await measureCandidates(options));
else if (values.predict !== undefined) await predict(values.predict);
else if (values.fit !== undefined) await fit(values.fit);
else {
  process.stderr.write("one of --measure, --predict FILE and --fit FILE is wanted\n");
  process.exitCode = 2;
}

async function predict(file: string): Promise<void> {
  const measured = measuredIn(file);
  const began = performance.now();
  const pairs = await pairUp(measured, file);
  const report = reportOf(measured, pairs, machine, {
    origin: measured.origin ?? null,
    secondsOfCounting: Math.round((performance.now() - began) / 1000),
  });
  print(report);
}

async function fit(file: string): Promise<void> {
  const pairs = await pairUp(measuredIn(file), file);
  const seen = pairs.filter(({ half }) => half === "fitted");
  const others = pairs.filter(({ half }) => half === "held out");
  const constants = fitConstants(seen, machine, options.seed);
  const about = (set: typeof pairs, of: typeof constants) => ({
    loss: lossOf(set, machine, of),
    ...agreementOf(set, machine, of),
  });
  print({
    profile: machine.name,
    constants,
    fitted: about(seen, constants),
    heldOut: about(others, constants),
    before: {
      constants: MODEL_CONSTANTS,
      fitted: about(seen, MODEL_CONSTANTS),
      heldOut: about(others, MODEL_CONSTANTS),
    },
  });
}

/** What --measure printed, or the evidence that keeps it, with when and on what it was made. */
function measuredIn(file: string): MeasuredReport & { readonly origin?: Origin } {
  const parsed = JSON.parse(readFileSync(file, "utf8")) as MeasuredReport | Kept;
  if (!("result" in parsed)) return parsed;
  const { result, command, date, versions, machine: made } = parsed;
  return { ...result, origin: { command, date, commit: versions.commit, gpu: made?.gpu ?? null } };
}

function print(value: unknown, indent = 1): void {
  process.stdout.write(`${JSON.stringify(value, null, indent)}\n`);
}

function sliceOf(text: string): [index: number, of: number] {
  const [index = 0, of = 1] = text.split("/").map(Number);
  return [index, of];
}

function positive(text: string, option: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  process.stderr.write(`${option} is "${text}", and must be a whole number from 1 on\n`);
  process.exit(2);
}
