/**
 * The command line as a process: its exit code, and what is said when the process ends before the command does. A file of the
 * user's, loaded by a command, may end the process, wait for what never comes, or throw later.
 */

import { EvolverError } from "@evolver/base";
import { siteOfThrown } from "@evolver/kernel";
import { fail, type FailureOptions } from "./failure.ts";
import { isForced } from "./interruption.ts";
import { loadedFile } from "@evolver/lab";
import { main } from "./main.ts";

/** Runs the command line; the process ends with its exit code. @param args after the program's name */
export function runAsProcess(args: readonly string[]): void {
  const options = { json: args.includes("--json"), verbose: args.includes("--verbose") };
  let ended = false;
  const end = (code: number): void => {
    ended = true;
    process.exitCode = code;
  };
  watchOutput(end);
  process.on("exit", (code) => {
    if (!ended && !isForced()) process.exitCode = fail(endedEarly(code), options);
  });
  process.on("uncaughtException", (error) => {
    if (!ended) end(fail(thrownLater(error), options));
    process.exit();
  });
  void main(args).then((code) => {
    end(code);
    // A timer or a socket of the user's file must not keep the process; what was printed is still read.
    if (loadedFile() !== null) process.stderr.write("", () => process.stdout.write("", () => process.exit()));
  });
}

/** A reader that has seen enough, such as `| head`, is no error: the exit code is still the answer. */
function watchOutput(end: (code: number) => void): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    const said = new EvolverError(
      "OUTPUT_NOT_WRITTEN",
      `standard output cannot be written: ${error.message}`,
      {
        hint: "send it to a file or a program that takes it",
        cause: error,
      },
    );
    end(fail(said, QUIET));
    process.exit();
  });
  // Nobody is left to tell.
  process.stderr.on("error", () => {});
}

const QUIET: FailureOptions = { json: false, verbose: false };

/** @param code of the process: 0 where nothing was left to wait for, or what `process.exit` was given */
function endedEarly(code: number): EvolverError {
  const file = loadedFile();
  if (file === null)
    return new EvolverError("UNEXPECTED", "the process ended before the command did", {
      hint: "this is a bug in Evolver; run again with --verbose",
    });
  return file.waiting && isIdle
    ? new EvolverError("FILE_NEVER_LOADED", `${file.path} waits for something that never comes`, {
        hint: "an `await` outside all functions must come to its end",
      })
    : new EvolverError("FILE_EXITED", `${file.path} ended the process with exit code ${code}`, {
        hint: "a file with kernels must not call process.exit, nor must the body of a kernel",
      });
}

/** Whether nothing is left to wait for. */
let isIdle = false;
process.on("beforeExit", () => {
  isIdle = true;
});

function thrownLater(error: unknown): unknown {
  const file = loadedFile();
  const { location } = siteOfThrown(error as Error);
  if (error instanceof EvolverError || file === null || location.file !== file.path) return error;
  const what = error instanceof Error ? error.message : String(error);
  return new EvolverError("FILE_THREW", `${file.path} threw after it was loaded: ${what}`, {
    where: [location],
    hint: "a file with kernels must not throw in timers, nor leave a promise that fails",
    cause: error,
  });
}
