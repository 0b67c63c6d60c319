/** Times as horizontal bars: one per rung, with the middle half of its rounds as a line. The table has the same numbers. */

import { durationsUpTo } from "@evolver/base";
import type { Timing } from "./job.ts";
import { svg } from "./dom.ts";

export interface Bar {
  readonly label: string;
  /** Null while it is not known. */
  readonly timing: Timing | null;
}

const ROW = 40;
const BAR = 22;
const LEFT = 44;
const RIGHT = 92;
const AXIS = 28;
/** Pixels from tick to tick, at least. */
const TICK_ROOM = 90;

/** Draws into `width` pixels; a bar's length is the median time on a scale from 0. */
export function drawChart(bars: readonly Bar[], width: number, title: string): SVGElement {
  const longest = Math.max(...bars.map(({ timing }) => timing?.highMs ?? 0), Number.MIN_VALUE);
  const show = durationsUpTo(longest);
  const fastest = Math.min(...bars.map(({ timing }) => timing?.medianMs ?? Infinity));
  const room = Math.max(40, width - LEFT - RIGHT);
  const x = (ms: number): number => LEFT + (ms / longest) * room;
  const rows = bars.map(({ label, timing }, i) => {
    const middle = i * ROW + ROW / 2;
    const name = svg("text", { x: 0, y: middle, class: "label" }, label);
    if (timing === null) return svg("g", {}, name, svg("text", { x: LEFT, y: middle, class: "none" }, "–"));
    const { medianMs, lowMs, highMs } = timing;
    const parts = [
      name,
      svg("rect", {
        x: LEFT,
        y: middle - BAR / 2,
        width: Math.max(2, x(medianMs) - LEFT),
        height: BAR,
        rx: 3,
        class: medianMs === fastest ? "bar fastest" : "bar",
      }),
      svg("text", { x: x(Math.max(medianMs, highMs)) + 8, y: middle, class: "value" }, show(medianMs)),
    ];
    if (highMs > lowMs)
      parts.push(svg("path", { d: `M${x(lowMs)} ${middle}H${x(highMs)}`, class: "spread" }));
    return svg("g", {}, ...parts);
  });
  const bottom = bars.length * ROW;
  const height = bottom + AXIS;
  const ticks = ticksTo(longest, Math.max(2, Math.floor(room / TICK_ROOM))).map((ms, i, all) =>
    svg(
      "g",
      {},
      svg("path", { d: `M${x(ms)} 0V${bottom}`, class: "grid" }),
      svg(
        "text",
        { x: x(ms), y: bottom + AXIS / 2, class: "tick", "text-anchor": "middle" },
        i === all.length - 1 ? show(ms) : (show(ms).split(" ")[0] as string),
      ),
    ),
  );
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-label": describe(bars, title, show),
    },
    ...ticks,
    ...rows,
  );
}

/** From 0 in steps of 1, 2 or 5 times a power of ten, at most `most` of them. */
function ticksTo(longest: number, most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(longest / most));
  const step =
    [1, 2, 5, 10].map((times) => times * power).find((each) => Math.floor(longest / each) <= most) ?? longest;
  return Array.from({ length: Math.floor(longest / step) + 1 }, (_, i) => i * step);
}

function describe(bars: readonly Bar[], title: string, show: (timeMs: number) => string): string {
  const known = bars.flatMap(({ label, timing }) =>
    timing === null ? [] : [`${label} ${show(timing.medianMs)}`],
  );
  return `${title}: ${known.length === 0 ? "nothing yet" : known.join(", ")}`;
}
