/** What the command line says to options and names that are wrong, and to --help. */

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { loadStudy, studyNames } from "@evolver/studies";
import { main } from "evolver";

let folder: string;
let stdout = "";
let stderr = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-options-"));
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  stdout = stderr = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => (stdout += String(text)).length > 0);
  vi.spyOn(process.stderr, "write").mockImplementation((text) => (stderr += String(text)).length > 0);
});
afterEach(() => vi.restoreAllMocks());

it.each([
  ["chek x.ts", "error[UNKNOWN_COMMAND]: unknown command 'chek'"],
  ["evidence collect --bogus", "error[UNKNOWN_OPTION]: unknown option '--bogus'"],
  [
    "log --workspace=",
    "error[INVALID_OPTION]: option '--workspace <dir>' argument '' is invalid. the name is empty",
  ],
  ["ladder attention --profile=", "error[INVALID_OPTION]: option '--profile <file>' argument '' is invalid"],
  ["ladder attention --profile FOLDER", "error[PROFILE_NOT_FOUND]: FOLDER is a folder, not a file"],
  ["ladder attention --input FOLDER", "error[INPUT_NOT_FOUND]: FOLDER is a folder, not a file"],
  ["ladder attention --input /dev/zero", "error[INPUT_NOT_FOUND]: /dev/zero is a device, not a file"],
  ["check FOLDER", "error[FILE_NOT_FOUND]: FOLDER is a folder, not a file"],
  ["check /dev/null", "error[FILE_NOT_FOUND]: /dev/null is a device, not a file"],
  ["check saxpy.ts --arg n=1 --arg n=2", "'n=2' is invalid. n is given twice"],
  ["guide attention --shape H1,S8,D8", "error[UNKNOWN_OPTION]: unknown option '--shape'"],
  ["emit attention/k03/x", 'error[UNKNOWN_RUNG]: there is no rung "k03/x"'],
  ["check #a", "error[FILE_NOT_FOUND]: the name of the file is empty"],
  ["check FOLDER/nnn/x.ts", "error[FILE_NOT_FOUND]: there is no file FOLDER/nnn/x.ts"],
  ["devices --bogus", "error[UNKNOWN_OPTION]: unknown option '--bogus'"],
  ["devices surplus", "too many arguments"],
  ["check", "missing required argument 'file.ts#export'"],
  ["check x.ts --subgroup 3", "'3' is invalid. give a whole number from 4 to 128"],
  ["check x.ts --subgroup 12.5", "'12.5' is invalid"],
  ["check x.ts --schedules 0", "'0' is invalid"],
  ["check x.ts --workgroups 0", "'0' is invalid. give one to three whole numbers"],
  ["check x.ts --workgroups 1,2,3,4", "'1,2,3,4' is invalid"],
  ["check x.ts --arg n", "'n' is invalid. give name=number"],
  ["check x.ts --arg n=many", "'n=many' is invalid"],
  ["check nowhere.ts", "error[FILE_NOT_FOUND]: there is no file"],
  ["emit attention/k01 --target ptx", "Allowed choices are js, wgsl, cuda, hip"],
  ["emit attention", "error[RUNG_MISSING]"],
  ["emit attention/k99", 'error[UNKNOWN_RUNG]: there is no rung "k99"'],
  ["emit attention/k01 --shape S", "error[SHAPE_INVALID]"],
  ["ladder matmul", 'error[UNKNOWN_STUDY]: there is no study "matmul"'],
  // Making such data would take minutes.
  ["ladder attention --shape B4,H32,S16384,D128 --rungs k99", "error[UNKNOWN_RUNG]"],
  ["emit softmax/s02-onlin", 'error[UNKNOWN_RUNG]: there is no rung "s02-onlin"'],
  ["ladder softmax --list --rungs s20", "error[UNKNOWN_RUNG]"],
  ["evolve softmax --from s02on-line --workspace FOLDER/ws", "error[UNKNOWN_RUNG]"],
  ["compare softmax --from s02offline", "error[UNKNOWN_RUNG]"],
  ["ladder attention --rungs ,", "argument ',' is invalid. give at least one name"],
  ["ladder attention --rungs=", "argument '' is invalid"],
  ["ladder attention --device tpu", "Allowed choices are sim, cpu, webgpu, cuda, hip"],
  ["ladder attention --shape H8,S0,D4", "error[SHAPE_INVALID]"],
  ["ladder attention --input nowhere.safetensors", "error[INPUT_NOT_FOUND]"],
  ["evolve matmul --workspace FOLDER/ws", "error[UNKNOWN_STUDY]"],
  ["evolve attention --cycles -1 --workspace FOLDER/ws", "'-1' is invalid"],
  ["evolve attention --trials 0 --workspace FOLDER/ws", "'0' is invalid"],
  ["evolve attention --seed 1.5 --workspace FOLDER/ws", "'1.5' is invalid"],
  ["evolve attention --agent genetic --workspace FOLDER/ws", "error[UNKNOWN_AGENT]"],
  ["evolve attention --shape H8 --workspace FOLDER/ws", "error[SHAPE_INVALID]"],
  ["compare attention --seeds 0", "'0' is invalid"],
  ["compare attention --sampler genetic", "error[UNKNOWN_AGENT]"],
  ["log --workspace FOLDER/nowhere", "error[WORKSPACE_NOT_FOUND]"],
])("evolver %s exits 2, says what is wrong in one line, and makes nothing", async (line, what) => {
  for (const json of [[], ["--json"]]) {
    stdout = stderr = "";
    const args = line.split(" ").map((word) => word.replace("FOLDER", folder));
    expect(await main([...args, ...json])).toBe(2);
    if (json.length === 0) expect(stdout).toBe("");
    else
      expect(JSON.parse(stdout)).toEqual({
        error: {
          code: expect.stringMatching(/^[A-Z_]+$/),
          message: expect.any(String),
          where: expect.any(Array),
          hint: expect.toBeOneOf([null, expect.any(String)]),
        },
      });
    const lines = stderr.trimEnd().split("\n");
    expect(lines.filter((text) => text.startsWith("error"))).toHaveLength(1);
    expect(lines.length).toBeLessThanOrEqual(3);
    expect(lines[0]).toContain(what.replaceAll("FOLDER", folder));
  }
  expect(readdirSync(folder)).toEqual([]);
});

