/** The ladder beside PyTorch, and over WebGPU. */

import { NOTHING, digits, orNothing, percent } from "@evolver/base";
import { table } from "../markdown.ts";
import { inWords, notMeasured, times } from "./format.ts";
import type { MachineEvidence } from "../evidence/read-folder.ts";
import { roofsOf as measuredRoofsOf } from "../evidence/microbench.ts";
import type { PeerEntry, Peers, PeerShape } from "../evidence/peers.ts";
import type { MeasuredStudy } from "../evidence/study.ts";

/** What shares are of. */
interface Roofs {
  readonly text: string;
  ofPeak(entry: PeerEntry): number | null;
  ofBandwidth(entry: PeerEntry, shape: PeerShape): number | null;
}

/** Of this machine's microbenchmarks; without them, of what the benchmark itself was given. */
function roofsOf({ microbench }: MachineEvidence): Roofs {
  const roof = microbench === null ? null : measuredRoofsOf(microbench);
  const peak = roof?.peakGflops ?? null;
  const bandwidth = roof?.memoryGBPerSecond ?? null;
  const known = [
    peak === null ? [] : [`${digits(peak / 1000)} TFLOP/s of fp32`],
    bandwidth === null ? [] : [`${digits(bandwidth)} GB/s`],
  ].flat();
  return {
    text:
      known.length === 0
        ? "The roofs are those that the benchmark was given."
        : `The roofs are what the microbenchmarks measured on this machine: ${known.join(" and ")}.`,
    ofPeak: ({ tflops, shareOfPeak }) => (peak === null ? shareOfPeak : (1000 * tflops) / peak),
    ofBandwidth: ({ timeMs, shareOfBandwidth }, { compulsoryBytes }) =>
      bandwidth === null ? shareOfBandwidth : compulsoryBytes / timeMs / 1e6 / bandwidth,
  };
}

export const shareOfPeak = (evidence: MachineEvidence, entry: PeerEntry): number | null =>
  roofsOf(evidence).ofPeak(entry);

/** "torch math repeated" → "PyTorch math, repeated": heads repeated before the timing; "gqa": by PyTorch itself. */
function nameOf({ id, kind, verified }: PeerEntry): string {
  const [, path, ...rest] = id.split(" ");
  const name = kind === "torch" ? `PyTorch ${[path, ...rest].join(", ")}` : kind === "point" ? `*${id}*` : id;
  return verified ? name : `${name} ✗`;
}

export const torchMathOf = ({ entries }: PeerShape): PeerEntry | null =>
  entries
    .filter(({ kind, id }) => kind === "torch" && id.startsWith("torch math"))
    .toSorted((a, b) => a.timeMs - b.timeMs)[0] ?? null;

export const torchBestOf = ({ entries, fastestTorch }: PeerShape): PeerEntry | null =>
  entries.find(({ kind, id }) => kind === "torch" && id === fastestTorch) ?? null;

/** The fastest of our rungs and points whose result is right, besides one that is to be compared with the others. */
export const bestOfOurs = ({ entries }: PeerShape, besides: PeerEntry | null = null): PeerEntry | null =>
  entries
    .filter((entry) => entry.kind !== "torch" && entry.verified && entry !== besides)
    .toSorted((a, b) => a.timeMs - b.timeMs)[0] ?? null;

