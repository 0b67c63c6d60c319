/** Checks of text that need no parser: files that are too long, and words that mark unfinished work. */

import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import type { Problem } from "../problem.ts";

/** Lines that a file of a package's `src` may have; tools/check/long-files.json lists exceptions with their reasons. */
const LONGEST_FILE = 400;

const LONG_FILES = "tools/check/long-files.json";
const SOURCE = "packages/*/src/**/*.{ts,tsx,js}";
const TEXTS = [
  "packages/*/{src,test,bench,bin}/**/*.{ts,tsx,js,html,css,md}",
  "{tools,test,examples}/**/*.{ts,tsx,js}",
  "docs/**/*.md",
  "*.{md,ts}",
  ".ci/run",
];

/** Each with a class of one letter, so that this file does not contain what it looks for. */
const BANNED = /\b(?:TO[D]O|FIX[M]E|X[X]X)\b/;

export function findLongFiles(root: string): Problem[] {
  const reasons = JSON.parse(readFileSync(join(root, LONG_FILES), "utf8")) as Record<string, string>;
  const problems: Problem[] = [];
  const long = new Set<string>();
  for (const path of list(root, [SOURCE])) {
    const text = readFileSync(join(root, path), "utf8");
    const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
    if (lines <= LONGEST_FILE) continue;
    long.add(path);
    if (!reasons[path]) {
      const message = `${lines} lines, more than ${LONGEST_FILE}: split it, or give a reason in ${LONG_FILES}`;
      problems.push({ path, line: LONGEST_FILE + 1, message });
    }
  }
  for (const path of Object.keys(reasons)) {
    if (!long.has(path))
      problems.push({ path: LONG_FILES, line: 1, message: `${path} is not a long file (any more)` });
  }
  return problems;
}

export function findBannedWords(root: string): Problem[] {
  const problems: Problem[] = [];
  for (const path of list(root, TEXTS)) {
    for (const [index, line] of readFileSync(join(root, path), "utf8").split("\n").entries()) {
      const word = BANNED.exec(line)?.[0];
      if (word) problems.push({ path, line: index + 1, message: `"${word}": do it, or write down why not` });
    }
  }
  return problems;
}

function list(root: string, patterns: readonly string[]): string[] {
  const found = globSync([...patterns], { cwd: root, exclude: (name) => name === "node_modules" });
  return found.map((path) => path.split(sep).join("/")).toSorted();
}
