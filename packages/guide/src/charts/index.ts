/** Charts: a plot's data become an SVG file, or part of a page. Runs in a browser as it is. */

export { drawPlot } from "./page.ts";
export { plotSvg } from "./svg.ts";
