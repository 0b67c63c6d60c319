/** Pieces of Markdown. */

import { grouped } from "@evolver/base";

export type Cell = string;

/** @param align one character per column: `l` or `r` */
export function table(heads: readonly Cell[], align: string, rows: readonly (readonly Cell[])[]): string {
  const row = (cells: readonly Cell[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = `| ${[...align].map((side) => (side === "r" ? "--:" : "---")).join(" | ")} |`;
  return [row(heads), rule, ...rows.map(row)].join("\n");
}

/** Milliseconds as whole microseconds. */
export const microseconds = (timeMs: number): string => grouped(timeMs * 1000);

/** Prose of a template literal, its lines joined. */
export const prose = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ").trim();

/** What GitHub makes of a heading, so that one can link to it. */
export const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
