/**
 * Reads all records of a workspace, and makes sure that they are whole: each is valid, and no cycle is missing. What is
 * damaged is named with the command that brings it back.
 */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { EvolverError } from "@evolver/base";
import { objectiveKey, parseRecord, type CycleRecord } from "./record.ts";

/** What makes a folder a workspace of ours, or what is left of one. */
export function hasOurFiles(root: string): boolean {
  return (
    existsSync(join(root, "policy.json")) ||
    existsSync(join(root, "skills", "README.md")) ||
    recordNames(root).some((name) => ULID_FILE.test(name))
  );
}

/** Whether commits have what is left of a workspace whose files are gone; other repositories are none of ours. */
const hadOurFiles = (root: string): boolean =>
  existsSync(join(root, ".git")) &&
  (git(root, ["log", "-1", "--format=%h", "--", "policy.json", "records/*.json"]) ?? "") !== "";

const ULID_FILE = /^[0-7][0-9A-HJKMNP-TV-Z]{25}\.json$/;

/** Oldest first. */
function recordNames(root: string): string[] {
  const folder = join(root, "records");
  if (!existsSync(folder)) return [];
  return namesIn(folder)
    .filter((name) => name.endsWith(".json"))
    .toSorted();
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw notReadable(folder, error);
  }
}

/** Where a folder cannot be looked into, it may well have a workspace. @throws EvolverError FILE_NOT_READABLE */
function wantReadable(root: string): void {
  try {
    readdirSync(root);
  } catch (error) {
    const missing = ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
    if (!missing) throw notReadable(root, error);
  }
}

/**
 * Reads the records of a workspace that need not be open.
 *
 * @throws EvolverError WORKSPACE_NOT_FOUND, FILE_NOT_READABLE, RECORD_CORRUPT, RECORD_MISSING
 */
export function readRecords(folder: string): CycleRecord[] {
  const root = resolve(folder);
  wantReadable(root);
  if (!hasOurFiles(root) && !hadOurFiles(root))
    throw new EvolverError("WORKSPACE_NOT_FOUND", `There is no workspace at ${root}.`, {
      hint: "run `npx evolver evolve <study>` first, or name another with --workspace DIR",
    });
  const names = recordNames(root);
  const records = names.map((name) => readRecord(root, name));
  checkCycles(root, records);
  checkCommitted(root, names);
  return records;
}

function readRecord(root: string, name: string): CycleRecord {
  const path = join(root, "records", name);
  const text = readOwn(path);
  const parse = (candidate: string, hint: string): CycleRecord => parseRecord(candidate, path, hint);
  try {
    return parse(text, "");
  } catch {
    return parse(
      text,
      restoring(root, `records/${name}`, (candidate) => parse(candidate, "")),
    );
  }
}

/** A file of the workspace. @throws EvolverError FILE_NOT_READABLE */
export function readOwn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw notReadable(path, error);
  }
}

function notReadable(path: string, error: unknown): EvolverError {
  const isFolder = (error as NodeJS.ErrnoException).code === "EISDIR";
  const why = isFolder ? "it is a folder" : error instanceof Error ? error.message : String(error);
  return new EvolverError("FILE_NOT_READABLE", `${path} cannot be read: ${why}`, {
    hint: isFolder ? "move it out of the workspace" : `change its permissions: chmod u+rX ${path}`,
    cause: error,
  });
}

/** How to get a good version of a damaged file back, if git has one. */
function restoring(root: string, file: string, parse: (text: string) => unknown): string {
  const isGood = (commit: string): boolean => {
    const text = git(root, ["show", `${commit}:${file}`]);
    if (text === null) return false;
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  };
  if (isGood("HEAD"))
    return `nothing was changed; bring the committed file back with: git -C ${root} restore ${file}`;
  const commits = git(root, ["log", "--format=%h", "--", file])?.split("\n").filter(Boolean) ?? [];
  const good = commits.find(isGood);
  return good === undefined
    ? `no commit of ${root} has a good version of it: copy it from a backup or a clone, or begin another workspace with --workspace DIR`
    : `the last commit has the damage too; bring an older version back with: git -C ${root} checkout ${good} -- ${file} && git -C ${root} commit -m "Restore a record" -- ${file}`;
}

/** What a git command prints; null if it fails. */
function git(root: string, args: readonly string[]): string | null {
  try {
    return execFileSync("git", ["-C", root, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return null;
  }
}

/** The newest records, or all, leave no gap when they are gone: the last commit still has them. @throws EvolverError RECORD_MISSING */
export function checkCommitted(root: string, names: readonly string[]): void {
  if (!existsSync(join(root, ".git"))) return;
  const there = new Set(names.map((name) => `records/${name}`));
  const committed = git(root, ["ls-tree", "--name-only", "HEAD", "records/"])?.split("\n") ?? [];
  const missing = committed.filter((file) => file.endsWith(".json") && !there.has(file));
  if (missing.length === 0) return;
  throw new EvolverError(
    "RECORD_MISSING",
    `In ${root}, ${missing.length} of ${there.size + missing.length} records are missing, such as ${missing[0] as string}.`,
    { hint: `nothing was changed; bring committed files back with: git -C ${root} restore records` },
  );
}

/**
 * Each objective begins with cycle 0 and leaves none out. Two clones may both have written a cycle of the same number before they
 * were merged.
 */
function checkCycles(root: string, records: readonly CycleRecord[]): void {
  const last = new Map<string, number>();
  for (const { objective, cycle, id } of records) {
    const key = objectiveKey(objective);
    const before = last.get(key) ?? -1;
    if (cycle > before + 1) {
      const [first, end] = [before + 1, cycle - 1];
      const missing = first === end ? `cycle ${first}` : `cycles ${first} to ${end}`;
      const deleted =
        git(root, ["log", "--diff-filter=D", "--format=%h", "-1", "--", "records"])?.trim() ?? "";
      throw new EvolverError(
        "RECORD_MISSING",
        `In ${join(root, "records")}, ${missing} of ${objective.study} (${objective.inputTitle}) ${first === end ? "is" : "are"} missing: before ${id} comes cycle ${cycle - 1}.`,
        {
          hint:
            deleted === ""
              ? `nothing was changed; bring committed files back with: git -C ${root} restore records`
              : `nothing was changed; commit ${deleted} deleted records: git -C ${root} checkout ${deleted}~1 -- records`,
        },
      );
    }
    last.set(key, Math.max(before, cycle));
  }
}
