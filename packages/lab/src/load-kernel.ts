/** Finds the kernels in a user's TypeScript file, named `file.ts` or `file.ts#export`. */

import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { EvolverError } from "@evolver/base";
import type { SourceLocation } from "@evolver/base";
import { Kernel, siteOfThrown } from "@evolver/kernel";
import { checkReadable } from "./study/read-input.ts";

/** A kernel and the name that its file exports it under. */
export interface NamedKernel {
  readonly exportName: string;
  readonly kernel: Kernel;
}

/** A file that was loaded, or is being loaded now. */
interface LoadedFile {
  readonly path: string;
  readonly waiting: boolean;
}

let last: LoadedFile | null = null;

/** The file that this process loaded last. */
export const loadedFile = (): LoadedFile | null => last;

/**
 * What a file exports, by name: all of it, or what is named.
 *
 * @param target "file.ts" or "file.ts#export"
 * @throws EvolverError FILE_NOT_FOUND, FILE_NOT_READABLE, FILE_NOT_LOADED, EXPORT_NOT_FOUND
 */
export async function loadExports(target: string): Promise<readonly (readonly [string, unknown])[]> {
  const [file = "", exportName] = splitTarget(target);
  const path = resolve(file);
  await checkReadable(file, {
    code: "FILE_NOT_FOUND",
    hint: "give the path of a TypeScript file that exports a kernel, such as kernels.ts#saxpy",
  });
  const module = await importFile(path);
  if (exportName === undefined) return Object.entries(module);
  if (module[exportName] !== undefined) return [[exportName, module[exportName]]];
  throw new EvolverError("EXPORT_NOT_FOUND", `${path} has no export "${exportName}"`, {
    hint: `it exports ${Object.keys(module).join(", ") || "nothing"}`,
  });
}

/**
 * @returns the kernel that is named, or all that the file exports, at least one
 * @throws EvolverError what `loadExports` throws, NOT_A_KERNEL, NO_KERNEL
 */
export async function loadKernels(target: string): Promise<readonly NamedKernel[]> {
  const [, wanted] = splitTarget(target);
  const exports = await loadExports(target);
  const kernels = exports.flatMap(([exportName, value]) =>
    value instanceof Kernel ? [{ exportName, kernel: value as Kernel }] : [],
  );
  if (kernels.length > 0) return kernels;
  const path = fileOf(target);
  if (wanted !== undefined)
    throw new EvolverError("NOT_A_KERNEL", `the export "${wanted}" of ${path} is not a kernel`, {
      hint: "name an export made with kernel(…) of this @evolver/kernel",
    });
  throw new EvolverError("NO_KERNEL", `${path} exports no kernel`, {
    hint: 'write `export const name = kernel("name", …)` with kernel from @evolver/kernel',
  });
}

/** The path of the file of `file.ts#export`. */
export const fileOf = (target: string): string => resolve(splitTarget(target)[0]);

function splitTarget(target: string): [string, string?] {
  const at = target.lastIndexOf("#");
  // A name may have the mark too.
  return at < 0 || existsSync(target) ? [target] : [target.slice(0, at), target.slice(at + 1)];
}

async function importFile(path: string): Promise<Record<string, unknown>> {
  logToStderr();
  last = { path, waiting: true };
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof EvolverError) throw error;
    const what = error instanceof Error ? error.message : `it threw ${String(error)}`;
    throw new EvolverError("FILE_NOT_LOADED", `${path} could not be loaded: ${what}`, {
      where: placeOf(error),
      hint: adviceOn(error),
      cause: error,
    });
  } finally {
    last = { path, waiting: false };
  }
}

/** By Node's codes. */
const ADVICE: Readonly<Record<string, string>> = {
  ERR_INVALID_TYPESCRIPT_SYNTAX: "correct the line; an editor that knows TypeScript shows the same",
  ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX:
    "Node runs the file directly and only removes its types: write it without enums, namespaces and parameter properties",
  ERR_MODULE_NOT_FOUND:
    "correct the import, with the whole name of the file (./part.ts), or install the package beside the file",
  // The same in Node 20.
  ERR_IMPORT_ASSERTION_TYPE_MISSING: "give a TypeScript file that exports a kernel",
  ERR_IMPORT_ATTRIBUTE_MISSING: "give a TypeScript file that exports a kernel",
  ERR_UNKNOWN_FILE_EXTENSION: "name the file .ts, .mts, .js or .mjs",
  ERR_REQUIRE_ASYNC_MODULE: "use import instead of require",
};

function adviceOn(error: unknown): string {
  const known = ADVICE[(error as NodeJS.ErrnoException | null)?.code ?? ""];
  if (known !== undefined) return known;
  return error instanceof SyntaxError
    ? "correct the line"
    : "the code outside all functions runs when the file is loaded, and it threw";
}

const OWN_FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** Standard output is only for the answer, so whatever the file or a kernel's body prints goes to standard error. */
function logToStderr(): void {
  console.log = console.info = console.debug = console.error;
}

/** Of a syntax error, the place that Node's report begins with; of a missing import, its line; else where the code threw. */
function placeOf(error: unknown): SourceLocation[] {
  if (!(error instanceof Error)) return [];
  const stack = error.stack ?? "";
  const [, file, line] = /^((?:file:\/\/)?\/.*):(\d+)\n/.exec(stack) ?? [];
  if (file !== undefined) {
    // Below the code, a mark stands under the column.
    const marked = /^( *)\^+ *$/m.exec(stack.split("\n\n")[0] ?? "");
    const path = file.startsWith("file:") ? fileURLToPath(file) : file;
    return [{ file: path, line: Number(line), column: (marked?.[1]?.length ?? 0) + 1 }];
  }
  const missing = placeOfImport(error.message);
  if (missing !== null) return [missing];
  const { location } = siteOfThrown(error);
  return location.line > 0 && !location.file.startsWith(OWN_FOLDER) ? [location] : [];
}

/** Where a file imports what Node did not find. */
function placeOfImport(message: string): SourceLocation | null {
  const [, wanted = "", file] = /^Cannot find \w+ '(.*)' imported from (\/.*)$/.exec(message) ?? [];
  if (file === undefined || file.startsWith(OWN_FOLDER)) return null;
  const name = wanted.slice(wanted.lastIndexOf("/") + 1);
  const lines = readFileSync(file, "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes(`${name}"`) || line.includes(`${name}'`));
  if (at < 0) return null;
  return { file, line: at + 1, column: (lines[at] as string).search(/["']/) + 1 };
}
