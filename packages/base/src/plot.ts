/**
 * A plot as plain data: what a measurement or a model shows, without how it is drawn. It can be written as JSON, compared in
 * a test and drawn by any chart library; `@evolver/guide` draws it. No colours, sizes or fonts here.
 */

/** An axis of numbers. */
export interface ValueAxis {
  readonly kind: "value";
  /** What is plotted, without the unit: "footprint", "FLOPs per byte". */
  readonly label: string;
  /** "ms", "GB/s", "bytes" (which are written in powers of two); null for a plain number. */
  readonly unit: string | null;
  readonly log: boolean;
  /** Ends that the axis has at least, beside those of the data. */
  readonly from?: number;
  readonly to?: number;
}

/** An axis of names. A coordinate on it is an index into `categories`. */
export interface CategoryAxis {
  readonly kind: "category";
  readonly label: string;
  /** From left to right, or from top to bottom. */
  readonly categories: readonly string[];
}

export type PlotAxis = ValueAxis | CategoryAxis;

export interface PlotPoint {
  readonly x: number;
  readonly y: number;
  /** Written beside the point or bar: "k04", "12.3 (wrong result)". */
  readonly label?: string;
  /** Of the measurement, along its own axis: the ends of the middle half of the rounds, say. */
  readonly low?: number;
  readonly high?: number;
  /** Drawn so that it stands out from the others of its series. */
  readonly emphasis?: boolean;
}

/**
 * - line: points joined in their order, each marked unless `marked` says no.
 * - points: marks alone.
 * - bars: from zero along the value axis, one per category; several series stand side by side.
 * - reference: lines to compare with, not measured here: a roof, a diagonal, the speed of another program.
 */
export type SeriesKind = "line" | "points" | "bars" | "reference";

export interface PlotSeries {
  readonly kind: SeriesKind;
  /** In the legend; "" for none. */
  readonly name: string;
  readonly points: readonly PlotPoint[];
  /** Whether a line's points are marked. */
  readonly marked?: boolean;
  /** Lines are broken, marks hollow: what is less certain or was used to fit. */
  readonly light?: boolean;
  /** Series with the same group have the same colour; each is its own unless this is given. */
  readonly group?: string;
}

export interface PlotSpec {
  /** Names the file, and the element in a page: "roofline". */
  readonly id: string;
  readonly title: string;
  readonly x: PlotAxis;
  readonly y: PlotAxis;
  readonly series: readonly PlotSeries[];
  /** Sentences below the plot: what is measured, what was left out. */
  readonly notes: readonly string[];
}

/** A number axis: `valueAxis("time", "ms", { log: true })`. */
export function valueAxis(
  label: string,
  unit: string | null = null,
  options: { readonly log?: boolean; readonly from?: number; readonly to?: number } = {},
): ValueAxis {
  return { kind: "value", label, unit, log: false, ...options };
}

export function categoryAxis(label: string, categories: readonly string[]): CategoryAxis {
  return { kind: "category", label, categories };
}

/** "time, ms"; the label alone where there is no unit. */
export function axisTitle(axis: PlotAxis): string {
  return axis.kind === "value" && axis.unit !== null ? `${axis.label}, ${axis.unit}` : axis.label;
}

/** The points of a series that the plot's axes can show: a logarithm has no zero, a list of names no third of two. */
export function visiblePoints({ x, y }: Pick<PlotSpec, "x" | "y">, { points }: PlotSeries): PlotPoint[] {
  return points.filter((point) => canShow(x, point.x) && canShow(y, point.y));
}

function canShow(axis: PlotAxis, value: number): boolean {
  if (axis.kind === "category")
    return Number.isInteger(value) && value >= 0 && value < axis.categories.length;
  return Number.isFinite(value) && (!axis.log || value > 0);
}

/** Whether anything of it can be drawn. */
export function hasPoints(plot: PlotSpec): boolean {
  return plot.series.some((series) => visiblePoints(plot, series).length > 0);
}

/** One limit of a roofline: the bandwidth of a memory. */
export interface Roof {
  readonly name: string;
  readonly gbPerSecond: number;
}

/**
 * The lines of a roofline: attainable GFLOP/s over FLOPs per byte, one line per memory, each with its corner where the arithmetic
 * becomes the limit.
 *
 * @param from the smallest FLOPs per byte that is drawn
 * @param to the largest
 */
export function roofSeries(
  peakGflops: number,
  roofs: readonly Roof[],
  { from, to }: { readonly from: number; readonly to: number },
): PlotSeries[] {
  return roofs.map(({ name, gbPerSecond }) => ({
    kind: "reference",
    name,
    points: [
      { x: from, y: Math.min(peakGflops, from * gbPerSecond) },
      { x: peakGflops / gbPerSecond, y: peakGflops },
      { x: to, y: peakGflops },
    ],
  }));
}
