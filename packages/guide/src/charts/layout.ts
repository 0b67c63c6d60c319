/** How much room the parts of a chart take, in pixels; text is measured by its length, so that every machine gets the same. */

import type { PlotSpec } from "@evolver/base";
import { textWidth } from "./measure.ts";

export const MARGIN = 16;
export const TITLE_HEIGHT = 40;
export const LEGEND_ROW = 21;
export const NOTE_LINE = 16;
export const LEGEND_GAP = 18;
export const TEXT_SIZE = 12;
const AXIS_HEIGHT = 58;
const PLOT_HEIGHT = 320;
/** Of a bar and its gap. */
const BAR = 17;
const BAR_GAP = 10;
/** Of an entry of the legend: its mark, and what parts it from the next. */
const LEGEND_EXTRA = 22 + 5 + LEGEND_GAP;

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** Of the plot itself, from the edges. */
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly plotHeight: number;
  readonly notesTop: number;
  /** Notes, broken into lines. */
  readonly notes: string;
}

const widthOf = (text: string): number => textWidth(text, TEXT_SIZE);

export function layoutOf(plot: PlotSpec, width: number): Layout {
  const { x, y, series, notes } = plot;
  const top = TITLE_HEIGHT + legendRows(plot, width) * LEGEND_ROW + 12;
  const bars = series.filter(({ kind }) => kind === "bars").length;
  const plotHeight =
    y.kind === "category" ? y.categories.length * (Math.max(1, bars) * BAR + BAR_GAP) : PLOT_HEIGHT;
  const broken = notes.map((note) => brokenAt(note, width - 2 * MARGIN));
  const lines = broken.reduce((sum, note) => sum + note.length, 0);
  const notesTop =
    top + plotHeight + (x.kind === "category" && x.label === "" ? AXIS_HEIGHT - 22 : AXIS_HEIGHT);
  return {
    width,
    left: y.kind === "category" ? MARGIN + 14 + Math.max(...y.categories.map(widthOf)) : 76,
    right: MARGIN + 10 + labelWidth(plot),
    top,
    plotHeight,
    notesTop,
    notes: broken.flat().join("\n"),
    height: notesTop + lines * NOTE_LINE + (lines > 0 ? 10 : 0),
  };
}

/** Beside the plot, for what is written about its points. */
function labelWidth({ series }: PlotSpec): number {
  const labels = series
    .filter(({ kind }) => kind === "points" || kind === "line")
    .flatMap(({ points }) => points.flatMap(({ label }) => (label === undefined ? [] : [widthOf(label)])));
  return labels.length === 0 ? 0 : Math.max(...labels) + 14;
}

export const legendNames = ({ series }: PlotSpec): string[] => [
  ...new Set(series.map(({ name }) => name).filter((name) => name !== "")),
];

function legendRows(plot: PlotSpec, width: number): number {
  let rows = 0;
  let left = Infinity;
  for (const name of legendNames(plot)) {
    const own = widthOf(name) + LEGEND_EXTRA;
    if (left + own > width - 2 * MARGIN) {
      rows++;
      left = 0;
    }
    left += own;
  }
  return rows;
}

function brokenAt(note: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of note.split(" ")) {
    if (line !== "" && widthOf(`${line} ${word}`) > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
