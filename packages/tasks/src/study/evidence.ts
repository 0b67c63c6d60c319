/** What is measured of the tasks on a machine, and the tables that documents show of it. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { duration, NOTHING, percent } from "@evolver/base";
import { microseconds, readDocument, reportOf, table, type Kept } from "@evolver/guide";
import type { EvidenceCommand } from "@evolver/lab";
import * as v from "valibot";
import { taskIds } from "./study.ts";

/** Tasks of a measurement: some minutes. */
const TOGETHER = 6;

export const taskCommands: readonly EvidenceCommand[] = Array.from(
  { length: Math.ceil(taskIds.length / TOGETHER) },
  (_, part): EvidenceCommand => {
    const ids = taskIds.slice(part * TOGETHER, (part + 1) * TOGETHER);
    return {
      name: `tasks-${part + 1}`,
      what: `the tasks ${ids.join(", ")}, each improved, beside PyTorch`,
      command: [
        ...["evolver", "bench", "tasks", "--only", ids.join(","), "--device", "cuda", "--trials", "4"],
        ...["--profile", "$OUT/profile.json", "--peer", "python3 packages/tasks/bench/torch.py"],
        ...["--workspace", "$SCRATCH/tasks", "--json"],
      ],
      needs: ["cuda", "torch", "profile"],
      limitSeconds: 400,
    };
  },
);

const time = v.pipe(v.number(), v.minValue(0));
const pointSchema = v.record(v.string(), v.union([v.string(), v.number()]));

const taskSchema = v.object({
  id: v.string(),
  kind: v.string(),
  sizes: v.record(v.string(), v.number()),
  baselineMs: time,
  championMs: time,
  point: pointSchema,
  shareOfRoof: v.nullable(time),
  peer: v.nullable(v.object({ eagerMs: v.nullable(time), compiledMs: v.nullable(time) })),
});

const reportSchema = v.object({
  deviceName: v.string(),
  peer: v.nullable(v.string()),
  tasks: v.array(taskSchema),
  failures: v.array(v.object({ id: v.string(), why: v.string() })),
});

type MeasuredTask = v.InferOutput<typeof taskSchema>;
type Measured = Kept<v.InferOutput<typeof reportSchema>>;

/** Near enough to the roofline. */
const NEAR = 0.8;

/**
 * The block of docs/tasks.md: a table of all tasks, what was reached, and what was not. A task that was measured several times
 * counts as it was last.
 *
 * @throws EvolverError EVIDENCE_INVALID
 */
export function tasksTable(folder: string): string {
  const files = readdirSync(folder).filter((name) => /^tasks-\d+\.json$/.test(name));
  const reports = files
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((name) => reportOf(readDocument(join(folder, name)), reportSchema));
  const [first] = reports;
  if (first === undefined) return "Not measured.";
  const last = new Map<string, MeasuredTask>();
  for (const { tasks } of reports) for (const task of tasks) last.set(task.id, task);
  const tasks = taskIds.flatMap((id) => last.get(id) ?? []);
  const missing = taskIds.filter((id) => !last.has(id));
  const near = tasks.filter((task) => isNear(task) || isFaster(task, compiledOf));
  const strict = tasks.filter((task) => isNear(task) || isFaster(task, fastestOf));
  const rows = tasks.map((task) => [
    task.id,
    words(task.sizes),
    microseconds(task.baselineMs),
    microseconds(task.championMs),
    share(task.shareOfRoof),
    timeOf(task.peer?.eagerMs),
    timeOf(task.peer?.compiledMs),
    ratio(fastestOf(task), task.championMs),
  ]);
  return [
    `Measured on ${first.deviceName}, beside ${first.peer ?? "no other library"}. Times in µs, medians.`,
    table(
      [
        "task",
        "sizes",
        "first choices",
        "champion",
        "of the roof",
        "eager",
        "compiled",
        "× the faster of both",
      ],
      "llrrrrrr",
      rows,
    ),
    `**${near.length} of ${taskIds.length}** are at ${NEAR} of the roof or at least as fast as PyTorch compiled; ` +
      `${strict.length} are so if eager counts, too.`,
    misses(tasks, missing),
    "The champions' choices:",
    table(
      ["task", "choices"],
      "ll",
      tasks.map(({ id, point }) => [id, words(point)]),
    ),
    sources(reports),
  ].join("\n\n");
}

const isNear = ({ shareOfRoof }: MeasuredTask): boolean => (shareOfRoof ?? 0) >= NEAR;

const isFaster = (task: MeasuredTask, other: (task: MeasuredTask) => number | null): boolean => {
  const timeMs = other(task);
  return timeMs !== null && task.championMs <= timeMs;
};

const compiledOf = ({ peer }: MeasuredTask): number | null => peer?.compiledMs ?? null;

function fastestOf({ peer }: MeasuredTask): number | null {
  const times = [peer?.eagerMs, peer?.compiledMs].filter((timeMs) => typeof timeMs === "number");
  return times.length === 0 ? null : Math.min(...times);
}

function misses(tasks: readonly MeasuredTask[], missing: readonly string[]): string {
  const missed = tasks.filter((task) => !isNear(task) && !isFaster(task, fastestOf));
  const lines = missed.map(
    (task) =>
      `- ${task.id}: ${share(task.shareOfRoof)} of the roof, ${ratio(fastestOf(task), task.championMs)} times as fast as PyTorch.`,
  );
  const unmeasured = missing.map((id) => `- ${id}: not measured.`);
  return lines.length + unmeasured.length === 0
    ? "Nothing was missed."
    : `What was missed:\n\n${[...lines, ...unmeasured].join("\n")}`;
}

function sources(reports: readonly Measured[]): string {
  const rows = reports.map(({ file, date, commit, tasks }) => [
    `\`${file}\``,
    date ?? NOTHING,
    commit ?? NOTHING,
    tasks.map(({ id }) => id).join(", "),
  ]);
  return `From:\n\n${table(["file of evidence", "date", "commit", "tasks"], "llll", rows)}`;
}

const share = (value: number | null): string => (value === null ? NOTHING : percent(value));
const timeOf = (timeMs: number | null | undefined): string =>
  typeof timeMs === "number" ? microseconds(timeMs) : NOTHING;
const ratio = (other: number | null, timeMs: number): string =>
  other === null ? NOTHING : (other / timeMs).toFixed(2);
const words = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

const fileSchema = v.object({
  study: v.string(),
  input: v.string(),
  baseline: v.object({ title: v.string(), timeMs: time }),
  champion: v.object({ title: v.string(), timeMs: time }),
  speedup: time,
  roof: v.nullable(v.object({ what: v.string(), share: time })),
  trials: v.number(),
});

/** The block about single files that were improved: evidence that is called file-*.json. @throws EvolverError EVIDENCE_INVALID */
export function filesTable(folder: string): string {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^file-.*\.json$/.test(name)) : [];
  const rows = files.toSorted().map((name) => {
    const { study, input, baseline, champion, speedup, roof, trials } = reportOf(
      readDocument(join(folder, name)),
      fileSchema,
    );
    return [
      study,
      input,
      String(trials),
      `${duration(baseline.timeMs)} (${baseline.title})`,
      `${duration(champion.timeMs)} (${champion.title})`,
      speedup.toFixed(2),
      roof === null ? NOTHING : `${percent(roof.share)} (${roof.what})`,
    ];
  });
  return rows.length === 0
    ? "Not measured."
    : table(["kernel", "input", "trials", "first choices", "champion", "×", "of the roof"], "llrllrl", rows);
}
