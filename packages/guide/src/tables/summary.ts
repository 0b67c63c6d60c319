/** The one table of README.md, the ladder's own report, and where every file came from. */

import { NOTHING, digits, orNothing, percent } from "@evolver/base";
import { table } from "../markdown.ts";
import { inputOf, timeRow, TIME_HEADS } from "./times.ts";
import { championsOf } from "./evolution.ts";
import { notMeasured } from "./format.ts";
import { bestOfOurs, shareOfPeak, torchBestOf, torchMathOf } from "./peers.ts";
import type { MachineEvidence } from "../evidence/read-folder.ts";
import type { PeerEntry } from "../evidence/peers.ts";

export function readmeBlock(evidence: MachineEvidence): string {
  const { peers } = evidence;
  if (peers === null)
    return notMeasured("The attention ladder beside PyTorch on an H200", "evidence/h200/peers.json");
  const version = /^\d+\.\d+/.exec(peers.torch ?? "")?.[0] ?? "";
  const champions = championsOf(evidence).filter(({ evolution }) => evolution.device === "cuda");
  const speed = (entry: PeerEntry | null): string =>
    entry === null ? NOTHING : `${digits(entry.tflops)}${entry.verified ? "" : " ✗"}`;
  const rows = peers.shapes.map((shape) => {
    const ours = bestOfOurs(shape);
    const [champion] = champions
      .filter((each) => each.shape === shape.shape)
      .toSorted((a, b) => a.timeMs - b.timeMs);
    return [
      shape.shape.replaceAll(",", " "),
      ours?.id ?? NOTHING,
      speed(ours),
      ours === null ? NOTHING : orNothing(shareOfPeak(evidence, ours), percent),
      `${speed(torchBestOf(shape))} / ${speed(torchMathOf(shape))}`,
      orNothing(champion?.tflops ?? null, digits),
    ];
  });
  return [
    table(
      [
        "float32 attention",
        "our best",
        "TFLOP/s",
        "of fp32 peak",
        `PyTorch ${version} fp32, best / math`.replace("  ", " "),
        "evolved",
      ],
      "llrrrr",
      rows,
    ),
    `Measured on an H200, in TFLOP/s; [docs/gpu.md](docs/gpu.md) has everything.${
      rows.flat().some((cell) => cell.includes("✗"))
        ? " ✗: its error is beyond the tolerance that our kernels are held to."
        : ""
    }`,
  ].join("\n\n");
}

/** Measured times beside those that the cost model gives. */
export function ladderBlock({ ladders }: MachineEvidence): string {
  if (ladders.length === 0) return notMeasured("The ladder's own report", "ladder-cuda.json");
  return ladders
    .flatMap((pair) => {
      const ids = [
        ...new Set([pair.cuda, pair.webgpu].flatMap((ladder) => [...(ladder?.rungs.keys() ?? [])])),
      ];
      const { profile, date, commit } = pair.cuda ?? pair.webgpu ?? { profile: "", date: null, commit: null };
      return [
        `**${inputOf(pair)}**; modelled on ${profile}; ${date ?? "no date"}, commit ${commit ?? "not recorded"}`,
        table(
          [...TIME_HEADS],
          "lrrrrr",
          ids.map((id) => timeRow(id, pair, id)),
        ),
      ];
    })
    .join("\n\n");
}

/** What was run for each file; it says so itself. */
export function sourcesBlock({ sources }: MachineEvidence): string {
  if (sources.length === 0) return notMeasured("The H200", "evidence/h200/*.json");
  const named = [...new Set(sources.flatMap(({ gpu }) => gpu ?? []))];
  // Some files say less of the same machine.
  const machines = named.filter((name) => !named.some((other) => other !== name && other.startsWith(name)));
  return [
    `Machine: ${machines.join("; ") || "not recorded"}.`,
    table(
      ["file", "date", "commit", "seconds", "exit code", "command"],
      "lllrrl",
      sources.map(({ file, date, commit, seconds, exitCode, command }) => [
        file,
        date?.slice(0, 10) ?? NOTHING,
        commit ?? NOTHING,
        orNothing(seconds, String),
        orNothing(exitCode, String),
        command === null ? NOTHING : `\`${command}\``,
      ]),
    ),
  ].join("\n\n");
}
