/** What the command line prints: one JSON document or text on stdout; progress on stderr. Errors are in failure.ts. */

/** Done; the answer is no; wrong use. Work that was stopped has a code of its own (interruption.ts). */
export const EXIT = Object.freeze({ done: 0, no: 1, misuse: 2 });

let documents = 0;

/** Whether the one document of `--json` is out already. */
export const hasPrintedJson = (): boolean => documents > 0;

/** For the next command in the same process. */
export function beginOutput(): void {
  documents = 0;
}

export function printJson(document: unknown): void {
  documents++;
  process.stdout.write(`${JSON.stringify(document, jsonSafe, 2)}\n`);
}

/** JSON has no infinities and no NaN. */
function jsonSafe(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

export function printText(text: string): void {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly align?: "left" | "right";
  /** Text that is longer goes on in the next line, from word to word. */
  readonly wrap?: number;
}

/** A plain-text table with aligned columns. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = rows.flatMap((row) => {
    const wrapped = columns.map(({ value, wrap = Infinity }) => wrapAt(value(row), wrap));
    const height = Math.max(...wrapped.map((lines) => lines.length));
    return Array.from({ length: height }, (_, at) => wrapped.map((lines) => lines[at] ?? ""));
  });
  const widths = columns.map((column, k) =>
    Math.max(column.title.length, ...cells.map((line) => (line[k] as string).length)),
  );
  const format = (line: readonly string[]): string =>
    line
      .map((cell, k) => {
        const width = widths[k] as number;
        return columns[k]?.align === "right" ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width));
  return [format(columns.map((column) => column.title)), format(rule), ...cells.map(format)].join("\n");
}

function wrapAt(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines.push(`${lines.pop()} ${word}`);
    else lines.push(word);
  }
  return lines;
}
