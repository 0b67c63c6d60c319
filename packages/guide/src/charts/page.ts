/** A plot in a page: the same chart as in a file, as wide as its element, with values under the pointer. */

import type { PlotSpec } from "@evolver/base";
import { layoutOf } from "./layout.ts";
import { init } from "./echarts.ts";
import { optionOf } from "./option.ts";
import { darkStyle } from "./theme.ts";

/** Below this the parts of a chart are in each other's way; a narrower element scrolls. */
const LEAST_WIDTH = 420;

/** Draws into an element, and again when its width changes. @returns what removes the chart */
export function drawPlot(element: HTMLElement, plot: PlotSpec): () => void {
  const style = element.ownerDocument.createElement("style");
  style.textContent = darkStyle();
  const inner = element.ownerDocument.createElement("div");
  element.classList.add("chart");
  element.replaceChildren(style, inner);
  const chart = init(inner, null, { renderer: "svg", width: LEAST_WIDTH, height: 1 });
  const draw = (): void => {
    const layout = layoutOf(plot, Math.max(LEAST_WIDTH, element.clientWidth));
    inner.style.height = `${layout.height}px`;
    chart.resize({ width: layout.width, height: layout.height });
    chart.setOption(optionOf(plot, layout), { notMerge: true });
  };
  const observer = new ResizeObserver(draw);
  observer.observe(element);
  draw();
  return () => {
    observer.disconnect();
    chart.dispose();
    element.replaceChildren();
  };
}
