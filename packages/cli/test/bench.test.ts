/** `evolver bench microbench`, and `evolver emit microbench`. */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseProfile } from "@evolver/machine";
import { afterAll, beforeAll, expect, it } from "vitest";
import { evolver } from "./support/command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-bench-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

it("on sim everything is verified and counted, in one JSON document", async () => {
  const { code, stdout } = await evolver(["bench", "microbench", "--only", "shared,launch,shared", "--json"]);
  expect(code).toBe(0);
  const report = JSON.parse(stdout) as { sections: { id: string }[] };
  expect(report).toMatchObject({ device: "sim", timeKind: "none", verified: true });
  expect(report.sections.map(({ id }) => id)).toEqual(["shared", "launch"]);
});

it("text is a table for each test", async () => {
  const { code, stdout } = await evolver(["bench", "microbench", "--only", "shared"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^what +verified +read +written +sectors +passes +conflicts +FLOPs$/m);
  expect(stdout).toMatch(/^stride 32, 32 bits +yes /m);
  expect(stdout).toMatch(/^all results verified, [\d.]+ s$/m);
});

it("on a device that measures, a profile is saved and a report with plots is written", async () => {
  const [profile, report] = [join(folder, "machines", "this.json"), join(folder, "report")];
  const args = ["bench", "microbench", "--device", "cpu", "--quick", "--only", "streams,launch"];
  const { code, stdout } = await evolver([...args, "--save", profile, "--report", report]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^copy, 16 bytes per access, 256 × 4 +yes +[\d.]+ +GB\/s +[\d.]+ %$/m);
  const saved = parseProfile(readFileSync(profile, "utf8"));
  expect(saved.memoryGBPerSecond.source).toBe("measured");
  expect(saved.barrierClocks.source).toBe("assumed");
  expect(readdirSync(report).toSorted()).toEqual(["report.json", "report.txt", "streams.svg"]);
  expect(readFileSync(join(report, "report.txt"), "utf8").trim()).toBe(stdout.trim());
  expect(readdirSync(join(folder, "machines"))).toEqual(["this.json"]);
});

it.runIf(existsSync("/dev/full"))("what was measured is printed before a full disk is met", async () => {
  const args = ["bench", "microbench", "--device", "cpu", "--quick", "--only", "launch", "--json"];
  const { code, stdout, stderr } = await evolver([...args, "--save", "/dev/full"]);
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ verified: true, timeKind: "measured" });
  expect(stderr).toMatch(/error\[OUTPUT_NOT_WRITTEN\]: \/dev\/full [^]*ENOSPC/);
});

it.each([
  [["bench", "macrobench"], /error\[UNKNOWN_BENCHMARK\][^]*microbench/],
  [["bench", "microbench", "--only", "speed"], /error\[UNKNOWN_TEST\][^]*streams, /],
  [["bench", "microbench", "--save", "x.json"], /error\[NOTHING_MEASURED\][^]*--device/],
  [["bench", "microbench", "--device", "abacus"], /Allowed choices/],
  [["emit", "microbench", "--target", "hip"], /error\[SELFTEST_TARGET\][^]*--selftest/],
  [["emit", "microbench", "--target", "wgsl", "--selftest"], /error\[SELFTEST_TARGET\]/],
  [["emit", "microbench/speed", "--target", "hip", "--selftest"], /error\[UNKNOWN_TEST\]/],
] as const)("%j is refused before any work", async (args, message) => {
  const { code, stdout, stderr } = await evolver(args, folder);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(message);
  expect(existsSync(join(folder, "x.json"))).toBe(false);
});

it("the suite is emitted to a file, or one file per test to a folder", async () => {
  const args = ["emit", "microbench", "--target", "hip", "--subgroup", "64", "--selftest", "-o"];
  const [file, out] = [join(folder, "all.hip"), join(folder, "suites")];
  expect(await evolver([...args, file])).toMatchObject({ code: 0, stdout: "" });
  expect(readFileSync(file, "utf8")).toContain("hipcc -O3 -std=c++17 -o all all.hip && ./all");
  expect(await evolver([...args, out])).toMatchObject({ code: 0, stdout: "" });
  expect(readdirSync(out)).toContain("microbench-chase.hip");
  const one = await evolver(["emit", "microbench/launch", "--target", "cuda", "--selftest"]);
  expect(one.code).toBe(0);
  expect(one.stdout).toContain("void test_launch()");
});
