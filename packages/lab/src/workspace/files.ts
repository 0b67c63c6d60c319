/** Small file helpers: a write that is whole or not at all, and one error for a full disk. */

import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { EvolverError } from "@evolver/base";

/** Writes to `draft`, to disk, and then moves it to `path`; both are on one file system. */
export function writeWhole(path: string, draft: string, data: string | Uint8Array): void {
  writeDurably(draft, data);
  mkdirSync(dirname(path), { recursive: true });
  renameSync(draft, path);
}

/** Writes a file and waits until the disk has it. */
export function writeDurably(path: string, data: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : data;
  const file = openSync(path, "w");
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Gives an error that people can act on for a full disk (also one that git reports) and for a missing git. */
export function explainFailure(error: unknown, workspace: string): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? "";
  const text = error instanceof Error ? error.message : "";
  const full =
    ["ENOSPC", "EDQUOT", "EFBIG"].includes(code) ||
    /no space left on device|out of disk ?space|disk quota exceeded|file too large/i.test(text);
  if (/spawn git ENOENT/.test(text))
    return new EvolverError("GIT_MISSING", "A workspace needs git, and there is no `git` command here.", {
      hint: "install git (apt-get install git) and run again",
      cause: error,
    });
  if (!full) return error;
  return new EvolverError("DISK_FULL", `There is no space left for workspace ${workspace}.`, {
    hint: "make space and run again: everything up to the last commit is there",
    cause: error,
  });
}
