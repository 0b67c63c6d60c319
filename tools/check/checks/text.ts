/** Checks of text that need no parser: files that are too long, words that mark unfinished work, and rates without "per". */

import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import type { Problem } from "../problem.ts";

/** Lines that a file of a package's `src` may have; tools/check/long-files.json lists exceptions with their reasons. */
const LONGEST_FILE = 400;

const LONG_FILES = "tools/check/long-files.json";
const SOURCE = "packages/*/src/**/*.{ts,tsx,js}";
const TEXTS = [
  "packages/*/*.md",
  "packages/*/{src,test,bench,bin,conformance}/**/*.{ts,tsx,js,html,css,md}",
  "{tools,test,examples}/**/*.{ts,tsx,js,html}",
  "docs/**/*.md",
  "*.{md,ts}",
  ".ci/run",
];

/** Each with a class of one letter, so that this file does not contain what it looks for. */
const BANNED = /\b(?:TO[D]O|FIX[M]E|X[X]X)\b/;

/** What something can be counted per. */
const PER =
  "workgroup|lane|subgroup|invocation|tile|row|column|key|head|query|second|minute|hour|day|launch|rung|multiprocessor|" +
  "pass|cycle|step|thread|warp|block|sector|byte|word|line|core|trial|iteration|element|slot|bank|access|entry|record|kernel";

/** Units, which are not followed by "a" and a noun of the above in any other sense. */
const UNIT =
  "[KMGT]i?B|kB|[Bb]ytes|bits|µs|ms|ns|seconds|minutes|hours|[TGM]?FLOPs?|barriers|sectors|instructions|once|twice|[0-9] times";

/** Things that are counted, which need a number before them to be a rate. */
const COUNTED =
  "barrier|row|key|line|workgroup|division|multiplication|addition|request|load|store|write|shuffle|kernel|trial|record|" +
  "file|commit|command|value|column|copy|copie|element|register|thread|tile|word|byte|lane|operation|slot|entry|entrie|pass|passe|launch|launche";

const SEVERAL = "[0-9][0-9,.]*|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]even|[Ee]ight|[Nn]ine|[Tt]en";

/** Rates are written with "per", as in "32 KiB per workgroup" and "two barriers per tile", and not with "a". */
const RATE = new RegExp(
  `\\b(?:(?:${UNIT})|(?:1|[Oo]ne) (?:\\w+ )?(?:${COUNTED})|(?:${SEVERAL}) (?:\\w+ )?(?:${COUNTED})s) an? (?:${PER})\\b(?! that| of the)`,
);

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
  return linesWith(root, BANNED, (word) => `"${word}": do it, or write down why not`);
}

export function findRates(root: string): Problem[] {
  return linesWith(root, RATE, (rate) => `"${rate}": write "per" for a rate`);
}

function linesWith(root: string, pattern: RegExp, message: (found: string) => string): Problem[] {
  const problems: Problem[] = [];
  for (const path of list(root, TEXTS)) {
    for (const [index, line] of readFileSync(join(root, path), "utf8").split("\n").entries()) {
      const found = pattern.exec(line)?.[0];
      if (found !== undefined) problems.push({ path, line: index + 1, message: message(found) });
    }
  }
  return problems;
}

function list(root: string, patterns: readonly string[]): string[] {
  const found = globSync([...patterns], { cwd: root, exclude: (name) => name === "node_modules" });
  return found.map((path) => path.split(sep).join("/")).toSorted();
}
