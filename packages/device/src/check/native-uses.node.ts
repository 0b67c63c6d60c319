/** Run-time values that a kernel's source uses as JavaScript values, as findings of `evolver check`. */

import { existsSync, statSync } from "node:fs";
import { visitNodes, type Kernel } from "@evolver/kernel";
import type { NativeUse } from "@evolver/kernel/lint";

/** What was found, and why nothing was looked for, or null. */
interface Looked {
  readonly uses: readonly NativeUse[];
  readonly problem: string | null;
}

const NOT_INSTALLED: readonly unknown[] = ["ERR_MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED"];

/**
 * What the linter finds in the files that the kernels come from. A fault of the compiler's interface, which is not stable
 * yet, leaves the rest of the check as it is.
 *
 * @param file the file that was named; helpers in others are found by the lines that the kernels record
 */
export async function nativeUsesOf(
  file: string,
  kernels: readonly Kernel[],
  subgroup: number,
): Promise<Looked> {
  const files = new Set([file]);
  for (const kernel of kernels) for (const found of filesOf(kernel, subgroup)) files.add(found);
  const own = [...files].filter((path) => existsSync(path) && !path.includes("/node_modules/"));
  const state = own.map((path) => `${path} ${statSync(path).mtimeMs}`).join("\n");
  const known = looked.get(state);
  if (known !== undefined) return known;
  const found = await look(own);
  looked.set(state, found);
  return found;
}

/** By the files and when they were written: tests of many kernels look at one file again and again. */
const looked = new Map<string, Looked>();

async function look(files: readonly string[]): Promise<Looked> {
  try {
    const { lintFiles } = await import("@evolver/kernel/lint");
    return { uses: lintFiles(files), problem: null };
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    return { uses: [], problem: NOT_INSTALLED.includes(code) ? "typescript 7 is not installed" : message };
  }
}

/** The uses in the kernel's own definition, and in helper functions beside it. */
export function usesIn(kernel: Kernel, uses: readonly NativeUse[]): readonly NativeUse[] {
  const { file, line } = kernel.site.location;
  return uses.filter((use) => use.kernel === null || (use.file === file && use.kernel.line === line));
}

function filesOf(kernel: Kernel, subgroup: number): ReadonlySet<string> {
  const files = new Set([kernel.site.location.file]);
  try {
    visitNodes(kernel.build({ subgroup }).body, ({ site }) => void files.add(site.location.file));
  } catch {
    // A kernel that does not build is a finding of its own.
  }
  return files;
}
