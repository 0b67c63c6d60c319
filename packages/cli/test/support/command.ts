/** The real command as a child process, as a shell starts it. */

import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";

const bin = join(import.meta.dirname, "..", "..", "bin", "evolver.js");

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
}

/** @param onStderr sees all of stderr so far, each time there is more */
export function start(
  args: readonly string[],
  options: { readonly cwd?: string; readonly onStderr?: (text: string, child: ChildProcess) => void } = {},
): Running {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: options.cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    options.onStderr?.(stderr, child);
  });
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
  return { child, finished };
}

/** Runs the command to its end, in a folder. */
export function evolver(args: readonly string[], cwd?: string): Promise<Finished> {
  return start(args, cwd === undefined ? {} : { cwd }).finished;
}
