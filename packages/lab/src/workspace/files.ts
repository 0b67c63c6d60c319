/** Small file helpers: a write that is whole or not at all, and one error for a full disk. */

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { EvolverError } from "@evolver/base";
import { GitError } from "./git.ts";

/**
 * Makes a folder and those that it is in, one by one: Node's recursive mkdir never ends where the system says that a folder is
 * missing although its parent exists, as in /proc.
 */
export function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !existsSync(path)) throw error;
  }
}

/** Writes to `draft`, to disk, and then moves it to `path`; both are on one file system. */
export function writeWhole(path: string, draft: string, data: string | Uint8Array): void {
  writeDurably(draft, data);
  makeFolder(dirname(path));
  renameSync(draft, path);
}

/** Writes a file and waits until the disk has it. */
export function writeDurably(path: string, data: string | Uint8Array): void {
  makeFolder(dirname(path));
  const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : data;
  const file = openSync(path, "w");
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** What the system says where a file or folder may not be written. */
const REFUSED = [
  "EACCES",
  "EPERM",
  "EROFS",
  "ENOENT",
  "ENOTDIR",
  "EEXIST",
  "ENAMETOOLONG",
  "ELOOP",
  "EINVAL",
];

/**
 * Gives an error that people can act on for a full disk (also one that git reports), a folder that may not be written, and a
 * missing git.
 */
export function explainFailure(error: unknown, workspace: string): unknown {
  if (error instanceof EvolverError) return error;
  const code = (error as NodeJS.ErrnoException | null)?.code ?? "";
  const text = error instanceof Error ? error.message : "";
  if (/spawn git ENOENT/.test(text) && existsSync(workspace))
    return new EvolverError("GIT_MISSING", "A workspace needs git, and there is no `git` command here.", {
      hint: "install git (apt-get install git) and run again",
      cause: error,
    });
  const full =
    ["ENOSPC", "EDQUOT", "EFBIG"].includes(code) ||
    /no space left on device|out of disk ?space|disk quota exceeded|file too large/i.test(text);
  if (full)
    return new EvolverError("DISK_FULL", `There is no space left for workspace ${workspace}.`, {
      hint: "make space and run again: everything up to the last commit is there",
      cause: error,
    });
  const refused = REFUSED.includes(code) || /permission denied|read-only file system/i.test(text);
  if (error instanceof GitError && !refused)
    return new EvolverError("GIT_FAILED", `Git failed in workspace ${workspace}: ${text}`, {
      hint: `git -C ${workspace} fsck says what is damaged: bring .git back from a clone or a backup, or use another workspace with --workspace DIR`,
      cause: error,
    });
  if (!refused) return error;
  return new EvolverError("OUTPUT_NOT_WRITTEN", `Workspace ${workspace} cannot be written: ${text}`, {
    hint: "name a folder that may be written with --workspace DIR, or change its permissions; nothing that was recorded is lost",
    cause: error,
  });
}