/** A kernel's name without types and template arguments. */
const shortName = (kernel: string): string =>
  kernel
    .replace(/^void /, "")
    .split(/[(<]/)[0]
    ?.trim() ?? kernel;

/** Which of PyTorch's ways it was, by the kernels that its profiler saw. */
function pathOf({ kernels }: PeerEntry): string {
  const fused = kernels.find((name) => /fmha|flash|attention/i.test(name));
  if (fused !== undefined) {
    const path = fused.startsWith("fmha_cutlass") ? "the efficient path" : "a fused path";
    return `${path}, one kernel (\`${shortName(fused)}\`)`;
  }
  const products = kernels.filter((name) => /gemm|gemv/i.test(name));
  if (products.length > 0)
    return `the math path, products and softmax apart (\`${shortName(products[0] ?? "")}\` first)`;
  return "a path that the profiler does not show";
}

/** What the table shows of our fastest. */
function bestSentence(shape: PeerShape, roofs: Roofs): string[] {
  const best = bestOfOurs(shape);
  if (best === null) return ["None of ours is right here."];
  const peak = roofs.ofPeak(best);
  const facts = [
    peak === null ? [] : [`${percent(peak)} of the fp32 peak`],
    best.ofFastestTorch === null ? [] : [`${times(best.ofFastestTorch)} the speed of PyTorch's best`],
    best.ofTorchMath === null ? [] : [`${times(best.ofTorchMath)} that of its math path`],
  ].flat();
  return [`The fastest of ours is ${nameOf(best)}${facts.length === 0 ? "" : `: ${facts.join(", ")}`}.`];
}

function torchSentence(shape: PeerShape): string[] {
  const best = torchBestOf(shape);
  if (best === null) return [];
  const where = best.verified ? "" : " Its result is beyond the tolerance that our rungs are held to.";
  const math = torchMathOf(shape);
  const beside = math === null ? "" : ` Its fastest math path is *${nameOf(math)}*.`;
  return [`PyTorch's best here, *${nameOf(best)}*, is ${pathOf(best)}.${where}${beside}`];
}

function refusedSentence({ refused }: PeerShape): string[] {
  const ours = refused.filter(({ id }) => !id.startsWith("torch "));
  const theirs = refused
    .filter(({ id }) => id.startsWith("torch "))
    .map(({ id }) => id.slice("torch ".length));
  return [
    ...ours.map(({ id, why }) => `${id} does not run: ${(why.split("\n")[0] ?? "").replace(/\.$/, "")}.`),
    ...(theirs.length === 0 ? [] : [`PyTorch refuses float32 here by ${theirs.join("; ")}.`]),
  ];
}

const originSentence = ({ deviceName, date, commit }: Peers): string =>
  `${deviceName}, ${date ?? "no date"}, commit ${commit ?? "not recorded"}`;

const failuresOf = ({ failures }: Peers): string[] =>
  failures.map(({ shape, why }) => `${shape}: not measured (${why.split("\n")[0]}).`);

/** A line for each point that is no rung. */
function pointsOf(study: MeasuredStudy, peers: Peers): string[] {
  const points = new Map(
    peers.shapes.flatMap(({ entries }) =>
      entries.flatMap(({ id, kind, point }) =>
        kind === "point" && point !== null ? [[id, point] as const] : [],
      ),
    ),
  );
  if (points.size === 0) return [];
  const lines = [...points].map(([id, point]) => `- *${id}*: ${inWords(study, point)}`);
  return [`Points beside the rungs, with the rung's own values in parentheses:\n\n${lines.join("\n")}`];
}

export function peersBlock(evidence: MachineEvidence): string {
  const { peers } = evidence;
  if (peers === null) return notMeasured("The ladder beside PyTorch", "peers.json");
  const roofs = roofsOf(evidence);
  const sections = peers.shapes.map((shape) => [
    `**${shape.shape}**`,
    table(
      ["", "ms", "TFLOP/s", "of fp32 peak", "of bandwidth", "PyTorch's best", "PyTorch's math"],
      "lrrrrrr",
      shape.entries.map((entry) => [
        nameOf(entry),
        digits(entry.timeMs),
        digits(entry.tflops),
        orNothing(roofs.ofPeak(entry), percent),
        orNothing(roofs.ofBandwidth(entry, shape), percent),
        orNothing(entry.ofFastestTorch, times),
        orNothing(entry.ofTorchMath, times),
      ]),
    ),
    [...bestSentence(shape, roofs), ...torchSentence(shape), ...refusedSentence(shape)].join(" "),
  ]);
  const wrong = peers.shapes.some(({ entries }) => entries.some(({ verified }) => !verified));
  return [
    `${originSentence(peers)}; ${peers.torch === null ? "without PyTorch" : `PyTorch ${peers.torch}`}; medians of ${peers.rounds} interleaved rounds. ${roofs.text} The last two columns say how many times as fast as PyTorch's best and as its math path.${wrong ? " ✗: the result is not within the tolerance." : ""}`,
    ...sections.flat().filter((part) => part !== ""),
    ...failuresOf(peers),
    ...pointsOf(evidence.study, peers),
  ].join("\n\n");
}

export function webgpuBlock(evidence: MachineEvidence): string {
  const { peers, peersWebgpu: webgpu } = evidence;
  if (webgpu === null) return notMeasured("The ladder over WebGPU", "peers-webgpu.json");
  const roofs = roofsOf(evidence);
  const sections = webgpu.shapes.map((shape) => {
    const beside = peers?.shapes.find((other) => other.shape === shape.shape);
    return [
      `**${shape.shape}**`,
      table(
        ["", "WebGPU ms", "TFLOP/s", "of fp32 peak", "CUDA ms", "times CUDA's time"],
        "lrrrrr",
        shape.entries.map((entry) => {
          const cuda = beside?.entries.find(({ id, kind }) => id === entry.id && kind === entry.kind);
          return [
            nameOf(entry),
            digits(entry.timeMs),
            digits(entry.tflops),
            orNothing(roofs.ofPeak(entry), percent),
            cuda === undefined ? NOTHING : digits(cuda.timeMs),
            cuda === undefined ? NOTHING : times(entry.timeMs / cuda.timeMs),
          ];
        }),
      ),
      [...bestSentence(shape, roofs), ...refusedSentence(shape)].join(" "),
    ];
  });
  return [
    `${originSentence(webgpu)}; medians of ${webgpu.rounds} interleaved rounds. Tiles shrink to what the device gives a workgroup, so a rung may be a smaller point here than over CUDA.`,
    ...sections.flat().filter((part) => part !== ""),
    ...failuresOf(webgpu),
  ].join("\n\n");
}
