/**
 * Files and folders that a command writes. Whether they can be written is checked before the work, so that no result is lost.
 * Each file is written completely or not at all. Folders are made one by one, because Node's recursive mkdir never ends where
 * the system says that a folder is missing although its parent exists, as in /proc.
 */

import type { Stats } from "node:fs";
import { access, constants, mkdir, open, readdir, realpath, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { EvolverError } from "@evolver/base";

/**
 * Leaves everything as it was.
 * @param inputs files that the command reads, which must not be lost
 * @throws EvolverError OUTPUT_NOT_WRITTEN unless a file can be written there
 */
export async function checkFile(path: string, inputs: readonly string[] = []): Promise<void> {
  await explained(path, async () => {
    if (path === "") throw new Error("the name is empty");
    if (/[/\\]$/.test(path)) throw new Error("it names a folder, not a file");
    const found = await statOf(resolve(path));
    if (found?.isDirectory() === true) throw new Error("it is a folder");
    for (const input of inputs)
      if (found !== null && isSame(found, await statOf(resolve(input))))
        throw new Error(`it is read by the command, as ${input}`);
    if (found === null) await tryFile(resolve(path));
    else await access(path, constants.W_OK);
  });
}

/**
 * Leaves everything as it was.
 * @param ours names that files to be written there may have
 * @throws EvolverError OUTPUT_NOT_WRITTEN unless files can be written there, of which some may exist already
 */
export async function checkFolder(path: string, ours: RegExp): Promise<void> {
  await explained(path, async () => {
    if (path === "") throw new Error("the name is empty");
    await tryFile(join(resolve(path), `.evolver-${process.pid}`));
  });
  if ((await statOf(resolve(path))) === null) return;
  const names = await explained(path, () => readdir(path));
  for (const name of names) if (ours.test(name)) await checkFile(join(path, name));
}

/**
 * For a workspace: it may be made, or it is a folder that may be written. Nothing is put into one that exists, since another
 * process may look for local changes there.
 * @throws EvolverError OUTPUT_NOT_WRITTEN
 */
export async function checkWorkspaceFolder(path: string): Promise<void> {
  await explained(path, async () => {
    if (path === "") throw new Error("the name is empty");
    const found = await statOf(resolve(path));
    if (found === null) return tryFile(join(resolve(path), `.evolver-${process.pid}`));
    if (!found.isDirectory()) throw new Error("it is not a folder");
    await access(path, constants.W_OK);
  });
}

/** Makes the folders too. @throws EvolverError OUTPUT_NOT_WRITTEN, with no part of that file written */
export async function writeOutput(path: string, text: string): Promise<void> {
  await explained(path, async () => {
    await makeFolders(dirname(resolve(path)));
    await writeWhole(resolve(path), text);
  });
}

async function writeWhole(path: string, text: string): Promise<void> {
  const found = await statOf(path);
  const target = found === null ? path : await realpath(path);
  const draft = `${target}.${process.pid}.part`;
  // Pipes and terminals are written directly, and so are files in a folder that may not be changed.
  const direct = found !== null && (!found.isFile() || !(await isWritable(dirname(target))));
  if (direct) return writeTo(target, text);
  try {
    await writeTo(draft, text, found?.mode);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function writeTo(path: string, text: string, mode?: number): Promise<void> {
  const handle = await open(path, "w", mode);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

/** Under whichever names. Devices such as /dev/null lose nothing. */
const isSame = (one: Stats, other: Stats | null): boolean =>
  one.isFile() && one.dev === other?.dev && one.ino === other.ino;

/** Makes a file that does not exist, with the folders that it needs, and then removes all of them again. */
async function tryFile(path: string): Promise<void> {
  const made: string[] = [];
  try {
    made.push(...(await makeFolders(dirname(path))));
    await (await open(path, "wx")).close();
    await rm(path);
  } finally {
    // A folder that another process has put a file into stays.
    for (const folder of made.toReversed()) await rmdir(folder).catch(() => {});
  }
}

/** Returns the folders that it made, the outermost first; if it fails, it has made none. */
async function makeFolders(path: string): Promise<string[]> {
  const missing: string[] = [];
  let nearest = path;
  let found = await statOf(nearest);
  while (found === null && dirname(nearest) !== nearest) {
    missing.unshift(nearest);
    nearest = dirname(nearest);
    found = await statOf(nearest);
  }
  if (found?.isDirectory() !== true) throw new Error(`${nearest} is not a folder`);
  const made: string[] = [];
  try {
    for (const folder of missing) if (await makeFolder(folder)) made.push(folder);
    return made;
  } catch (error) {
    for (const folder of made.toReversed()) await rmdir(folder).catch(() => {});
    throw error;
  }
}

/** False if another process made it first. */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if ((await statOf(path))?.isDirectory() === true) return false;
    throw error;
  }
}

/** Null where there is nothing; what is below a file is not there either. */
async function statOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

async function explained<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new EvolverError("OUTPUT_NOT_WRITTEN", `${path} cannot be written: ${what}`, {
      hint: "name another, in a folder that may be written",
      cause: error,
    });
  }
}
