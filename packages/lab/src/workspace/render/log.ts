/** `evolution_log.md`: every cycle in full, the newest last. */

import type { CycleRecord } from "../record.ts";
import type { Trial } from "../../judge/verdict.ts";
import { formatTime, table } from "./text.ts";

/** `evolution_log.md`: every cycle, what it tried and what came of it. */
export function renderLog(records: readonly CycleRecord[]): string {
  const head =
    "# Evolution log\n\nEvery cycle, the newest last. Rendered from `records/`; edits here are lost.\n";
  return [head, ...records.map(renderCycle)].join("\n");
}

function renderCycle(record: CycleRecord): string {
  const { objective, outcome, reflection, trials } = record;
  const verdict = record.cycle === 0 ? "baseline" : outcome.kept ? "kept" : "reverted";
  const kind = outcome.champion.timeKind;
  const parts = [
    `## ${objective.study} · cycle ${record.cycle}: ${verdict}`,
    "",
    `${record.date} · ${record.agent} · seed ${record.seed} · ${(record.durationMs / 1000).toFixed(1)} s · ` +
      `record \`${record.id}\``,
    "",
    `Objective: ${objective.inputTitle}, on \`${objective.device}\`, time ${kind} (${objective.profile}).`,
    "",
    ...section("Observed", record.observations),
    `**Reflection.** ${reflection.gap}. ${reflection.why}`,
    "",
    `**Action.** ${record.action}`,
    "",
    table(["trial", "candidate", `time (${kind})`, "verdict", "why it was tried"], trials.map(renderTrial)),
    "",
    `**Outcome.** ${outcome.reason}${outcome.interrupted ? " The cycle was stopped before its last trial." : ""}`,
    "",
    ...section("Next", record.next),
  ];
  return parts.join("\n");
}

function renderTrial({ number, title, verdict, reason }: Trial): string[] {
  const time = formatTime(verdict.timeMs);
  const checked = `ok, error ${scientific(verdict.error)} of ${scientific(verdict.bound)}`;
  return [
    String(number),
    title,
    time,
    verdict.status === "ok" ? checked : `${verdict.status}: ${verdict.reason}`,
    reason,
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`**${title}.**`, "", ...lines.map((line) => `- ${line}`), ""];
}

function scientific(value: number | null): string {
  return value === null ? "–" : value.toExponential(1);
}
