/** The files that `evolver check` is given: patterns become names, and each file's kernels are loaded. */

import { existsSync } from "node:fs";
import { EvolverError } from "@evolver/base";
import type { Kernel } from "@evolver/kernel";
import { fileOf, loadKernels, type NamedKernel } from "@evolver/lab";
import { glob, isDynamicPattern } from "tinyglobby";

/** A file with kernels. */
interface LoadedTarget {
  readonly file: string;
  readonly kernels: readonly NamedKernel[];
}

/** A file that could not be loaded. */
export interface FailedTarget {
  readonly file: string;
  readonly error: EvolverError;
}

export interface LoadedTargets {
  /** Whether more than one file was given. */
  readonly several: boolean;
  readonly loaded: readonly LoadedTarget[];
  readonly failed: readonly FailedTarget[];
  /** Files that export no kernel. */
  readonly without: readonly string[];
}

/**
 * The names of files, with `#export` where one was given, once each.
 *
 * @throws EvolverError NO_FILE_MATCHES, where a pattern matches none, or only tests and declarations
 */
export async function expandTargets(given: readonly string[]): Promise<readonly string[]> {
  const names: string[] = [];
  for (const each of given) {
    if (!isDynamicPattern(each) || existsSync(fileOf(each))) {
      names.push(each);
      continue;
    }
    const found = (await glob(each, { ignore: ["**/node_modules/**"] })).filter((name) => SOURCE.test(name));
    if (found.length === 0)
      throw new EvolverError("NO_FILE_MATCHES", `no TypeScript file matches ${each}`, {
        hint: "patterns are read from the current folder; node_modules is left out",
      });
    names.push(...found.toSorted());
  }
  const once = [...new Set(names)];
  if (once.length === 1) return once;
  const kept = once.filter((name) => !NO_KERNELS.test(name));
  if (kept.length > 0) return kept;
  throw new EvolverError("NO_FILE_MATCHES", `the ${once.length} files are tests and declarations only`, {
    hint: "give a test alone to check the kernels that it exports",
  });
}

const SOURCE = /\.[cm]?[jt]s$/;

/** Of several files, these are left out: they have no kernels, and tests do not run outside of their runner. */
const NO_KERNELS = /\.(?:d|test|spec)\.[cm]?[jt]s$/;

/**
 * Loads files one after another. Of several, one that cannot be loaded and one without kernels do not keep the others
 * from being checked; a kernel that several export is checked once.
 *
 * @param names as `expandTargets` gives them
 * @throws EvolverError what `loadKernels` throws, for a single file; NO_KERNEL where none of several has one
 */
export async function loadTargets(names: readonly string[]): Promise<LoadedTargets> {
  const several = names.length > 1;
  if (!several) {
    const [name = ""] = names;
    return {
      several,
      loaded: [{ file: fileOf(name), kernels: await loadKernels(name) }],
      failed: [],
      without: [],
    };
  }
  const loaded: LoadedTarget[] = [];
  const failed: FailedTarget[] = [];
  const without: string[] = [];
  const seen = new Set<Kernel>();
  for (const name of names) {
    const file = fileOf(name);
    try {
      const kernels = (await loadKernels(name)).filter(({ kernel }) => !seen.has(kernel));
      for (const { kernel } of kernels) seen.add(kernel);
      if (kernels.length > 0) loaded.push({ file, kernels });
    } catch (error) {
      if (!(error instanceof EvolverError)) throw error;
      if (error.code === "NO_KERNEL") without.push(file);
      else failed.push({ file, error });
    }
  }
  if (loaded.length > 0 || failed.length > 0) return { several, loaded, failed, without };
  throw new EvolverError("NO_KERNEL", `none of the ${names.length} files exports a kernel`, {
    hint: 'write `export const name = kernel("name", …)` with kernel from @evolver/kernel',
  });
}
