/** Small helpers of the renderings: times, tables, and which records belong together. */

import { duration, orNothing, times } from "@evolver/base";
import { isJudged, type Verdict } from "../../judge/verdict.ts";
import { objectiveSlug } from "../record.ts";
import type { CycleRecord } from "../record.ts";

/** Four digits that matter, in a unit that fits. */
export const formatTime = (timeMs: number | null): string => orNothing(timeMs, (ms) => duration(ms, 4));

/** A ratio, with a digit more where it is small. */
export const formatSpeedup = (ratio: number): string => times(ratio, ratio < 1.1 ? 3 : 2);

/** A Markdown table; a bar in a cell is escaped. */
export function table(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(headers), line(headers.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Records by objective, in the order of their first ones. */
export function byObjective(records: readonly CycleRecord[]): Map<string, CycleRecord[]> {
  const groups = new Map<string, CycleRecord[]>();
  for (const record of records) {
    const slug = objectiveSlug(record.objective);
    const group = groups.get(slug);
    if (group) group.push(record);
    else groups.set(slug, [record]);
  }
  return groups;
}

/** How many trials the judge rejected for each reason, the most frequent first. */
export function countRejected(
  verdicts: readonly Verdict[],
): { readonly reason: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const verdict of verdicts) {
    const { status } = verdict;
    if (status === "ok" || !isJudged(verdict)) continue;
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return [...counts]
    .map(([reason, count]) => ({ reason, count }))
    .toSorted((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}
