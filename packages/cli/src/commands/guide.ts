/** `evolver guide`: a learner's guide to a ladder, as Markdown with pictures and a page of questions. */

import type { Guide } from "@evolver/lab";
import { existsSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { EvolverError } from "@evolver/base";
import { studyNames } from "@evolver/studies";
import { newCommand, type MakeCommand } from "../command.ts";
import { EXIT, printJson, printText } from "../output.ts";
import { checkFile, checkFolder, writeOutput } from "../output-files.ts";
import { openProgress } from "../progress.ts";
import { studyWith } from "../study-options.ts";

interface GuideFlags {
  /** A folder; by default the repository's own, where there is one. */
  readonly evidence?: string;
  /** Standard output if absent, and then without pictures and questions. */
  readonly output?: string;
  readonly json: boolean;
}

const DEFAULT_EVIDENCE = join("evidence", "h200");

export const guideCommand: MakeCommand = ({ finish }) =>
  newCommand(
    "guide",
    "write a guide to a study's ladder: every rung with its picture, code, counters, times and questions",
  )
    .option("--evidence <dir>", "measured times and counters (default: evidence/h200, if it is there)")
    .option(
      "-o, --output <file>",
      "write to this file, and the pictures and questions to a folder of its name beside it",
    )
    .argument("<study>", studyNames.join(", "))
    .action(async (study: string, flags: GuideFlags) => finish(await guide(study, flags)));

async function guide(name: string, flags: GuideFlags): Promise<number> {
  const { evidence, output, json } = flags;
  const study = await studyWith(name, "guide");
  const folder = output === undefined ? "ladder" : basename(output, extname(output));
  if (output !== undefined && folder === basename(output))
    throw new EvolverError("OUTPUT_NOT_WRITTEN", `${output} is not a name for a Markdown file`, {
      hint: "name it such as ladder.md; pictures and questions go to the folder ladder/ beside it",
    });
  if (output !== undefined) {
    await checkFile(output);
    await checkFolder(join(dirname(output), folder), /\.(?:svg|md)$/);
  }
  if (evidence !== undefined && !isFolder(evidence))
    throw new EvolverError("EVIDENCE_NOT_FOUND", `there is no folder ${evidence}`, {
      hint: "name a folder with evidence, such as evidence/h200, or leave --evidence out",
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
    if (json)
      printJson({
        study: name,
        files,
        markdown: made.markdown,
        pictures: Object.fromEntries(made.pictures),
        pages: Object.fromEntries(made.pages),
      });
    else if (output === undefined) printText(made.markdown);
    else
      process.stderr.write(`${output}, and ${files.length - 1} files in ${join(dirname(output), folder)}\n`);
    return EXIT.done;
  } finally {
    progress.end();
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The document last: where it is, its pictures are. */
async function write(
  output: string,
  folder: string,
  { markdown, pictures, pages }: Guide,
): Promise<string[]> {
  const files = [...pictures, ...pages].map(([file, text]) => [join(folder, file), text] as const);
  for (const [path, content] of files) await writeOutput(path, content);
  await writeOutput(output, markdown);
  return [output, ...files.map(([path]) => path)];
}
