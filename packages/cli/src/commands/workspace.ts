/** `evolver log`, `progress` and `tasks`: what is rendered in a workspace, and the records behind it. */

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { EvolverError } from "@evolver/base";
import { readRecords } from "@evolver/lab";
import { EXIT, printJson, printText } from "../output.ts";

export async function readWorkspace(
  file: string,
  options: { readonly workspace: string; readonly json: boolean },
): Promise<number> {
  const folder = resolve(options.workspace);
  if (!existsSync(join(folder, "records"))) {
    throw new EvolverError("WORKSPACE_NOT_FOUND", `${folder} is not a workspace`, {
      hint: "run `evolver evolve attention` first, or name one with --workspace",
    });
  }
  if (options.json) printJson(await readRecords(folder));
  else printText(readFileSync(join(folder, file), "utf8"));
  return EXIT.done;
}
