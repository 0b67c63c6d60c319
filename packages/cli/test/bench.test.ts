/** `evolver bench microbench`, and `evolver emit microbench`. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseProfile } from "@evolver/device";
import { afterAll, beforeAll, expect, it } from "vitest";
import { evolver } from "./support/command.ts";

const HIP = ["--target", "hip", "--selftest"];
const ON_CPU = ["bench", "microbench", "--device", "cpu"];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-bench-"));
  mkdirSync(join(folder, "taken", "report.json"), { recursive: true });
  writeFileSync(join(folder, "file"), "");
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
  expect(stdout).toMatch(/^copy, 16 bytes an access, 256 × 4 +yes +[\d.]+ +GB\/s +[\d.]+ %$/m);
  const saved = parseProfile(readFileSync(profile, "utf8"));
  expect(saved.memoryGBPerSecond.source).toBe("measured");
  expect(saved.barrierClocks.source).toBe("assumed");
  expect(readdirSync(report).toSorted()).toEqual(["report.json", "report.txt", "streams.svg"]);
  expect(readFileSync(join(report, "report.txt"), "utf8").trim()).toBe(stdout.trim());
  expect(readdirSync(join(folder, "machines"))).toEqual(["this.json"]);
});

it.each([
  [["bench", "macrobench"], /error\[UNKNOWN_BENCHMARK\][^]*microbench/],
  [["bench", "microbench", "--only", "speed"], /error\[UNKNOWN_TEST\][^]*streams, /],
  [["bench", "microbench", "--save", "x.json"], /error\[NOTHING_MEASURED\][^]*--device/],
  [["bench", "microbench", "--device", "abacus"], /Allowed choices/],
  [["emit", "microbench", "--target", "hip"], /error\[SELFTEST_TARGET\][^]*--selftest/],
  [["emit", "microbench", "--target", "wgsl", "--selftest"], /error\[SELFTEST_TARGET\]/],
  [["emit", "microbench/speed", "--target", "hip", "--selftest"], /error\[UNKNOWN_TEST\]/],
  [["emit", "microbench/chase/x", ...HIP], /error\[UNKNOWN_TEST\][^]*"chase\/x"/],
  [["emit", "microbench/", ...HIP], /error\[UNKNOWN_TEST\]/],
  [["emit", "microbench", ...HIP, "--shape", "H1,S8,D8"], /error\[OPTION_NOT_USED\]: --shape/],
  [["emit", "microbench", ...HIP, "-o", "file"], /error\[OUTPUT_NOT_WRITTEN\]: file /],
  [["emit", "microbench", ...HIP, "-o", "/proc/nope/all"], /error\[OUTPUT_NOT_WRITTEN\]: \/proc\/nope/],
  [["emit", "microbench", ...HIP, "-o", "/proc/nope/all.hip"], /error\[OUTPUT_NOT_WRITTEN\]: \/proc\/nope/],
  [["bench", "microbench", "--only", ""], /option '--only <tests>' argument '' is invalid/],
  [["bench", "microbench", "--only", " ,"], /argument ' ,' is invalid\. give at least one name/],
  // None of these measures for the minute that all tests take.
  [[...ON_CPU, "--save", "taken"], /error\[OUTPUT_NOT_WRITTEN\]: taken cannot be written: it is a folder/],
  [[...ON_CPU, "--save", "new/"], /error\[OUTPUT_NOT_WRITTEN\]: new\/ [^]*names a folder/],
  [[...ON_CPU, "--save", ""], /error\[OUTPUT_NOT_WRITTEN\][^]*no name/],
  [[...ON_CPU, "--save", "file/x.json"], /error\[OUTPUT_NOT_WRITTEN\][^]*file is no folder/],
  [[...ON_CPU, "--save", "/proc/nope/x.json"], /error\[OUTPUT_NOT_WRITTEN\]: \/proc\/nope\/x\.json /],
  [[...ON_CPU, "--save", `new/${"n".repeat(300)}`], /error\[OUTPUT_NOT_WRITTEN\][^]*ENAMETOOLONG/],
  [[...ON_CPU, "--report", "file"], /error\[OUTPUT_NOT_WRITTEN\]: file /],
  [[...ON_CPU, "--report", "taken"], /error\[OUTPUT_NOT_WRITTEN\]: taken\/report\.json [^]*it is a folder/],
  [[...ON_CPU, "--report", "/proc/nope"], /error\[OUTPUT_NOT_WRITTEN\]: \/proc\/nope /],
  [[...ON_CPU, "--save", "new", "--report", "new"], /error\[OUTPUT_NOT_WRITTEN\]: --save new /],
  [[...ON_CPU, "--save", "new", "--report", "new/r"], /error\[OUTPUT_NOT_WRITTEN\]: --save new /],
  [[...ON_CPU, "--save", "new/report.json", "--report", "new"], /error\[OUTPUT_NOT_WRITTEN\]: --save new/],
] as readonly (readonly [readonly string[], RegExp])[])(
  "%j is refused before any work",
  async (args, message) => {
    const before = readdirSync(folder, { recursive: true });
    const { code, stdout, stderr } = await evolver(args, folder);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(readdirSync(folder, { recursive: true })).toEqual(before);
  },
);

it("the suite is emitted to a file, or one file a test to a folder", async () => {
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
