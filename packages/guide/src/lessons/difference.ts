/** The difference of two texts, line by line, as a `diff` block shows it. */

export interface Difference {
  /** Lines with "+", "-" or a space before each; "…" stands for lines that were left out. */
  readonly text: string;
  /** Lines with "+" or "-". */
  readonly changed: number;
}

interface DifferenceOptions {
  /** Lines without a change that are shown around each change; all if left out. */
  readonly context?: number;
  /** Lines that give the same key are the same; by default the line itself. */
  readonly key?: (line: string) => string;
}

interface Line {
  readonly mark: " " | "+" | "-";
  readonly text: string;
}

/** Of lines that count as the same, the later text's is shown. */
export function difference(before: string, after: string, options: DifferenceOptions = {}): Difference {
  const { context = Infinity, key = (line) => line } = options;
  const lines = compare(before.split("\n"), after.split("\n"), key);
  const near = (i: number): boolean =>
    lines.some(({ mark }, k) => mark !== " " && Math.abs(k - i) <= context);
  const shown: string[] = [];
  for (const [i, { mark, text }] of lines.entries()) {
    if (near(i)) shown.push(`${mark} ${text}`.trimEnd());
    else if (shown.at(-1) !== "  …") shown.push("  …");
  }
  return { text: shown.join("\n"), changed: lines.filter(({ mark }) => mark !== " ").length };
}

/** By the longest common subsequence. */
function compare(before: readonly string[], after: readonly string[], key: (line: string) => string): Line[] {
  const old = before.map(key);
  const now = after.map(key);
  /** [i][j]: how many lines are common from i and j on. */
  const common = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      (common[i] as Uint32Array)[j] =
        old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ mark: " ", text: after[j++] as string });
      i++;
    } else if (i < old.length && (j === now.length || at(i + 1, j) >= at(i, j + 1)))
      lines.push({ mark: "-", text: before[i++] as string });
    else lines.push({ mark: "+", text: after[j++] as string });
  }
  return lines;
}
