/** `TASKS.md`: what the last cycle of each objective would do next. */

import type { CycleRecord } from "../record.ts";
import { byObjective } from "./text.ts";

/** `TASKS.md`: what the last cycles suggest to try next. */
export function renderTasks(records: readonly CycleRecord[]): string {
  const parts = [
    "# Tasks",
    "",
    "What could be tried next. Rendered from `records/`; edits here are lost.",
    "",
  ];
  for (const group of byObjective(records).values()) {
    const last = group.at(-1) as CycleRecord;
    parts.push(`## ${last.objective.title}: ${last.objective.inputTitle}`, "");
    parts.push(...last.next.map((task) => `- [ ] ${task}`), "");
  }
  return parts.join("\n");
}
