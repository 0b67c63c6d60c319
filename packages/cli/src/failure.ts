/**
 * Errors of the command line: for people on stderr, with --json also as the one document on stdout, and their exit code. What
 * is thrown by others (the parser of arguments, the system) becomes an EvolverError with a code here.
 */

import { EvolverError } from "@evolver/base";
import { CommanderError } from "commander";
import { interruptedCode } from "./interruption.ts";
import { EXIT, hasPrintedJson, printJson } from "./output.ts";

export interface FailureOptions {
  readonly json: boolean;
  /** Show where an error comes from. */
  readonly verbose: boolean;
}

/** What --json prints where the command failed. */
export interface FailureDocument {
  readonly error: Pick<EvolverError, "code" | "where"> & {
    readonly message: string;
    readonly hint: string | null;
  };
}

/** Errors that are answers (the work was done and failed), not wrong use. */
const ANSWERS_NO: ReadonlySet<string> = new Set([
  "KERNEL_FINDINGS",
  "KERNEL_TRAP",
  "DISK_FULL",
  "BASELINE_REJECTED",
  "NO_VERDICT",
]);

/** Says on stderr what is wrong. */
export function tell({ code, message }: EvolverError): void {
  process.stderr.write(`error[${code}]: ${message}\n`);
}

/** Prints an error, and gives the exit code. */
export function fail(thrown: unknown, { json, verbose }: FailureOptions): number {
  const error = explained(thrown);
  tell(error);
  if (verbose && error.cause !== undefined) process.stderr.write(`caused by: ${inspect(error.cause)}\n`);
  if (json && !hasPrintedJson()) printJson(failureDocument(error));
  if (error.code === "INTERRUPTED") return interruptedCode();
  return ANSWERS_NO.has(error.code) ? EXIT.no : EXIT.misuse;
}

export function failureDocument({ code, what, where, hint }: EvolverError): FailureDocument {
  return { error: { code, message: what, where, hint: hint ?? null } };
}

function explained(thrown: unknown): EvolverError {
  if (thrown instanceof EvolverError) return thrown;
  const what = thrown instanceof Error ? thrown.message : String(thrown);
  // Node names the call to the system that failed.
  if (thrown instanceof Error && "syscall" in thrown)
    return new EvolverError("SYSTEM_ERROR", `the system refused something: ${what}`, {
      hint: "the text before names it: a file, a folder or a program; where it is a temporary one, TMPDIR can name another folder",
      cause: thrown,
    });
  return new EvolverError("UNEXPECTED", what, {
    hint: "this is a bug in Evolver; run again with --verbose to see where",
    cause: thrown,
  });
}

const inspect = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

/** By commander's own codes. */
const USAGE: Readonly<Record<string, string>> = {
  "commander.unknownCommand": "UNKNOWN_COMMAND",
  "commander.unknownOption": "UNKNOWN_OPTION",
  "commander.excessArguments": "UNKNOWN_ARGUMENT",
  "commander.missingArgument": "MISSING_ARGUMENT",
  "commander.optionMissingArgument": "MISSING_ARGUMENT",
  "commander.invalidArgument": "INVALID_OPTION",
};

/** @param hint what to do about it, beside what the parser suggests */
export function usageError(error: CommanderError, hint: string): EvolverError {
  if (error.code === "commander.help")
    return new EvolverError("MISSING_COMMAND", "no command is given", { hint });
  const [first = "", ...suggestions] = error.message.replace(/^error: /, "").split("\n");
  const suggested = suggestions
    .map((line) => line.replace(/^\(Did you mean (.*)\?\)$/, "did you mean $1?"))
    .join(" ");
  return new EvolverError(USAGE[error.code] ?? "INVALID_OPTION", first, {
    hint: suggested === "" ? hint : `${suggested} ${hint}`,
  });
}
