/** Runs git, with nothing of the user's environment in its way, and tells every failure. */

import { spawn } from "node:child_process";

export type Git = (
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
) => Promise<string>;

/** A git command that failed; `exitCode` is null if it was killed or could not be started. */
export class GitError extends Error {
  readonly exitCode: number | null;

  constructor(message: string, exitCode: number | null) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Gives what the command prints, to the byte. Commands run in `folder`. @throws GitError */
export function gitIn(folder: string): Git {
  // GIT_DIR and its like, set by a hook that we run in, would lead to another repository.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  const base = {
    ...Object.fromEntries(inherited),
    LC_ALL: "C",
    // So that a look at the state never writes, and never leaves an index.lock behind.
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
  };
  const run = (
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    attempts: number,
  ): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = spawn("git", [...args], {
        cwd: folder,
        env: { ...base, ...environment },
        stdio: ["ignore", "pipe", "pipe"],
        // Ctrl-C on a terminal goes to the whole group: a command that is under way shall come to its end.
        detached: true,
      });
      let [stdout, stderr] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
      child.once("error", (error) => reject(new GitError(`git ${args[0]}: ${error.message}`, null)));
      child.once("close", (code, signal) => {
        if (code === 0) return resolve(stdout);
        // It was still in our group, since it had not begun yet: Ctrl-C was not meant for it.
        if ((signal === "SIGINT" || signal === "SIGTERM") && attempts > 1)
          return resolve(run(args, environment, attempts - 1));
        const why = stderr.trim() || `it ended with ${signal ?? `exit code ${code}`}`;
        reject(new GitError(`git ${args[0]}: ${why}`, code));
      });
    });
  return (args, environment = {}) => run(args, environment, ATTEMPTS);
}

/** A signal that reaches a command before it begins ends it; so often it is started again. */
const ATTEMPTS = 3;
