/** Where results go is tried before the work: what is refused has measured nothing and left nothing. */

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { main } from "evolver";

let folder: string;
let stdout = "";
let stderr = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-outputs-"));
  mkdirSync(join(folder, "taken", "report.json"), { recursive: true });
  mkdirSync(join(folder, "taken.md"));
  writeFileSync(join(folder, "file"), "");
  writeFileSync(join(folder, "own.ts"), "");
  symlinkSync(join(folder, "own.ts"), join(folder, "link.ts"));
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  stdout = stderr = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => (stdout += String(text)).length > 0);
  vi.spyOn(process.stderr, "write").mockImplementation((text) => (stderr += String(text)).length > 0);
});
afterEach(() => vi.restoreAllMocks());

// Each would take a minute if it began; "@" is the test's folder.
const BENCH = "bench microbench --device cpu";
const EMIT = "emit microbench --target hip --selftest";
const GUIDE = "guide attention";
const COLLECT = "evidence collect --only devices";
const EVOLVE = "evolve softmax --cycles 1";

it.each([
  [`${BENCH} --only=`, /option '--only <tests>' argument '' is invalid/],
  [`${BENCH} --only ,`, /argument ',' is invalid\. give at least one name/],
  [`${BENCH} --save @taken`, /OUTPUT_NOT_WRITTEN\]: @taken cannot be written: it is a folder/],
  [`${BENCH} --save @new/`, /OUTPUT_NOT_WRITTEN\]: @new\/ [^]*names a folder/],
  [`${BENCH} --save=`, /OUTPUT_NOT_WRITTEN\][^]*name is empty/],
  [`${BENCH} --save @file/x.json`, /OUTPUT_NOT_WRITTEN\][^]*@file is not a folder/],
  [`${BENCH} --save @file/new/x.json`, /OUTPUT_NOT_WRITTEN\][^]*@file is not a folder/],
  [`${BENCH} --save /proc/nope/x.json`, /OUTPUT_NOT_WRITTEN\]: \/proc\/nope\/x\.json /],
  [`${BENCH} --save @new/${"n".repeat(300)}`, /OUTPUT_NOT_WRITTEN\][^]*ENAMETOOLONG/],
  [`${BENCH} --report=`, /OUTPUT_NOT_WRITTEN\][^]*name is empty/],
  [`${BENCH} --report @file`, /OUTPUT_NOT_WRITTEN\]: @file /],
  [`${BENCH} --report @taken`, /OUTPUT_NOT_WRITTEN\]: @taken\/report\.json [^]*it is a folder/],
  [`${BENCH} --report /proc/nope`, /OUTPUT_NOT_WRITTEN\]: \/proc\/nope /],
  [`${BENCH} --report /proc`, /OUTPUT_NOT_WRITTEN\]: \/proc /],
  [`${BENCH} --save @new --report @new`, /OUTPUT_NOT_WRITTEN\]: --save @new /],
  [`${BENCH} --save @new --report @new/r`, /OUTPUT_NOT_WRITTEN\]: --save @new /],
  [`${BENCH} --save @new/report.json --report @new`, /OUTPUT_NOT_WRITTEN\]: --save @new\/report/],
  [`${EMIT} -o @file`, /OUTPUT_NOT_WRITTEN\]: @file /],
  [`${EMIT} -o @taken.md`, /OUTPUT_NOT_WRITTEN\]: @taken\.md [^]*it is a folder/],
  [`${EMIT} -o /proc/nope/all`, /OUTPUT_NOT_WRITTEN\]: \/proc\/nope\/all /],
  [`${EMIT} -o /proc/nope/all.hip`, /OUTPUT_NOT_WRITTEN\]: \/proc\/nope\/all\.hip /],
  ["emit @own.ts -o @own.ts", /OUTPUT_NOT_WRITTEN\]: @own\.ts [^]*it is read by the command/],
  ["emit @own.ts#k -o @link.ts", /OUTPUT_NOT_WRITTEN\]: @link\.ts [^]*it is read by the command/],
  ["emit attention/k01 --input @file -o @file", /OUTPUT_NOT_WRITTEN\]: @file [^]*it is read/],
  [`${EMIT} --shape H1,S8,D8`, /unknown option '--shape'/],
  [EMIT.replace(" --", "/chase/x --"), /UNKNOWN_TEST\][^]*"chase\/x"/],
  [EMIT.replace(" --", "/ --"), /UNKNOWN_TEST\]/],
  [`${GUIDE} -o @taken.md`, /OUTPUT_NOT_WRITTEN\]: @taken\.md [^]*it is a folder/],
  [`${GUIDE} -o @file.md`, /OUTPUT_NOT_WRITTEN\]: @file /],
  [`${GUIDE} -o @file/x.md`, /OUTPUT_NOT_WRITTEN\][^]*@file is not a folder/],
  [`${GUIDE} -o /proc/nope/x.md`, /OUTPUT_NOT_WRITTEN\]: \/proc\/nope\/x\.md /],
  [`${GUIDE} --evidence @new`, /EVIDENCE_NOT_FOUND\]: there is no folder @new/],
  ["guide softmax --evidence @file", /EVIDENCE_NOT_FOUND\]: there is no folder @file/],
  [`${COLLECT} -o /proc/nope`, /OUTPUT_NOT_WRITTEN\]: \/proc\/nope /],
  [`${COLLECT} -o @file`, /OUTPUT_NOT_WRITTEN\]: @file /],
  [`${EVOLVE} --workspace /proc/nope`, /OUTPUT_NOT_WRITTEN\]: \/proc\/nope /],
  [`${EVOLVE} --workspace @file/x`, /OUTPUT_NOT_WRITTEN\][^]*@file is not a folder/],
  [`${EVOLVE} --workspace=`, /INVALID_OPTION\][^]*name is empty/],
])("evolver %s", async (line, message) => {
  const before = readdirSync(folder, { recursive: true });
  expect(await main(line.replaceAll("@", `${folder}/`).split(" "))).toBe(2);
  expect(stdout).toBe("");
  expect(stderr.replaceAll(`${folder}/`, "@")).toMatch(message);
  expect(readdirSync(folder, { recursive: true })).toEqual(before);
});

it("folders are made, and a file that is there is replaced and keeps its mode", async () => {
  const path = join(folder, "made", "for", "all.hip");
  const line = ["emit", "microbench/launch", "--target", "hip", "--selftest", "-o", path];
  expect(await main(line)).toBe(0);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, "old");
  chmodSync(path, 0o600);
  expect(await main(line)).toBe(0);
  expect(readFileSync(path, "utf8")).toBe(text);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(folder, "made", "for"))).toEqual(["all.hip"]);
});
