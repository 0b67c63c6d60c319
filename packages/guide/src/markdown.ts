/** Pieces of Markdown, and numbers as the guide prints them. */

export type Cell = string;

/** @param align one character a column: `l` or `r` */
export function table(heads: readonly Cell[], align: string, rows: readonly (readonly Cell[])[]): string {
  const row = (cells: readonly Cell[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = `| ${[...align].map((side) => (side === "r" ? "--:" : "---")).join(" | ")} |`;
  return [row(heads), rule, ...rows.map(row)].join("\n");
}

/** 1234567.8 → "1,234,568"; below 100 with three digits that matter. */
export function number(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

/** Milliseconds as whole microseconds. */
export const microseconds = (timeMs: number): string => Math.round(timeMs * 1000).toLocaleString("en-US");

export const percent = (share: number): string => `${number(100 * share)} %`;

/** Prose of a template literal, its lines joined. */
export const prose = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ").trim();

/** What GitHub makes of a heading, so that one can link to it. */
export const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
