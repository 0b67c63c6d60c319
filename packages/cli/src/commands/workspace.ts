/** `evolver log`, `progress` and `tasks`: what is rendered from the records of a workspace, or the records themselves. */

import { readRecords, renderLog, renderProgress, renderTasks, type CycleRecord } from "@evolver/lab";
import { newCommand, type MakeCommand } from "../command.ts";
import { workspaceOption } from "../options.ts";
import { EXIT, printJson, printText } from "../output.ts";

export const logCommand = reader("log", renderLog, "what each cycle observed, tried and kept");
export const progressCommand = reader(
  "progress",
  renderProgress,
  "the champions so far, and how much faster each one was",
);
export const tasksCommand = reader("tasks", renderTasks, "what the last cycles suggest to try next");

function reader(
  name: string,
  render: (records: readonly CycleRecord[]) => string,
  what: string,
): MakeCommand {
  return ({ finish }) =>
    newCommand(name, `read the workspace: ${what}`)
      .addOption(workspaceOption("the workspace"))
      .action(({ workspace, json }: { workspace: string; json: boolean }) => {
        const records = readRecords(workspace);
        if (json) printJson(records);
        else printText(render(records));
        finish(EXIT.done);
      });
}
