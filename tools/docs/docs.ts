/**
 * `npm run docs`: writes real output into the documents: the generated blocks (minutes), the guide to the ladder and what
 * the commands of examples print (seconds).
 *
 *     node tools/docs/docs.ts [name ...]     only these generated blocks; "h200" for all that are made from evidence/h200,
 *                                         "api", "cli", "errors", "guide" and "examples" for the others
 */

import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filesTable, tasksTable } from "@evolver/tasks/study";
import { EVIDENCE_BLOCKS, evidenceBlocks, evidencePlots } from "@evolver/guide";
import { apiDocuments, hostApiBlocks } from "./api/markdown.ts";
import { errorTable } from "./errors.ts";
import {
  documents,
  isSameButCommits,
  replaceGenerated,
  replaceOutputs,
  runCommand,
  withExamples,
} from "./markdown.ts";

// What some blocks need alone is loaded for them alone: the reference is written in a second.
const root = join(import.meta.dirname, "..", "..");
const EVIDENCE = join(root, "evidence", "h200");
const WORKSPACE = "evolver-workspace";

/** Generated blocks by name, and the commands whose standard output they show. */
const GENERATED: Readonly<Record<string, string>> = {
  devices: "npx evolver devices",
  "main-job": `npx evolver evolve attention --workspace ${WORKSPACE}`,
  "own-kernel": `npx evolver evolve ${join(root, "examples", "tune", "softmax.ts")} --cycles 2 --workspace ${WORKSPACE}`,
  ladder: "npx evolver ladder attention",
};

/** Whole documents that a command writes, with their pictures. */
const WRITTEN: Readonly<Record<string, string>> = {
  guide: `evolver guide attention --evidence ${EVIDENCE} -o ${join(root, "docs", "ladder.md")}`,
};

/** All tables and charts of what was measured. */
const TABLES = "h200";

/** The documents in docs/api, and the lists of what they have in docs/host-api.md. */
const API = "api";

/** docs/cli.md. */
const CLI = "cli";

/** The blocks of docs/tasks.md. */
const TASKS: Readonly<Record<string, (folder: string) => string>> = { tasks: tasksTable, files: filesTable };

/** The table of docs/errors.md. */
const ERRORS = "errors";

const known = [
  API,
  CLI,
  ERRORS,
  TABLES,
  ...EVIDENCE_BLOCKS,
  ...Object.keys(TASKS),
  ...Object.keys(GENERATED),
  ...Object.keys(WRITTEN),
  "examples",
];
if (process.argv.some((argument) => ["--help", "-h"].includes(argument))) {
  console.log(`Usage: npx node tools/docs/docs.ts [BLOCK...]

Writes the generated blocks and pages of the documents anew; all of them where none is named.
Blocks: ${known.join(", ")}

  -h, --help  show this, and write nothing`);
  process.exit(0);
}
const wanted = process.argv.length > 2 ? process.argv.slice(2) : known;
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`unknown block: ${unknown.join(", ")}; there are: ${known.join(", ")}`);
  process.exit(2);
}

if ([TABLES, ...EVIDENCE_BLOCKS].some((name) => wanted.includes(name))) {
  const { attentionEvidence } = await import("@evolver/attention/study");
  for (const [name, text] of evidenceBlocks(EVIDENCE, attentionEvidence)) {
    if (!wanted.includes(name) && !wanted.includes(TABLES)) continue;
    for (const path of documents()) update(path, (markdown) => replaceGenerated(markdown, name, text, false));
  }
}
for (const [name, make] of Object.entries(TASKS))
  if (wanted.includes(name) || wanted.includes(TABLES))
    update(join("docs", "tasks.md"), (markdown) => replaceGenerated(markdown, name, make(EVIDENCE), false));
if (wanted.includes(TABLES)) {
  const { attentionEvidence } = await import("@evolver/attention/study");
  const { plotSvg } = await import("@evolver/guide/charts");
  for (const [file, plot] of evidencePlots(EVIDENCE, attentionEvidence))
    update(join("evidence", "h200", file), () => plotSvg(plot));
}
if (wanted.includes(API)) {
  const pages = apiDocuments();
  for (const [file, text] of pages) update(join("docs", "api", file), () => text);
  for (const file of globSync("*.md", { cwd: join(root, "docs", "api") }))
    if (!pages.has(file)) rmSync(join(root, "docs", "api", file));
  for (const [name, text] of hostApiBlocks())
    update(join("docs", "host-api.md"), (markdown) => replaceGenerated(markdown, name, text, false));
}
if (wanted.includes(CLI)) {
  const { cliDocument } = await import("./cli.ts");
  const text = await cliDocument();
  update(join("docs", "cli.md"), () => text);
}
if (wanted.includes(ERRORS))
  update(join("docs", "errors.md"), (markdown) => replaceGenerated(markdown, ERRORS, errorTable(), false));
for (const [name, command] of Object.entries(GENERATED)) {
  if (!wanted.includes(name)) continue;
  if (!documents().some((path) => read(path).includes(`<!-- generated:${name} -->`))) continue;
  const output = inScratchFolder((folder) => outputOf(command, folder).replaceAll(`${folder}/`, ""));
  for (const path of documents()) {
    update(path, (markdown) => {
      const after = replaceGenerated(markdown, name, output);
      return isSameButCommits(markdown, after) ? markdown : after;
    });
  }
}
for (const [name, command] of Object.entries(WRITTEN))
  if (wanted.includes(name)) inScratchFolder((folder) => outputOf(command, folder));
if (wanted.includes("examples")) {
  for (const path of documents()) {
    update(path, (markdown) =>
      withExamples(markdown, (folder) => replaceOutputs(markdown, (command) => outputOf(command, folder))),
    );
  }
}

function read(path: string): string {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

function update(path: string, change: (markdown: string) => string): void {
  const before = read(path);
  const after = change(before);
  if (after === before) return;
  writeFileSync(join(root, path), after);
  console.log(`updated ${path}`);
}

function inScratchFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "evolver-docs-"));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function outputOf(command: string, folder: string): string {
  console.error(`$ ${command}`);
  const { status, stdout, stderr } = runCommand(command, folder);
  // A check that finds something says so by 1.
  if (status === 0 || (status === 1 && command.startsWith("npx evolver check "))) return stdout;
  throw new Error(`"${command}" exits ${status}:\n${stderr || stdout}`);
}
