/** `knowledge/<objective>.md`: what the trials taught about each choice, as a start for later work. */

import type { CycleRecord } from "../record.ts";
import { isJudged } from "../../judge/verdict.ts";
import { gatherStatistics } from "../../sampler/statistics.ts";
import { memoryOf } from "../../sampler/sampler.ts";
import type { Space } from "../../study/point.ts";
import { table } from "./text.ts";

/** @param records of one objective */
export function renderKnowledge(space: Space, records: readonly CycleRecord[]): string {
  const last = records.at(-1) as CycleRecord;
  const trials = records.flatMap((record) => record.trials);
  const statistics = gatherStatistics(space, memoryOf(space, trials));
  const choices = space.axes.filter(({ values }) => values.length > 1);
  const rows = choices.flatMap((axis) =>
    axis.values.map((value) => {
      const { timed, failed, effect } = statistics.of(axis.name, value);
      const factor = timed === 0 ? "–" : `${Math.exp(effect).toFixed(2)}×`;
      return [axis.name, String(value), factor, String(timed), String(failed)];
    }),
  );
  const failures = trials.filter(
    ({ verdict }) => isJudged(verdict) && !["ok", "duplicate"].includes(verdict.status),
  );
  return [
    `# ${last.objective.title}: ${last.objective.inputTitle}`,
    "",
    `What ${trials.length} trials say about each choice: its factor on the time, others being equal (estimated; below`,
    "1 is faster), how many trials it rests on, and how many were rejected. Rendered from `records/`.",
    "",
    table(["axis", "value", "factor on time", "timed", "rejected"], rows),
    "",
    "## Rejected, and why",
    "",
    ...(failures.length === 0
      ? ["Nothing so far."]
      : failures.map(
          ({ number, title, verdict }) => `- trial ${number}, ${title}: ${verdict.status}. ${verdict.reason}`,
        )),
    "",
  ].join("\n");
}
