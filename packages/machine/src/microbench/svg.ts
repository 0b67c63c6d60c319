/** Plots as SVG text: lines over linear or logarithmic axes, and the roofline. No library, no script. */

import type { MicrobenchReport, Plot, Series } from "./report.ts";

const SIZE = { width: 760, height: 440 } as const;
const FRAME = { left: 76, right: 150, top: 44, bottom: 56 } as const;
/** Colours that colour-blind people can tell apart (Okabe and Ito); on a dark page the dark ones are lighter. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const ON_DARK = ["#4aa8e8", "#f07c2e", "#19c493", "#cc79a7", "#e69f00", "#8fd0f5", "#ffffff"];

/** Under a class of its own, for plots may stand within a page. */
function style(): string {
  const theme = (page: string, text: string, grid: string, frame: string, lines: readonly string[]): string =>
    [
      `.microbench .page{fill:${page}}.microbench text{fill:${text}}.microbench .name{fill:currentColor}`,
      `.microbench .grid{stroke:${grid}}.microbench .frame{stroke:${frame}}`,
      ...lines.map((colour, k) => `.microbench .line${k}{color:${colour}}`),
    ].join("");
  return `<style>${theme("#fff", "#222", "#ddd", "#444", COLOURS)}@media (prefers-color-scheme:dark){${theme("#16181c", "#ddd", "#3a3d42", "#999", ON_DARK)}}</style>`;
}

interface Axis {
  readonly ticks: readonly number[];
  /** From 0 to 1 along the axis. */
  at(value: number): number;
}

/** Steps of 1, 2 or 5 times a power of ten, 8 at most between the ends. */
function evenly(low: number, high: number): number[] {
  const span = high - low || high || 1;
  const unit = 10 ** Math.floor(Math.log10(span / 5));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((size) => span / size <= 8) ?? span;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, k) => (first + k) * step);
}

const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));

function logTicks(values: readonly number[], low: number, high: number, areBytes: boolean): number[] {
  // Settings are mostly powers of two, and are then their own ticks, if need be every second or third of them.
  const [from, to] = [Math.ceil(Math.log2(low)), Math.floor(Math.log2(high))];
  if (areBytes || values.every(isPowerOfTwo)) {
    const step = Math.ceil((to - from + 1) / 10);
    return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, k) => 2 ** (from + k * step));
  }
  const first = Math.floor(Math.log10(low));
  const decades = Array.from(
    { length: Math.ceil(Math.log10(high)) - first + 1 },
    (_, k) => 10 ** (first + k),
  );
  const steps = high / low > 1000 ? [1] : [1, 2, 5];
  const ticks = decades.flatMap((decade) => steps.map((step) => step * decade));
  const inside = ticks.filter((tick) => tick >= low && tick <= high);
  return inside.length > 2 ? inside : evenly(low, high);
}

function axis(values: readonly number[], isLog: boolean, areBytes = false): Axis {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (!isLog) {
    const end = high > 0 ? high * 1.05 : 1;
    return { ticks: evenly(0, end), at: (value) => value / end };
  }
  const [from, to] = [Math.log10(low), Math.max(Math.log10(high), Math.log10(low) + 1e-6)];
  const room = (to - from) * 0.04;
  const at = (value: number): number => (Math.log10(value) - from + room) / (to - from + 2 * room);
  return { ticks: logTicks(values, low, high, areBytes), at };
}

const number = (value: number): string => {
  if (Number.isInteger(value) && value < 10_000) return String(value);
  const [unit, scale] =
    value >= 1e12
      ? ["T", 1e12]
      : value >= 1e9
        ? ["G", 1e9]
        : value >= 1e6
          ? ["M", 1e6]
          : value >= 1e3
            ? ["k", 1e3]
            : ["", 1];
  return `${Number((value / scale).toPrecision(3))}${unit}`;
};

/** "51.2T" of FLOP/s as a text: "51.2 TFLOP/s". */
const withUnit = (value: number, unit: string): string =>
  `${number(value).replace(/[kMGT]?$/, (prefix) => ` ${prefix}`)}${unit}`;

/** Bytes are counted in powers of two. */
function bytes(value: number): string {
  const power = Math.min(3, Math.max(0, Math.floor(Math.log2(value) / 10)));
  return `${Number((value / 1024 ** power).toPrecision(3))}${["", " Ki", " Mi", " Gi"][power]}`;
}

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const fixed = (value: number): string => value.toFixed(1);

/** Points that an axis can show. */
const visible = ({ logX, logY }: Plot, { points }: Series): Series["points"] =>
  points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y) && (!logX || x > 0) && (!logY || y > 0));

