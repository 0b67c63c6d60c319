/** `evolver log`, `progress` and `tasks`: what is rendered in a workspace, and the records behind it. */

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { EvolverError } from "@evolver/base";
import { readRecords } from "@evolver/lab";
import { newCommand, type MakeCommand } from "../command.ts";
import { workspaceOption } from "../options.ts";
import { EXIT, printJson, printText } from "../output.ts";

export const logCommand = reader("log", "evolution_log.md", "what each cycle observed, tried and kept");
export const progressCommand = reader(
  "progress",
  "PROGRESS.md",
  "the champions so far, and how much faster each one was",
);
export const tasksCommand = reader("tasks", "TASKS.md", "what the last cycles suggest to try next");

function reader(name: string, file: string, what: string): MakeCommand {
  return ({ finish }) =>
    newCommand(name, `read the workspace: ${what}`)
      .addOption(workspaceOption("the workspace"))
      .action(async (options: { workspace: string; json: boolean }) =>
        finish(await readWorkspace(file, options)),
      );
}

async function readWorkspace(
  file: string,
  options: { readonly workspace: string; readonly json: boolean },
): Promise<number> {
  const folder = resolve(options.workspace);
  if (!existsSync(join(folder, "records"))) {
    throw new EvolverError("WORKSPACE_NOT_FOUND", `${folder} is not a workspace`, {
      hint: "run `evolver evolve STUDY` first, or name one with --workspace",
    });
  }
  if (options.json) printJson(await readRecords(folder));
  else printText(readFileSync(join(folder, file), "utf8"));
  return EXIT.done;
}
