/** `evolver guide`: a learner's guide to a ladder, as Markdown with pictures. */

import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { EvolverError } from "@evolver/kernel";
import { findStudy, type Guide } from "@evolver/studies";
import { EXIT, printJson, printText } from "../output.ts";
import { openProgress } from "../progress.ts";

export interface GuideCommandOptions {
  /** A folder; by default the repository's own, where there is one. */
  readonly evidence?: string;
  /** Standard output if absent, and then without the pictures. */
  readonly output?: string;
  readonly json: boolean;
}

const DEFAULT_EVIDENCE = join("evidence", "h200");

export async function guide(name: string, { evidence, output, json }: GuideCommandOptions): Promise<number> {
  const study = findStudy(name);
  const folder = output === undefined ? "ladder" : basename(output, extname(output));
  if (output !== undefined && folder === basename(output))
    throw new EvolverError("OUTPUT_NOT_WRITTEN", `${output} is no name for a Markdown file`, {
      hint: "name it such as ladder.md; the pictures go to the folder ladder/ beside it",
    });
  const progress = openProgress();
  try {
    const made = await study.guide({
      evidence: evidence ?? (existsSync(DEFAULT_EVIDENCE) ? DEFAULT_EVIDENCE : null),
      pictures: folder,
      onRung: (id, done, total) => progress.step(done, total, id),
    });
    progress.end();
    const files = output === undefined ? [] : await write(output, join(dirname(output), folder), made);
    if (json) printJson({ study: name, files, ...made, pictures: Object.fromEntries(made.pictures) });
    else if (output === undefined) printText(made.markdown);
    else
      process.stderr.write(
        `${output}, and ${made.pictures.size} pictures in ${join(dirname(output), folder)}\n`,
      );
    return EXIT.done;
  } finally {
    progress.end();
  }
}

async function write(output: string, folder: string, { markdown, pictures }: Guide): Promise<string[]> {
  const files: readonly (readonly [string, string])[] = [
    [output, markdown],
    ...[...pictures].map(([file, svg]) => [join(folder, file), svg] as const),
  ];
  try {
    await mkdir(folder, { recursive: true });
    for (const [path, content] of files) await writeFile(path, content);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new EvolverError("OUTPUT_NOT_WRITTEN", `${output} cannot be written: ${what}`, {
      hint: "name a file in a folder that may be written",
      cause: error,
    });
  }
  return files.map(([path]) => path);
}
