/** Runs git, with nothing of the user's environment in its way, and tells every failure. */

import { execFile } from "node:child_process";

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
  return (args, environment = {}) =>
    new Promise((resolve, reject) => {
      const options = {
        cwd: folder,
        env: { ...base, ...environment },
        maxBuffer: 2 ** 28,
        encoding: "utf8",
      } as const;
      execFile("git", [...args], options, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const exitCode = typeof error.code === "number" ? error.code : null;
        reject(new GitError(`git ${args[0]}: ${stderr.trim() || error.message}`, exitCode));
      });
    });
}
