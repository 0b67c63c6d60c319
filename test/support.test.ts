/** The helpers of our tests, tried on small runs of Vitest of their own. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const optional = join(root, "test", "support", "optional.ts");
const reporter = join(root, "test", "support", "slow-reporter.ts");

let folder: string;

beforeEach(() => (folder = mkdtempSync(join(root, ".docs-"))));
afterEach(() => rmSync(folder, { recursive: true }));

function runTests(text: string, env: Record<string, string> = {}): { status: number | null; output: string } {
  writeFileSync(join(folder, "a.test.ts"), text);
  writeFileSync(
    join(folder, "vitest.config.ts"),
    `export default { test: { reporters: ["${reporter}", "default"] } };`,
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, "run", "--root", folder], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { status, output: stdout + stderr };
}

describe("requireOptional", () => {
  const suite = (present: boolean): string => `
    import { expect, it } from "vitest";
    import { requireOptional } from "${optional}";
    requireOptional("a lathe", ${present}, "buy one")("turning", () => { it("works", () => expect(1).toBe(1)); });
  `;

  it("runs what it can", () => {
    const { status, output } = runTests(suite(true), { EVOLVER_REQUIRE_ALL: "1" });
    expect(output).toMatch(/Tests +1 passed \(1\)/);
    expect(status).toBe(0);
  });

  it("skips the rest and says why", () => {
    const { status, output } = runTests(suite(false));
    expect(output).toContain("skipped: turning: needs a lathe: buy one");
    expect(output).toMatch(/Tests +1 skipped \(1\)/);
    expect(status).toBe(0);
  });

  it("fails the rest where nothing may be skipped", () => {
    const { status, output } = runTests(suite(false), { EVOLVER_REQUIRE_ALL: "1" });
    expect(output).toContain("a lathe is missing and EVOLVER_REQUIRE_ALL is 1: buy one");
    expect(output).toMatch(/Tests +1 failed \(1\)/);
    expect(status).toBe(1);
  });
});

it("the slowest tests are listed above Vitest's closing lines", () => {
  const { output } = runTests(`
    import { expect, it } from "vitest";
    it("rests", async () => { await new Promise((wake) => setTimeout(wake, 2100)); expect(1).toBe(1); });
    it("hurries", () => expect(1).toBe(1));
  `);
  expect(output).toMatch(
    /slowest of 1 tests[^]*\d+\.\d s {2}a\.test\.ts {2}rests[^]*Tests +2 passed[^]*Duration/,
  );
  expect(output.trimEnd().split("\n").at(-1)).toMatch(/^ +Duration/);
});
