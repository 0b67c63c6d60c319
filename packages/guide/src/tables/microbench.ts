/** What the microbenchmarks measured, beside the datasheet. */

import { NOTHING, digits, percent } from "@evolver/base";
import { table } from "../markdown.ts";
import { notMeasured } from "./format.ts";
import type { MachineEvidence } from "../evidence/read-folder.ts";
import type { MeasuredFigure } from "../evidence/microbench.ts";

/** Figures that are shown, in order; the report has many more. */
const SHOWN: readonly string[] = [
  "copyGBPerSecond",
  "readGBPerSecond",
  "writeGBPerSecond",
  "triadGBPerSecond",
  "cacheGBPerSecond",
  "firstLevelGBPerSecond",
  "gatherGBPerSecond",
  "memoryLatencyNs",
  "cacheLatencyNs",
  "firstLevelLatencyNs",
  "sharedGBPerSecond",
  "sharedLatencyNs",
  "stride2Passes",
  "stride32Passes",
  "fmaPeak",
  "fmaLatencyNs",
  "exp2FlushedPeak",
  "shufflePeak",
  "barrierNs",
  "flagsRoundTripNs",
  "phasesRoundTripNs",
  "plainCopyGBPerSecond",
  "asyncCopyGBPerSecond",
  "contendedAtomicsPerMicrosecond",
  "globalAtomicsPerMicrosecond",
  "launchMicroseconds",
];

/** NVIDIA's datasheet of the H200 SXM: 67 TFLOP/s of fp32, 4.8 TB/s. In the figure's unit. */
const DATASHEET: Readonly<Record<string, number>> = {
  fmaPeak: 67_000,
  copyGBPerSecond: 4800,
  readGBPerSecond: 4800,
  writeGBPerSecond: 4800,
  triadGBPerSecond: 4800,
};

/** Plots that are shown, and others that are linked to, where they are there. */
const PICTURES: readonly string[] = ["roofline", "chase"];
const LINKED: readonly string[] = [
  "streams",
  "strided",
  "caches",
  "shared",
  "arithmetic",
  "occupancy-workgroups",
  "barriers",
  "copies",
];

const LARGER_UNITS: Readonly<Record<string, string>> = { "GFLOP/s": "TFLOP/s", "Gop/s": "Top/s" };

function inUnit(value: number, unit: string): string {
  const larger = value >= 1000 ? LARGER_UNITS[unit] : undefined;
  return larger === undefined ? `${digits(value)} ${unit}` : `${digits(value / 1000)} ${larger}`;
}

export function microbenchBlock({ microbench, has }: MachineEvidence): string {
  if (microbench === null) return notMeasured("The machine by itself", "microbench.json");
  const { figures, date, commit, deviceName, verified } = microbench;
  const rows = SHOWN.flatMap((id) => {
    const figure = figures.get(id);
    return figure === undefined ? [] : [rowOf(id, figure, figures)];
  });
  const named = (names: readonly string[]): string[] => names.filter((name) => has(`microbench/${name}.svg`));
  const address = (name: string): string => `../evidence/h200/microbench/${name}.svg`;
  const links = named(LINKED).map((name) => `[${name}](${address(name)})`);
  return [
    `${deviceName}, ${date ?? "no date"}, commit ${commit ?? "not recorded"}. ${verified ? "Every result was right." : "Not every result was right: see the file."}`,
    table(["", "figure", "measured", "datasheet", "of it"], "llrrr", rows),
    ...named(PICTURES).map((name) => `![${name} of ${deviceName}](${address(name)})`),
    ...(links.length === 0 ? [] : [`More plots: ${links.join(", ")}.`]),
  ].join("\n\n");
}

/** Latencies are in clocks, too. */
function rowOf(id: string, figure: MeasuredFigure, figures: ReadonlyMap<string, MeasuredFigure>): string[] {
  const { section, name, value, unit } = figure;
  const clocks = id.endsWith("Ns") ? figures.get(`${id.slice(0, -"Ns".length)}Clocks`) : undefined;
  const datasheet = DATASHEET[id];
  return [
    section,
    name,
    `${inUnit(value, unit)}${clocks === undefined ? "" : `, ${digits(clocks.value)} clocks`}`,
    datasheet === undefined ? NOTHING : inUnit(datasheet, unit),
    datasheet === undefined ? NOTHING : percent(value / datasheet),
  ];
}
