/** `PROGRESS.md`: the champions of each objective and what they gained. */

import type { CycleRecord } from "../record.ts";
import { counted } from "@evolver/base";
import { byObjective, countRejected, formatSpeedup, formatTime, table } from "./text.ts";

/** `PROGRESS.md`: the champions so far. */
export function renderProgress(records: readonly CycleRecord[]): string {
  const parts = ["# Progress", "", "Rendered from `records/`; edits here are lost.", ""];
  for (const [slug, group] of byObjective(records)) {
    const last = group.at(-1) as CycleRecord;
    const first = group[0] as CycleRecord;
    const baseline = first.outcome.champion;
    const champion = last.outcome.champion;
    const { objective } = last;
    const trials = group.flatMap((record) => record.trials);
    const rejected = countRejected(trials.map(({ verdict }) => verdict));
    const kept = group.filter(({ outcome }) => outcome.kept);
    const rows = kept.map(({ cycle, date, outcome, trials: tried }, i) => {
      const before = i === 0 ? baseline.timeMs : (kept[i - 1] as CycleRecord).outcome.champion.timeMs;
      const { trial, title, timeMs } = outcome.champion;
      const error = tried.find(({ number }) => number === trial)?.verdict.error ?? null;
      return [
        String(cycle),
        date.slice(0, 10),
        title,
        formatTime(timeMs),
        formatSpeedup(before / timeMs),
        formatSpeedup(baseline.timeMs / timeMs),
        error === null ? "–" : error.toExponential(1),
      ];
    });
    parts.push(
      `## ${objective.title}: ${objective.inputTitle}`,
      "",
      `Device \`${objective.device}\`; times are **${champion.timeKind}** (${objective.profile}); folder ` +
        `\`champion/${slug}/\`.`,
      "",
      `${counted(group.length - 1, "cycle")}, ${counted(trials.length, "trial")}, champion ${formatTime(champion.timeMs)}: ` +
        `**${formatSpeedup(baseline.timeMs / champion.timeMs)}** the baseline's speed.` +
        (rejected.length === 0
          ? ""
          : ` Rejected: ${rejected.map(({ reason, count }) => `${count} ${reason}`).join(", ")}.`),
      "",
      table(
        ["cycle", "date", "champion", `time (${champion.timeKind})`, "gain", "over baseline", "error"],
        rows,
      ),
      "",
    );
  }
  return parts.join("\n");
}
