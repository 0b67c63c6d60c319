/** Times as horizontal bars: one per rung, with the middle half of its rounds as a line. The table has the same numbers. */

import { milliseconds } from "@evolver/base";
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

/** Draws into `width` pixels; a bar's length is the median time on a scale from 0. */
export function drawChart(bars: readonly Bar[], width: number, title: string): SVGElement {
  const longest = Math.max(...bars.map(({ timing }) => timing?.highMs ?? 0), Number.MIN_VALUE);
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
      svg(
        "text",
        { x: x(Math.max(medianMs, highMs)) + 8, y: middle, class: "value" },
        milliseconds(medianMs),
      ),
    ];
    if (highMs > lowMs)
      parts.push(svg("path", { d: `M${x(lowMs)} ${middle}H${x(highMs)}`, class: "spread" }));
    return svg("g", {}, ...parts);
  });
  const height = bars.length * ROW;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": describe(bars, title) },
    ...rows,
  );
}

function describe(bars: readonly Bar[], title: string): string {
  const known = bars.flatMap(({ label, timing }) =>
    timing === null ? [] : [`${label} ${milliseconds(timing.medianMs)}`],
  );
  return `${title}: ${known.length === 0 ? "nothing yet" : known.join(", ")}`;
}
