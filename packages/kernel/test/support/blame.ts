/** Errors of kernel builds, and the source lines that they blame. */

import { readFileSync } from "node:fs";
import { EvolverError } from "@evolver/base";
import type { SourceLocation } from "@evolver/base";

/** The error that `run` throws; it is a failure if it throws none. */
export function errorFrom(run: () => unknown): EvolverError {
  try {
    run();
  } catch (error) {
    if (error instanceof EvolverError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** The text of the source line at a location, without indentation. */
function sourceLine({ file, line }: SourceLocation): string {
  return readFileSync(file, "utf8").split("\n")[line - 1]?.trim() ?? "";
}

/** The source lines that an error names, in its order. */
export function blamed(error: EvolverError): string[] {
  return error.where.map(sourceLine);
}