/** @param plot with at least one point that its axes can show */
export function plotSvg(plot: Plot): string {
  const lines = plot.series.map((series) => ({ ...series, points: visible(plot, series) }));
  const all = lines.flatMap(({ points }) => points);
  const areBytes = plot.x.startsWith("bytes");
  const xs = axis(
    all.map(([x]) => x),
    plot.logX,
    areBytes,
  );
  const ys = axis(
    all.map(([, y]) => y),
    plot.logY,
  );
  const inner = {
    width: SIZE.width - FRAME.left - FRAME.right,
    height: SIZE.height - FRAME.top - FRAME.bottom,
  };
  const label = areBytes ? bytes : number;
  const px = (x: number): string => fixed(FRAME.left + xs.at(x) * inner.width);
  const py = (y: number): string => fixed(FRAME.top + (1 - ys.at(y)) * inner.height);
  const bottom = FRAME.top + inner.height;
  const right = FRAME.left + inner.width;
  const parts = [
    style(),
    `<rect class="page" width="${SIZE.width}" height="${SIZE.height}"/>`,
    `<text x="${FRAME.left}" y="24" font-size="15" font-weight="bold">${escape(plot.title)}</text>`,
    ...xs.ticks.map(
      (tick) =>
        `<path d="M${px(tick)} ${FRAME.top}V${bottom}" class="grid"/><text x="${px(tick)}" y="${bottom + 18}" text-anchor="middle">${label(tick)}</text>`,
    ),
    ...ys.ticks.map(
      (tick) =>
        `<path d="M${FRAME.left} ${py(tick)}H${right}" class="grid"/><text x="${FRAME.left - 8}" y="${py(tick)}" text-anchor="end" dominant-baseline="middle">${number(tick)}</text>`,
    ),
    `<rect x="${FRAME.left}" y="${FRAME.top}" width="${inner.width}" height="${inner.height}" fill="none" class="frame"/>`,
    `<text x="${FRAME.left + inner.width / 2}" y="${SIZE.height - 14}" text-anchor="middle">${escape(plot.x)}</text>`,
    `<text transform="translate(18 ${FRAME.top + inner.height / 2}) rotate(-90)" text-anchor="middle">${escape(plot.y)}</text>`,
    ...lines.flatMap(({ name, points, joined = true }, k) => {
      const colour = `line${k % COLOURS.length}`;
      const path = points.map(([x, y], at) => `${at === 0 ? "M" : "L"}${px(x)} ${py(y)}`).join("");
      const dots = points.map(
        ([x, y]) => `<circle class="${colour}" cx="${px(x)}" cy="${py(y)}" r="3" fill="currentColor"/>`,
      );
      const legend =
        name === ""
          ? []
          : [
              `<text class="${colour} name" x="${right + 12}" y="${FRAME.top + 12 + 18 * k}">${escape(name)}</text>`,
            ];
      const line = joined
        ? [`<path class="${colour}" d="${path}" fill="none" stroke="currentColor" stroke-width="2"/>`]
        : [];
      return [...line, ...dots, ...legend];
    }),
  ];
  return `<svg class="microbench" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" font-family="sans-serif" font-size="12">\n${parts.join("\n")}\n</svg>\n`;
}

/** The roofline of the measured peaks: attainable FLOP/s over FLOPs a byte. Null where either peak was not measured. */
export function rooflineSvg({ sections, deviceName }: MicrobenchReport): string | null {
  const figures = sections.flatMap((section) => section.figures);
  const value = (id: string): number | undefined => figures.find((figure) => figure.id === id)?.value;
  const [peak, memory, cache] = [value("fmaPeak"), value("copyGBPerSecond"), value("cacheGBPerSecond")];
  if (peak === undefined || memory === undefined) return null;
  const ridge = peak / memory;
  const from = Math.min(0.1, ridge / 100);
  const to = ridge * 30;
  const roof = (name: string, gbPerSecond: number): Series => {
    const corner = peak / gbPerSecond;
    return {
      name,
      points: [
        [from, from * gbPerSecond],
        [corner, peak],
        [to, peak],
      ],
    };
  };
  return plotSvg({
    id: "roofline",
    title: `Roofline of ${deviceName}: ${withUnit(peak * 1e9, "FLOP/s")}, ${withUnit(memory * 1e9, "B/s")}, ridge at ${ridge.toPrecision(3)}`,
    x: "FLOPs a byte",
    y: "GFLOP/s",
    logX: true,
    logY: true,
    series: [roof("memory", memory), ...(cache === undefined ? [] : [roof("cache", cache)])],
  });
}
