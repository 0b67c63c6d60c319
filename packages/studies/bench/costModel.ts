/**
 * Holds the cost model to measured times, in two steps.
 *
 *     node packages/studies/bench/costModel.ts --measure --device cuda > measured.json     on the machine, < 200 s
 */

import { parseArgs } from "node:util";
import { compileSlice, measureCandidates, type MeasureOptions } from "./cost/measure.ts";

/** One that leaves most of a large GPU idle, one that fills it, and a language model's. */
const SHAPES = ["B1,H8,S1024,D64", "B4,H16,S2048,D64", "B1,Hq32,Hkv8,S2048,D128,causal"];

const { values } = parseArgs({
  options: {
    measure: { type: "boolean", default: false },
    compile: { type: "string" },
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

if (values.compile !== undefined) {
  const [index = 0, of = 1] = values.compile.split("/").map(Number);
  await compileSlice(options, index, of);
} else if (values.measure) {
  process.stdout.write(`${JSON.stringify(await measureCandidates(options), null, 1)}\n`);
} else {
  process.stderr.write("--measure is missing\n");
  process.exitCode = 2;
}

function positive(text: string, option: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  process.stderr.write(`${option} is "${text}", and must be a whole number from 1 on\n`);
  process.exit(2);
}
