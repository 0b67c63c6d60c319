/** The README of @evolver/vitest: its tests pass, and without the barrier they fail with the message that it shows. */

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { codeBlocks, withExamples } from "../tools/docs/markdown.ts";

const root = join(import.meta.dirname, "..");
const readme = readFileSync(join(root, "packages", "vitest", "README.md"), "utf8");

interface Results {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Runs the tests of a folder as its owner does. */
function runTests(folder: string): { readonly status: number | null; readonly failures: readonly string[] } {
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const results = join(folder, "results.json");
  const args = [vitest, "run", "--reporter=json", `--outputFile=${results}`];
  const { status } = spawnSync(process.execPath, args, { cwd: folder, env: { PATH: process.env["PATH"] } });
  const { testResults } = JSON.parse(readFileSync(results, "utf8")) as Results;
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  expect(all).toHaveLength(2);
  return { status, failures: all.flatMap(({ failureMessages }) => failureMessages) };
}

it("shows what its tests do", () => {
  withExamples(readme, (folder) => {
    expect(runTests(folder)).toEqual({ status: 0, failures: [] });
    const file = join(folder, "reverse.ts");
    const source = readFileSync(file, "utf8");
    writeFileSync(file, source.replace("gpu.barrier();", ""));
    const { status, failures } = runTests(folder);
    expect(status).toBe(1);
    const [shown = ""] = codeBlocks(readme)
      .filter(({ info }) => info === "text")
      .map(({ text }) => text);
    const [message = "", ...frames] = failures[0]?.split(/\n {4}at (?!.*, invocation)/) ?? [];
    expect(message.replace(/^AssertionError: /, "")).toBe(shown.trimEnd());
    expect(frames[0]).toMatch(/^read \(.*\/reverse\.ts:16:\d+\)$/);
    expect(frames[1]).toMatch(/\/reverse\.test\.ts:6:\d+$/);
    // Its counters say nothing then.
    expect(failures[1]).toContain("its counters say nothing");
  });
});
