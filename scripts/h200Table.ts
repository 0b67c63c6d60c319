/** Prints the tables of docs/gpu.md from what evidence/h200/ holds. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EvolveResult } from "@evolver/lab";
import type { LadderReport } from "@evolver/studies";

interface Evidence<R> {
  readonly command: string;
  readonly date: string;
  readonly versions: { readonly commit: string };
  readonly machine: { readonly gpu: string };
  readonly result: R;
}

const folder = join(import.meta.dirname, "..", "evidence", "h200");
const load = <R>(name: string): Evidence<R> =>
  JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Evidence<R>;

const microseconds = (timeMs: number): string => (timeMs * 1000).toFixed(0);

function ladderTable(title: string, cuda: Evidence<LadderReport>, webgpu: Evidence<LadderReport>): string {
  const rows = cuda.result.rungs.map((rung, k) => {
    const other = webgpu.result.rungs[k];
    if (other === undefined || other.id !== rung.id) throw new Error(`the webgpu ladder has no ${rung.id}`);
    const cells = [
      rung.id,
      microseconds(rung.timeMs),
      rung.tflops.toFixed(2),
      microseconds(other.timeMs),
      other.tflops.toFixed(2),
      microseconds(rung.modelledTimeMs),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    `${title}: ${cuda.result.input}`,
    "",
    "| rung | cuda, measured µs | TFLOP/s | webgpu, measured µs | TFLOP/s | modelled µs (datasheet) |",
    "| --- | --: | --: | --: | --: | --: |",
    ...rows,
  ].join("\n");
}

function evolutionLine(device: string): string {
  const { result, command } = load<EvolveResult>(`evolve-${device}`);
  const { baseline, champion, speedup, trials } = result;
  return `| ${device} | ${microseconds(baseline.timeMs)} | ${microseconds(champion.timeMs)} | ${speedup.toFixed(2)} | ${trials} | ${champion.title} | \`${command}\` |`;
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

function checks(): string {
  const rows = (["cuda", "webgpu"] as const).map((device) => {
    const conformance = load<Counts>(`conformance-${device}`).result;
    const goldens = load<Counts>(`goldens-${device}`).result;
    const faults = load<{ results: { right: boolean }[] }>(`faults-${device}`).result.results;
    const right = faults.filter((fault) => fault.right).length;
    return `| ${device} | ${conformance.passed} of ${conformance.passed + conformance.failed}, ${conformance.skipped} not promised | ${goldens.passed} of ${goldens.passed + goldens.failed} | ${right} of ${faults.length} |`;
  });
  return [
    "| device | conformance | goldens × rungs | faults said rightly |",
    "| --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

const ladder = load<LadderReport>("ladder-cuda");
const launch = load<{
  cuLaunchKernelInC: { enqueueMicroseconds: number };
  evolver: { enqueueMicroseconds: number };
}>("launch").result;
const noise = load<{ cycles: number; kept: number; gains: { smallest: number; largest: number } }>(
  "noise-cuda",
).result;
const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

process.stdout.write(
  [
    `${ladder.machine.gpu}; ${ladder.date}; commits and commands are in each file of evidence/h200/.`,
    ladderTable("The ladder", ladder, load<LadderReport>("ladder-webgpu")),
    ladderTable(
      "The ladder on Llama-3-8B's heads",
      load<LadderReport>("ladder-cuda-gqa"),
      load<LadderReport>("ladder-webgpu-gqa"),
    ),
    [
      "Evolution, measured, B1 H8 S512 D64:",
      "",
      "| device | baseline µs | champion µs | times as fast | trials | champion | command |",
      "| --- | --: | --: | --: | --: | --- | --- |",
      evolutionLine("cuda"),
      evolutionLine("webgpu"),
    ].join("\n"),
    checks(),
    `A launch through our API takes ${launch.evolver.enqueueMicroseconds.toFixed(2)} µs; a bare loop of cuLaunchKernel in C on the same machine ${launch.cuLaunchKernelInC.enqueueMicroseconds.toFixed(2)} µs.`,
    `The noise test: ${noise.cycles} cycles in which every candidate was the champion under another name kept ${noise.kept}; measured "gains" ran from ${percent(noise.gains.smallest)} to ${percent(noise.gains.largest)}.`,
  ].join("\n\n") + "\n",
);
