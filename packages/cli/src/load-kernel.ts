/** Finds the kernels in a user's TypeScript file, named `file.ts` or `file.ts#export`. */

import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { EvolverError } from "@evolver/base";
import type { SourceLocation } from "@evolver/base";
import { Kernel, siteOfThrown } from "@evolver/kernel";

export interface NamedKernel {
  readonly exportName: string;
  readonly kernel: Kernel;
}

/**
 * @returns the kernel that is named, or all that the file exports, at least one
 * @throws EvolverError FILE_NOT_FOUND, FILE_NOT_LOADED, EXPORT_NOT_FOUND, NOT_A_KERNEL, NO_KERNEL
 */
export async function loadKernels(target: string): Promise<readonly NamedKernel[]> {
  const [file = "", exportName] = splitTarget(target);
  const path = resolve(file);
  if (!existsSync(path) || !statSync(path).isFile()) {
    throw new EvolverError("FILE_NOT_FOUND", `there is no file ${path}`, {
      hint: "give the path of a TypeScript file that exports a kernel, such as kernels.ts#saxpy",
    });
  }
  const module = await importFile(path);
  if (exportName !== undefined) return [{ exportName, kernel: pick(module, exportName, path) }];
  const kernels = Object.entries(module).flatMap(([name, value]) =>
    value instanceof Kernel ? [{ exportName: name, kernel: value as Kernel }] : [],
  );
  if (kernels.length > 0) return kernels;
  throw new EvolverError("NO_KERNEL", `${path} exports no kernel`, {
    hint: 'write `export const name = kernel("name", …)` with kernel from @evolver/kernel',
  });
}

/** The path of the file of `file.ts#export`. */
export const fileOf = (target: string): string => resolve(splitTarget(target)[0]);

function splitTarget(target: string): [string, string?] {
  const at = target.lastIndexOf("#");
  return at < 0 ? [target] : [target.slice(0, at), target.slice(at + 1)];
}

async function importFile(path: string): Promise<Record<string, unknown>> {
  logToStderr();
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof EvolverError) throw error;
    const what = error instanceof Error ? error.message : String(error);
    throw new EvolverError("FILE_NOT_LOADED", `${path} could not be loaded: ${what}`, {
      where: placeOf(error),
      hint: "the file must run under Node directly: types are stripped, enums and namespaces are not supported",
      cause: error,
    });
  }
}

const OWN_FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** Standard output is only for the answer, so whatever the file or a kernel's body prints goes to standard error. */
function logToStderr(): void {
  console.log = console.info = console.debug = console.error;
}

/** Of a syntax error, the line that Node's report begins with; else where the file's code was when it threw. */
function placeOf(error: unknown): SourceLocation[] {
  if (!(error instanceof Error)) return [];
  const [, file, line] = /^(\/.*):(\d+)\n/.exec(error.stack ?? "") ?? [];
  if (file !== undefined) return [{ file, line: Number(line), column: 1 }];
  const { location } = siteOfThrown(error);
  return location.line > 0 && !location.file.startsWith(OWN_FOLDER) ? [location] : [];
}

function pick(module: Record<string, unknown>, name: string, path: string): Kernel {
  const value = module[name];
  if (value instanceof Kernel) return value as Kernel;
  const exported = Object.keys(module).join(", ") || "nothing";
  throw value === undefined
    ? new EvolverError("EXPORT_NOT_FOUND", `${path} has no export "${name}"`, {
        hint: `it exports ${exported}`,
      })
    : new EvolverError("NOT_A_KERNEL", `the export "${name}" of ${path} is not a kernel`, {
        hint: "name an export made with kernel(…) of this @evolver/kernel",
      });
}
