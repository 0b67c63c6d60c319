/** A plot as the text of an SVG file, made without a page: the same bytes for the same plot on every machine. */

import { EvolverError, hasPoints, type PlotSpec } from "@evolver/base";
import { layoutOf, TEXT_SIZE } from "./layout.ts";
import { init, setPlatformAPI } from "./echarts.ts";
import { textWidth } from "./measure.ts";
import { optionOf } from "./option.ts";
import { darkStyle, EDGE, PAGE } from "./theme.ts";

const WIDTH = 780;

/** @throws EvolverError PLOT_EMPTY where no point can be drawn */
export function plotSvg(plot: PlotSpec): string {
  if (!hasPoints(plot)) throw new EvolverError("PLOT_EMPTY", `the plot "${plot.id}" has no point to draw`);
  // Where there is a page, its fonts are measured.
  if (typeof document === "undefined") setPlatformAPI({ measureText: measured });
  const layout = layoutOf(plot, WIDTH);
  const chart = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height: layout.height });
  try {
    chart.setOption(optionOf(plot, layout));
    return finished(plot, layout.height, chart.renderToSVGString());
  } finally {
    chart.dispose();
  }
}

/** @param font in CSS: "600 14px system-ui" */
function measured(text: string, font?: string): { readonly width: number } {
  const size = Number(/([\d.]+)px/.exec(font ?? "")?.[1] ?? TEXT_SIZE);
  return { width: textWidth(text, size) };
}

/** What the library does not write: names that do not count up, a card behind the plot, dark colours, a title for readers aloud. */
function finished({ id, title }: PlotSpec, height: number, drawn: string): string {
  const inner = drawn
    .replace(/^<svg[^>]*>/, "")
    .replace(/<\/svg>$/, "")
    .replaceAll(/<style[^>]*>[^]*?<\/style>/g, "")
    .replaceAll(/ (?:class="zr\d+-cls-\d+"|pointer-events="visible"|ecmeta_\w+="[^"]*")/g, "")
    .replaceAll(
      /<path d="[^"]*" (?:transform="[^"]*" )?fill="rgb\(0,0,0\)" fill-opacity="0"[^>]*><\/path>\n?/g,
      "",
    )
    .replaceAll("<defs >", "<defs>")
    .replaceAll(/zr\d+-/g, `${id}-`)
    .replace(/<rect width="\d+" height="\d+" x="0" y="0"[^>]*><\/rect>/, "")
    .trim();
  return [
    `<svg class="chart" xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${darkStyle()}</style>`,
    `<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8" fill="${PAGE.light}" stroke="${EDGE.light}"/>`,
    inner,
    "</svg>",
    "",
  ].join("\n");
}

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
