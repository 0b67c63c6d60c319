/**
 * The parts of our documents that are not prose.
 *
 * - A `ts` block is a file: its first line is a comment with its name. All blocks of a document lie in one folder.
 * - A `text $ command` block is what the command prints in that folder.
 * - What stands between `<!-- generated:name -->` and `<!-- /generated:name -->` is written by `npm run docs`.
 */

import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";

export interface CodeBlock {
  /** What follows the opening fence: `ts`, `text $ node a.ts`. */
  readonly info: string;
  /** Ends with a line break, unless empty. */
  readonly text: string;
  /** Of the opening fence, 1-based. */
  readonly line: number;
}

const root = join(import.meta.dirname, "..", "..");

/** A path that exists on one machine only. */
export const MACHINE_PATH = /(?<![\w.~$:/-])\/(?:work|home|root|tmp|Users)\/[\w.-]+/;

/** The documents whose code is checked, as paths from the root. */
export function documents(): string[] {
  return globSync(["*.md", "docs/**/*.md", "examples/*.md", "packages/*/README.md"], {
    cwd: root,
  }).toSorted();
}

const FENCED = /^```([^\n`]*)\n([\s\S]*?)^```$/gm;

export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(FENCED)].map((match) => ({
    info: (match[1] as string).trim(),
    text: match[2] as string,
    line: markdown.slice(0, match.index).split("\n").length,
  }));
}

/** The files of a document by name. Throws on a `ts` block without a name. */
export function exampleFiles(markdown: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const { info, text, line } of codeBlocks(markdown)) {
    if (info !== "ts") continue;
    const name = /^\/\/ ([\w.-]+\.ts)\n/.exec(text)?.[1];
    if (name === undefined)
      throw new Error(`line ${line}: a ts block starts with a comment that names its file`);
    if (files.has(name)) throw new Error(`line ${line}: there are two files named ${name}`);
    files.set(name, text);
  }
  return files;
}

/** The command of a block that shows output, else null. */
export function commandOf({ info }: CodeBlock): string | null {
  return /^text \$ (.+)$/.exec(info)?.[1] ?? null;
}

/** Replaces what the blocks of a document's commands show by what `run` gives for each. */
export function replaceOutputs(markdown: string, run: (command: string) => string): string {
  return markdown.replace(FENCED, (whole, info: string, text: string) => {
    const command = commandOf({ info: info.trim(), text, line: 0 });
    return command === null ? whole : `\`\`\`${info}\n${run(command)}\`\`\``;
  });
}

/** Replaces the generated blocks of one name; other blocks stay as they are. */
export function replaceGenerated(markdown: string, name: string, output: string, fenced = true): string {
  const marked = new RegExp(`(<!-- generated:${name} -->\\n)[\\s\\S]*?(<!-- /generated:${name} -->)`, "g");
  return markdown.replace(marked, (_, open: string, close: string) => {
    const body = fenced ? `\`\`\`text\n${output.trimEnd()}\n\`\`\`` : output.trimEnd();
    return `${open}\n${body}\n\n${close}`;
  });
}

/** Whether two texts differ at most in the names of commits, which depend on when the commits were made. */
export function isSameButCommits(one: string, other: string): boolean {
  const masked = (text: string): string => text.replaceAll(/\b[0-9a-f]{8}\b/g, "commit");
  return masked(one) === masked(other);
}

/**
 * Calls `use` with a folder that holds a document's files; it lies in the root, so that packages are found, and is
 * removed afterwards.
 */
export function withExamples<T>(markdown: string, use: (folder: string) => T): T {
  const folder = mkdtempSync(join(root, ".docs-"));
  try {
    for (const [name, text] of exampleFiles(markdown)) writeFileSync(join(folder, name), text);
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of a document: words without quotes; `npx` means what is installed here. */
export function runCommand(command: string, folder: string): CommandResult {
  const [program, ...args] = command.replace(/^npx /, "").split(" ");
  const path = `${join(root, "node_modules", ".bin")}${delimiter}${process.env["PATH"] ?? ""}`;
  const result = spawnSync(program as string, args, {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, PATH: path, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 2 ** 26,
  });
  if (result.error) throw new Error(`cannot run "${command}": ${result.error.message}`);
  return result;
}
