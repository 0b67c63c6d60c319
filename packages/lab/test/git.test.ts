/** Git commands under signals that were not meant for them. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { gitIn } from "@evolver/lab/internal";

let folder: string;
const path = process.env["PATH"] ?? "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-git-"));
});
afterEach(() => {
  process.env["PATH"] = path;
  rmSync(folder, { recursive: true });
});

/** Puts a git on the path that a signal ends so often before it does anything. */
function endedFirst(times: number): void {
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const script = `#!/bin/sh
if [ "$(cat '${folder}/times' 2>/dev/null | wc -c)" -lt ${times} ]; then
  printf x >> '${folder}/times'
  kill -INT $$
  sleep 10
fi
exec '${real}' "$@"
`;
  writeFileSync(join(folder, "git"), script, { mode: 0o755 });
  process.env["PATH"] = `${folder}${delimiter}${path}`;
}

it("a command that a signal ends before it begins is started again", async () => {
  endedFirst(2);
  expect(await gitIn(folder)(["--version"])).toMatch(/^git version /);
});

it("but not for ever", async () => {
  endedFirst(5);
  await expect(gitIn(folder)(["--version"])).rejects.toThrow("git --version: it ended with SIGINT");
});
