/** A kernel of the user's own: `new` begins it, `check`, `evolve` and `emit` take it, and its test runs. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EvolveResult } from "@evolver/lab";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { evolver } from "./support/command.ts";

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "evolver-own-"));
  expect(await evolver(["new", "my-kernel", "--json"], folder)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"kernel": "myKernel"'),
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

const evolve = (...args: string[]): string[] => [
  "evolve",
  "my-kernel.ts",
  "--rows",
  "200",
  "--columns",
  "256",
  ...args,
];

describe("a kernel that `new` began", () => {
  it("is clean", async () => {
    const { code, stdout } = await evolver(["check", "my-kernel.ts"], folder);
    expect([code, stdout]).toEqual([0, expect.stringContaining("myKernel: clean at subgroup width 32")]);
  });

  it("is improved, and its champion can be emitted with a self-test that passes", async () => {
    const { code, stdout } = await evolver(evolve("--cycles", "1", "--json"), folder);
    expect(code).toBe(0);
    const result = JSON.parse(stdout) as EvolveResult;
    expect(result.speedup).toBeGreaterThan(2);
    expect(result).toMatchObject({ study: "myKernel", input: "rows 200, columns 256" });
    const emitted = await evolver(
      ["emit", "my-kernel.ts/champion", "--target", "js", "--selftest", "-o", "champion.mjs"],
      folder,
    );
    expect(emitted.code).toBe(0);
    const run = spawnSync(process.execPath, ["champion.mjs"], { cwd: folder, encoding: "utf8" });
    expect([run.status, run.stdout]).toEqual([0, expect.stringContaining("PASS myKernel")]);
  }, 60_000);

  it("has a test that passes, and fails where the kernel is wrong", () => {
    // As `npm init` writes it.
    writeFileSync(join(folder, "package.json"), `{ "type": "commonjs" }`);
    symlinkSync(join(import.meta.dirname, "..", "..", "..", "node_modules"), join(folder, "node_modules"));
    const test = (): ReturnType<typeof spawnSync> =>
      spawnSync(process.execPath, ["--import", "evolver/register", "--test", "my-kernel.test.ts"], {
        cwd: folder,
        encoding: "utf8",
        // Or the test would believe to be a part of this one.
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      });
    const text = readFileSync(join(folder, "my-kernel.ts"), "utf8");
    const right = test();
    expect([right.status, right.stdout]).toEqual([0, expect.stringContaining("pass 12")]);
    writeFileSync(
      join(folder, "my-kernel.ts"),
      text.replace("j < lanes; j++) total", "j < lanes - 1; j++) total"),
    );
    const wrong = test();
    writeFileSync(join(folder, "my-kernel.ts"), text);
    expect([wrong.status, wrong.stdout]).toEqual([1, expect.stringContaining("VERIFICATION_FAILED")]);
  }, 60_000);

  it.each([
    [["new", "my-kernel"], "FILE_EXISTS"],
    [["new", "2nd"], "INVALID_NAME"],
    [["evolve", "other.ts"], "FILE_NOT_FOUND"],
    [["evolve", "my-kernel.ts#none"], "EXPORT_NOT_FOUND"],
    [evolve("--rows", "0"), "rows is 0, and must be a whole number from 1 on"],
    [evolve("--depth", "2"), "unknown option '--depth'"],
    [["emit", "my-kernel.ts/none"], "UNKNOWN_RUNG"],
    [["emit", "my-kernel.ts/champion", "--workspace", "nowhere"], "CHAMPION_NOT_FOUND"],
    [["ladder", "my-kernel.ts"], "STUDY_LACKS"],
  ])("is refused before any work: %j", async (args, message) => {
    const { code, stderr } = await evolver(args, folder);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
