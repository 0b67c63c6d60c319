/** What evolution found on the GPU, and how it compares with the rungs and with PyTorch. */

import { NOTHING, digits, orNothing, percent } from "@evolver/base";
import type { Point } from "@evolver/lab";
import { table } from "../markdown.ts";
import { byChanges, changesFrom, microseconds, notMeasured, times } from "./format.ts";
import { bestOfOurs, torchBestOf, torchMathOf } from "./peers.ts";
import type { Evolution } from "../evidence/evolution.ts";
import type { MachineEvidence } from "../evidence/read-folder.ts";
import { roofsOf } from "../evidence/microbench.ts";
import type { PeerEntry, PeerShape } from "../evidence/peers.ts";

/** After a number from two runs of the GPU. */
const APART = "†";

export interface Champion {
  readonly evolution: Evolution;
  /** Null where the input is no shape. */
  readonly shape: string | null;
  readonly tflops: number | null;
  readonly timeMs: number;
  /** Timed in turn with the rungs, in the benchmark beside PyTorch. */
  readonly entry: PeerEntry | null;
}

export function championsOf(evidence: MachineEvidence): Champion[] {
  return evidence.evolutions.map((evolution) => {
    const { champion, device, input } = evolution;
    const problem = evidence.study.problemOf(input);
    const shape = problem?.shape ?? null;
    const entry = entryOf(evidence, shapeIn(evidence, device, shape), champion.point);
    const timeMs = entry?.timeMs ?? champion.timeMs;
    const tflops = problem === null ? null : problem.flops / timeMs / 1e9;
    return { evolution, shape, tflops, timeMs, entry };
  });
}

function shapeIn(
  { peers, peersWebgpu }: MachineEvidence,
  device: string,
  shape: string | null,
): PeerShape | null {
  const report = device === "webgpu" ? peersWebgpu : peers;
  return report?.shapes.find((each) => each.shape === shape) ?? null;
}

function entryOf({ study }: MachineEvidence, shape: PeerShape | null, point: Point | null): PeerEntry | null {
  if (shape === null || point === null) return null;
  const same = (other: Point | null): boolean =>
    other !== null && study.axes.every(({ name }) => other[name] === point[name]);
  // A rung that is the champion is no other kernel.
  return (
    shape.entries.find(({ kind, verified, point: other }) => kind !== "torch" && verified && same(other)) ??
    null
  );
}

export function evolutionBlock(evidence: MachineEvidence): string {
  const { evolutions, microbench, study, has } = evidence;
  if (evolutions.length === 0) return notMeasured("Evolution", "evolve-NAME.json");
  const champions = championsOf(evidence);
  const peak = microbench === null ? null : roofsOf(microbench).peakGflops;
  const folder = (name: string): string => `../evidence/h200/evolution/${name}`;
  const comparisons = champions.map((champion) => comparisonRow(evidence, champion));
  const plot = champions.find(({ evolution: { name } }) => has(`evolution/${name}/trials.svg`));
  return [
    table(
      [
        "run",
        "device",
        "shape",
        "cycles",
        "trials",
        "rejected",
        "baseline µs",
        "champion µs",
        "times as fast",
        "see",
      ],
      "lllrrlrrrl",
      champions.map(({ evolution, shape }) => {
        const { name, device, cycles, trials, rejected, baseline, champion, interrupted, input } = evolution;
        return [
          name,
          device,
          shape ?? input,
          `${cycles}${interrupted ? ", stopped by time" : ""}`,
          String(trials),
          rejected.length === 0
            ? "none"
            : rejected.map(({ reason, count }) => `${count} ${reason}`).join(", "),
          microseconds(baseline.timeMs),
          microseconds(champion.timeMs),
          times(evolution.speedup),
          [
            ["evolution_log.md", "log"],
            ["trials.svg", "trials"],
          ]
            .filter(([file]) => has(`evolution/${name}/${file}`))
            .map(([file, text]) => `[${text}](${folder(name)}/${file})`)
            .join(", ") || NOTHING,
        ];
      }),
    ),
    "How many times as fast as others on the same shape:",
    table(
      [
        "run",
        "champion TFLOP/s",
        "of fp32 peak",
        study.reference,
        "our best other kernel",
        "PyTorch's best",
        "PyTorch's math",
      ],
      "lrrrrrr",
      champions.map((champion, k) => [
        champion.evolution.name,
        orNothing(champion.tflops, digits),
        orNothing(ofPeak(champion.tflops, peak), percent),
        ...(comparisons[k] ?? []),
      ]),
    ),
    ...(comparisons.flat().some((cell) => cell.includes(APART))
      ? [`${APART} Times of two runs on this GPU, not interleaved.`]
      : []),
    `What each champion differs in from ${study.reference} as it fits the shape (${study.reference}'s values in parentheses):`,
    champions
      .map((champion) => `- **${champion.evolution.name}**: ${differenceOf(evidence, champion)}`)
      .join("\n"),
    ...(plot === undefined
      ? []
      : [`![trials of ${plot.evolution.name}](${folder(plot.evolution.name)}/trials.svg)`]),
  ].join("\n\n");
}

const ofPeak = (tflops: number | null, gflops: number | null): number | null =>
  tflops === null || gflops === null ? null : (1000 * tflops) / gflops;

function comparisonRow(evidence: MachineEvidence, { evolution, shape, timeMs, entry }: Champion): string[] {
  const own = shapeIn(evidence, evolution.device, shape);
  const cuda = shapeIn(evidence, "cuda", shape);
  const best = own === null ? null : bestOfOurs(own, entry);
  const reference = own?.entries.find(
    ({ kind, id, verified }) => kind === "rung" && verified && id === evidence.study.reference,
  );
  const over = (other: PeerEntry | null | undefined, interleaved: boolean): string =>
    other === null || other === undefined
      ? NOTHING
      : `${times(other.timeMs / timeMs)}${interleaved ? "" : ` ${APART}`}`;
  const here = entry !== null;
  const withTorch = here && evolution.device === "cuda";
  return [
    over(reference, here),
    best === null ? NOTHING : `${over(best, here)} (${best.id})`,
    over(cuda === null ? null : torchBestOf(cuda), withTorch),
    over(cuda === null ? null : torchMathOf(cuda), withTorch),
  ];
}

function differenceOf({ study }: MachineEvidence, { evolution: { champion, input } }: Champion): string {
  if (champion.point === null || study.problemOf(input) === null) return champion.title;
  const fitted = study.fitted(study.reference, input);
  return byChanges(study.reference, changesFrom(study.axes, fitted, champion.point));
}