it("a rung that is named twice is run once", async () => {
  expect(await main("ladder attention --rungs k01,k01 --shape H1,S8,D8 --json".split(" "))).toBe(0);
  const { rungs } = JSON.parse(stdout) as { rungs: { id: string }[] };
  expect(rungs.map(({ id }) => id)).toEqual(["k01"]);
});

it("helps on stdout with 0, and on stderr with 2 where a command is missing", async () => {
  expect(await main(["--help"])).toBe(0);
  for (const name of [
    "devices",
    "check",
    "emit",
    "ladder",
    "guide",
    "evolve",
    "compare",
    "log",
    "progress",
    "tasks",
  ])
    expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
  expect(stderr).toBe("");
  stdout = "";
  expect(await main([])).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toContain("Usage: npx evolver");
  expect(await main(["--version"])).toBe(0);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

it.each(["emit", "ladder", "evolve", "compare"])("%s --help has the whole form of a shape", async (name) => {
  expect(await main([name, "--help"])).toBe(0);
  const help = stdout.replaceAll(/\s+/g, " ");
  for (const part of [
    "Sq and Sk",
    "causal",
    "window:L:R",
    "softcap:X",
    "scale:X",
    "default: B1,Hq8,Hkv2,S256,D64,causal",
  ])
    expect(help).toContain(part);
  if (name === "emit") expect(help).toContain("name it .mjs");
});

it.each(["emit", "ladder", "evolve", "compare"])(
  "%s --help lists the studies and each one's options, and with a study those of it alone",
  async (name) => {
    expect(await main([name, "--help"])).toBe(0);
    for (const each of studyNames) {
      const { title, options } = await loadStudy(each);
      expect(stdout).toContain(`  ${each}: ${title}`);
      for (const option of options) expect(stdout).toContain(`--${option.name} <${option.value}>`);
    }
    stdout = "";
    expect(await main([name, name === "emit" ? "softmax/s01" : "softmax", "--help"])).toBe(0);
    expect(stdout).toContain("--rows <n>");
    expect(stdout).not.toContain("--shape");
  },
);

it("takes options of the study that is named, wherever they stand, and of no other", async () => {
  const size = ["--rows", "3", "--columns", "5"];
  for (const args of [
    ["ladder", "softmax", ...size, "--json"],
    ["ladder", ...size, "--json", "softmax"],
  ]) {
    stdout = "";
    expect(await main(args)).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ study: "softmax", input: "softmax of 3 × 5, random data" });
  }
  expect(await main(["ladder", "attention", ...size])).toBe(2);
  expect(stderr).toContain("unknown option '--rows'");
  expect(stderr).toContain(
    "help: --rows is an option of the study softmax; npx evolver ladder attention --help",
  );
  stderr = "";
  expect(await main(["ladder", "softmax", "--trials", "3"])).toBe(2);
  expect(stderr).toContain(
    "help: --trials is an option of evolve, compare, bench; npx evolver ladder softmax --help",
  );
  stderr = "";
  expect(await main(["ladder", "softmax", "--rows", "many"])).toBe(2);
  expect(stderr).toContain("'many' is invalid. give a whole number from 1 to");
});

it("says where an unreadable path is, and shows the cause only if asked", async () => {
  const file = join(folder, "not-a-folder");
  writeFileSync(file, "");
  try {
    const output = join(file, "k.js");
    expect(await main(["emit", "attention/k01", "-o", output])).toBe(2);
    expect(stderr).toMatch(new RegExp(`^error\\[OUTPUT_NOT_WRITTEN\\]: ${output} `));
    expect(stderr).not.toContain("caused by");
    expect(await main(["emit", "attention/k01", "-o", output, "--verbose"])).toBe(2);
    expect(stderr).toContain("caused by: Error: ");
  } finally {
    rmSync(file);
  }
});
