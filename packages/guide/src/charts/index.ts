/** Charts: draws a plot's data as an SVG file or as part of a page. Runs in a browser unchanged. */

export { drawPlot } from "./page.ts";
export { plotSvg } from "./svg.ts";
