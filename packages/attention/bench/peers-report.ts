/** What the benchmark against PyTorch reports, as data and as a table. */

import type { FlashPoint } from "@evolver/attention";
import type { Roofs } from "./roofs.ts";
import type { TorchFacts } from "./torch-worker.ts";

export interface PeersReport {
  readonly what: string;
  readonly method: string;
  readonly device: string;
  readonly deviceName: string;
  /** Null where it was measured without. */
  readonly torch: TorchFacts | null;
  readonly roofs: Roofs;
  readonly rounds: number;
  /** For one entry in one round: it is launched as often as fits, once at least. */
  readonly budgetMs: number;
  readonly seed: number;
  readonly shapes: readonly ShapeReport[];
  /** Shapes that could not be measured. */
  readonly failures: readonly { readonly shape: string; readonly why: string }[];
}

export interface ShapeReport {
  readonly shape: string;
  /** 4·B·H·Sq·Sk·D, halved when causal. */
  readonly flops: number;
  /** q, k and v once and o once: what no kernel can do without. */
  readonly compulsoryBytes: number;
  readonly truth: string;
  /** The largest absolute error of o that passes. */
  readonly bound: number;
  readonly entries: readonly Entry[];
  readonly refused: readonly { readonly id: string; readonly why: string }[];
  /** The fastest of PyTorch's whose output is right, or nearly. */
  readonly fastestTorch: string | null;
}

export interface Entry {
  readonly id: string;
  readonly kind: "rung" | "point" | "torch";
  readonly title: string;
  readonly point: FlashPoint | null;
  /** PyTorch's kernels, as its profiler names them. */
  readonly kernels: readonly string[] | null;
  readonly launchesPerRound: number;
  readonly timeMs: { readonly median: number; readonly least: number; readonly most: number };
  /** The middle half of the rounds, relative to the median. */
  readonly spread: number;
  readonly tflops: number;
  /** Of the float32 rate of ordinary arithmetic; null where that is not known. */
  readonly shareOfPeak: number | null;
  /** Compulsory bytes over the time, of the bandwidth; null where that is not known. */
  readonly shareOfBandwidth: number | null;
  /** Largest absolute error of o; null where o is not finite. */
  readonly error: number | null;
  readonly verified: boolean;
  /** Speed relative to the fastest of PyTorch's, by the median of the rounds' ratios; null without PyTorch. */
  readonly ofFastestTorch: number | null;
  /** The same, relative to PyTorch's unfused attention, which uses the ordinary float32 units alone. */
  readonly ofTorchMath: number | null;
}

/** One line per entry, for people. */
export function tableOf({ shape, bound, entries, refused }: ShapeReport): string {
  const percent = (share: number | null): string => (share === null ? "–" : `${(100 * share).toFixed(1)}%`);
  const ratio = (speed: number | null): string => (speed === null ? "–" : `${speed.toFixed(2)}×`);
  const rows = entries.map((entry) => [
    entry.id,
    entry.verified ? "yes" : "NO",
    entry.error === null ? "not finite" : entry.error.toExponential(1),
    entry.timeMs.median.toPrecision(4),
    `±${(50 * entry.spread).toFixed(1)}%`,
    entry.tflops.toPrecision(3),
    percent(entry.shareOfPeak),
    percent(entry.shareOfBandwidth),
    ratio(entry.ofFastestTorch),
    ratio(entry.ofTorchMath),
  ]);
  const heads = [
    "",
    "right",
    "error",
    "ms",
    "spread",
    "TFLOP/s",
    "of peak",
    "of GB/s",
    "of PyTorch",
    "of its math",
  ];
  const widths = heads.map((head, k) => Math.max(head.length, ...rows.map((row) => row[k]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, k) => (k === 0 ? cell.padEnd(widths[k] ?? 0) : cell.padStart(widths[k] ?? 0)))
      .join("  ");
  const lines = [`\n${shape} (allowed error ${bound.toExponential(1)})`, line(heads), ...rows.map(line)];
  for (const { id, why } of refused) lines.push(`${id}: ${why.split("\n")[0]}`);
  return `${lines.join("\n")}\n`;
}
