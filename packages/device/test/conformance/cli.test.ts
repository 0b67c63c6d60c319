/** The suite from the command line: what it prints, and how it exits. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const script = join(import.meta.dirname, "..", "..", "conformance", "cli.node.ts");

function run(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

test("a table, and 0 where all passed", () => {
  const { code, out } = run("--device", "cpu", "--subgroup", "64", "--filter", "f32 add");
  expect(out).toMatch(/^cpu: .*subgroups of 64\n\nok +\d+ ms {2}f32 add\n/);
  expect(out).toMatch(/\n2 passed, 0 failed, 0 not promised by the device, \d+ ms\n$/);
  expect(code).toBe(0);
});

test("one line of JSON", () => {
  const { code, out } = run("--device", "sim", "--filter", "i32 divFloor", "--json");
  expect(JSON.parse(out)).toMatchObject({
    device: "sim",
    subgroupSize: 32,
    passed: 1,
    failed: 0,
    skipped: 0,
    results: [{ name: "i32 divFloor", status: "passed", detail: null }],
  });
  expect(code).toBe(0);
});

test("a run without cases is no success; a missing device is reported", () => {
  expect(run("--filter", "no such case").code).toBe(1);
  const { code, err } = run("--device", "tpu");
  expect(err).toContain('there is no device "tpu"');
  expect(code).toBe(2);
});
