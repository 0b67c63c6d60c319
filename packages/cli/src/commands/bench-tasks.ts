/** `evolver bench tasks`: improves the kernels of the task suite, and times them beside the roofline and another library. */

import { duration, NOTHING, orNothing, percent } from "@evolver/base";
import { DEFAULT_POLICY } from "@evolver/lab";
import { loadTasks, type TaskReport, type TasksReport } from "@evolver/studies";
import { interruptedCode, stopOnSignals } from "../interruption.ts";
import { EXIT, printJson, printText, table } from "../output.ts";
import { checkWorkspaceFolder } from "../output-files.ts";
import { openProgress } from "../progress.ts";

export interface TasksFlags {
  readonly device: string;
  /** Ids of tasks; all if absent. */
  readonly only?: readonly string[];
  readonly trials?: number;
  readonly shrink: number;
  readonly seed: number;
  readonly workspace: string;
  readonly profile?: string;
  readonly peer?: string;
  readonly json: boolean;
}

export async function benchTasks(flags: TasksFlags): Promise<number> {
  const { findTask, runTasks, taskIds } = await loadTasks();
  const ids = flags.only ?? taskIds;
  for (const id of ids) findTask(id);
  await checkWorkspaceFolder(flags.workspace);
  const progress = openProgress();
  const interruption = stopOnSignals(progress);
  try {
    const report = await runTasks({
      ids,
      device: flags.device,
      trials: flags.trials ?? DEFAULT_POLICY.trialsPerCycle,
      shrink: flags.shrink,
      seed: flags.seed,
      workspace: flags.workspace,
      profile: flags.profile ?? null,
      peer: flags.peer ?? null,
      signal: interruption.signal,
      onTask: (id, done, total) => progress.step(done, total, id),
    });
    progress.end();
    if (flags.json) printJson(report);
    else printText(describe(report));
    if (report.interrupted) return interruptedCode();
    return report.failures.length === 0 ? EXIT.done : EXIT.no;
  } finally {
    progress.end();
    interruption.end();
  }
}

function describe({ device, deviceName, timeKind, profile, peer, tasks, failures }: TasksReport): string {
  const rows = table(tasks, [
    { title: "task", value: ({ id }) => id },
    { title: "baseline", value: ({ baselineMs }) => duration(baselineMs), align: "right" },
    { title: "champion", value: ({ championMs }) => duration(championMs), align: "right" },
    { title: "of the roof", value: ({ shareOfRoof }) => orNothing(shareOfRoof, percent), align: "right" },
    ...(peer === null
      ? []
      : [
          {
            title: "eager",
            value: (task: TaskReport) => orNothing(task.peer?.eagerMs ?? null, duration),
            align: "right" as const,
          },
          {
            title: "compiled",
            value: (task: TaskReport) => orNothing(task.peer?.compiledMs ?? null, duration),
            align: "right" as const,
          },
        ]),
    { title: "what decides", value: ({ bottleneck }) => bottleneck },
    { title: "champion's choices", value: ({ point }) => wordsOf(point), wrap: 40 },
  ]);
  const reached = tasks.filter(
    ({ shareOfRoof, ofPeer }) => (shareOfRoof ?? 0) >= 0.8 || (ofPeer ?? 0) >= 1,
  ).length;
  return [
    `tasks on ${device}: ${deviceName}; times ${timeKind}; roof of ${profile}${peer === null ? "" : `; beside PyTorch ${peer}`}\n`,
    rows,
    `\n${reached} of ${tasks.length + failures.length} are at 0.8 of the roof${peer === null ? "" : " or as fast as the other library"}`,
    ...failures.map(({ id, why }) => `${id} failed: ${why}`),
  ].join("\n");
}

const wordsOf = (point: TaskReport["point"]): string =>
  Object.entries(point)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ") || NOTHING;
