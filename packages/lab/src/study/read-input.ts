/** Files that users name: a clear error for each way in which one cannot be read, before anything waits for it. */

import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { EvolverError } from "@evolver/base";

/** What to say about a file that cannot be read. */
export interface ReadErrors {
  /** Whether a pipe will do too: what is read once, from the beginning. */
  readonly pipes?: boolean;
  /** Where there is no such file, or the name is not one of a file. */
  readonly code: string;
  /** What to give instead. */
  readonly hint: string;
}

/**
 * The bytes of a file, or of a pipe; not of folders, terminals and other devices, which may never end.
 *
 * @throws EvolverError the code that is given where there is no such file, FILE_NOT_READABLE where it is there
 */
export async function readInput(path: string, errors: ReadErrors): Promise<Uint8Array> {
  await checkReadable(path, { ...errors, pipes: true });
  try {
    return await readFile(path);
  } catch (error) {
    throw unreadable(path, error, errors);
  }
}

/** Whether it can be read, without reading it. @throws EvolverError as `readInput` */
export async function checkReadable(path: string, errors: ReadErrors): Promise<void> {
  const { code, hint, pipes = false } = errors;
  if (path.trim() === "") throw new EvolverError(code, "the name of the file is empty", { hint });
  const shown = resolve(path);
  if (path.includes("\0"))
    throw new EvolverError(code, `${JSON.stringify(path)} is no name of a file`, { hint });
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new EvolverError(code, `${shown} is a folder, not a file`, { hint });
    if (found.isFIFO() && !pipes) throw new EvolverError(code, `${shown} is a pipe, not a file`, { hint });
    if (!found.isFile() && !found.isFIFO())
      throw new EvolverError(code, `${shown} is a device, not a file`, { hint });
    await access(path, constants.R_OK);
  } catch (error) {
    throw error instanceof EvolverError ? error : unreadable(path, error, errors);
  }
}

/** By the system's codes. */
const WHY: Readonly<Record<string, string>> = {
  EACCES: "its permissions do not let you read it",
  EPERM: "its permissions do not let you read it",
  ELOOP: "it is a link that leads back to itself",
  ENAMETOOLONG: "the name is too long",
  ERR_FS_FILE_TOO_LARGE: "it has more than 2 GiB",
};

function unreadable(path: string, cause: unknown, { code, hint }: ReadErrors): EvolverError {
  const shown = resolve(path);
  const { code: reason = "", message } = cause as NodeJS.ErrnoException;
  if (reason === "ENOENT" || reason === "ENOTDIR")
    return new EvolverError(code, `there is no file ${shown}`, { hint, cause });
  return new EvolverError("FILE_NOT_READABLE", `${shown} cannot be read: ${WHY[reason] ?? message}`, {
    hint: reason === "EACCES" || reason === "EPERM" ? `allow it: chmod +r ${shown}` : hint,
    cause,
  });
}
