/** `evolver check` on kernels of a user's, in a folder outside this repository. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSim } from "@evolver/device";
import { buffer, f32, kernel, u32, type Kernel } from "@evolver/kernel";
import { exampleLaunch, type CheckLaunch } from "@evolver/device/check";
import { evolver, type Finished } from "./support/command.ts";

/** Of the access pair that races; the lines are looked up, so that the file may change. */
const WRITE = "tile.set(gpu.localIndex, x.get(i));";
const READ = "y.set(i, tile.get(gpu.localIndex.add(1).remTrunc(64)));";

const source = `import { buffer, f32, kernel, u32 } from "@evolver/kernel";

const neighbours = (name: string, barrier: boolean, example: boolean) =>
  kernel(
    name,
    {
      params: { x: buffer(f32), y: buffer(f32, "write") },
      workgroup: [64],
      ...(example ? { example: { workgroups: 2, args: { x: 128, y: 128 } } } : {}),
    },
    ({ x, y }, gpu) => {
      const i = gpu.globalId.x;
      const tile = gpu.shared(f32, 64);
      ${WRITE}
      if (barrier) gpu.barrier();
      ${READ}
    },
  );

export const race = neighbours("race", false, true);
export const fixed = neighbours("fixed", true, true);
export const guessed = neighbours("guessed", true, false);
export const bounded = kernel("bounded", { params: { x: buffer(f32, "write"), n: u32 }, workgroup: [64] }, ({ x, n }, gpu) => {
  const i = gpu.globalId.x;
  gpu.if(i.lt(n), () => x.set(i, 1));
});
export const nothing = 1;
`;
const lineOf = (text: string): number => source.split("\n").findIndex((line) => line.includes(text)) + 1;

interface Report {
  readonly kernel: string;
  readonly subgroup: number;
  readonly findings: readonly {
    readonly kind: string;
    readonly message: string;
    readonly file: string;
    readonly line: number;
    readonly lanes: readonly number[];
    readonly accesses: readonly { readonly action: string; readonly file: string; readonly line: number }[];
  }[];
  readonly counters: { readonly globalReadBytes: number } | null;
  readonly launch: { readonly workgroups: readonly number[]; readonly guessed: readonly string[] } | null;
}

let folder: string;
let file: string;
/** All kernels of the file at once, as text and as data: a process for each would take long. */
let text: Finished;
let data: Finished;
const reports = new Map<string, Report>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "evolver-findings-"));
  file = join(folder, "kernels.ts");
  writeFileSync(file, source);
  [text, data] = await Promise.all([check(""), check("", "--json")]);
  for (const each of JSON.parse(data.stdout) as Report[]) reports.set(each.kernel, each);
});
afterAll(() => rmSync(folder, { recursive: true }));

const check = (name: string, ...args: string[]): Promise<Finished> =>
  evolver(["check", `kernels.ts${name}`, ...args], folder);

it("several kernels of a file are one document, and one that is wrong decides", () => {
  expect([text.code, data.code]).toEqual([1, 1]);
  expect([text.stderr, data.stderr]).toEqual(["", ""]);
  const found = [...reports.values()].map(({ kernel, findings }) => [kernel, findings.length > 0]);
  expect(Object.fromEntries(found)).toEqual({ race: true, fixed: false, guessed: false, bounded: false });
});

describe("a race", () => {
  it("is told with both lines", () => {
    const race = text.stdout.split("\n\n").find((report) => report.startsWith("race:"));
    expect(race).toMatch(/^race: \d findings? at subgroup width 32\n {2}data-race: .*shared/);
    expect(race).toContain(`    read at kernels.ts:${lineOf(READ)}, invocation `);
    expect(race).toContain(`    write at kernels.ts:${lineOf(WRITE)}, invocation `);
  });

  it("is data with --json: kind, message, file, line and lanes, and the same of each access", () => {
    const race = reports.get("race")?.findings.find(({ kind }) => kind === "data-race");
    expect(race).toMatchObject({ file, message: expect.stringContaining("no barrier") });
    expect(race?.lanes.length).toBeGreaterThan(0);
    expect(race?.lanes.every((lane) => Number.isInteger(lane) && lane >= 0 && lane < 64)).toBe(true);
    expect(race?.line).toBe(race?.accesses[0]?.line);
    const places = race?.accesses.map(({ action, line }) => `${action} ${line}`).toSorted();
    expect(places).toEqual([`read ${lineOf(READ)}`, `write ${lineOf(WRITE)}`]);
  });

  it("is found also where one subgroup is the workgroup; one kernel is one object", async () => {
    const { code, stdout } = await check("#race", "--subgroup", "64", "--json");
    const report = JSON.parse(stdout) as Report;
    expect({ code, kernel: report.kernel, subgroup: report.subgroup }).toEqual({
      code: 1,
      kernel: "race",
      subgroup: 64,
    });
    expect(report.findings.map(({ kind }) => kind)).toContain("data-race");
  });
});

describe("a right kernel", () => {
  it("is clean on the launch of its example", () => {
    expect(text.stdout).toMatch(
      /^fixed: clean at subgroup width 32\n {2}launch: 2×1×1 workgroups, x=\[128\] y=\[128\]\n {2}global 512 B read, 512 B written/m,
    );
    const { counters, findings, launch } = reports.get("fixed") as Report;
    expect(findings).toEqual([]);
    expect(counters?.globalReadBytes).toBe(4 * 128);
    expect(launch).toMatchObject({ workgroups: [2, 1, 1], guessed: [] });
  });

  it("without an example is launched by a guess, which is said", () => {
    expect(text.stdout).toMatch(/^ {2}guessed: workgroups, x, y; give the kernel an `example`, or pass/m);
    expect(reports.get("guessed")?.launch?.guessed).toEqual(["workgroups", "x", "y"]);
  });

  it("exits 0, on a launch that is given", async () => {
    const args = ["--workgroups", "3,1", "--arg", "x=192", "--arg", "y=192", "--json"];
    const { code, stdout } = await check("#guessed", ...args);
    const given = JSON.parse(stdout) as Report;
    expect(code).toBe(0);
    expect(given).toMatchObject({ findings: [], launch: { workgroups: [3, 1, 1], guessed: [] } });
    expect(given.counters?.globalReadBytes).toBe(4 * 192);
  });

  it("is found to be wrong where the launch is too large for its buffers", async () => {
    const { code, stdout } = await check("#fixed", "--arg", "y=100", "--json");
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as Report).findings).toMatchObject([
      { kind: "out-of-bounds", file, line: lineOf(READ) },
    ]);
  });
});

it("kernels of one name are told apart by the names they are exported by, a blank line between them", async () => {
  writeFileSync(
    join(folder, "same.ts"),
    `import { buffer, f32, kernel } from "@evolver/kernel";
const fill = (size: number) => kernel("fill", { params: { y: buffer(f32, "write") }, workgroup: [size] }, ({ y }, gpu) => y.set(gpu.globalId.x, 1));
export const narrow = fill(32);
export const wide = fill(64);
`,
  );
  const [shown, document] = await Promise.all([
    evolver(["check", "same.ts"], folder),
    evolver(["check", "same.ts", "--json"], folder),
  ]);
  const headings = shown.stdout.split("\n\n").map((report) => report.split("\n")[0]);
  expect(headings).toEqual([
    "narrow (kernel fill): clean at subgroup width 32",
    "wide (kernel fill): clean at subgroup width 32",
  ]);
  expect(JSON.parse(document.stdout)).toMatchObject([
    { export: "narrow", kernel: "fill" },
    { export: "wide", kernel: "fill" },
  ]);
});

it.each([
  [["--arg", "fixed=1"], "UNKNOWN_ARGUMENT", 'no parameter "fixed"'],
  [["--arg", "__proto__=1"], "UNKNOWN_ARGUMENT", 'no parameter "__proto__"'],
  [["--arg", "n=-1"], "INVALID_ARGUMENT", "is u32, which does not hold -1"],
  [["--arg", "n=1.5"], "INVALID_ARGUMENT", "is u32, which does not hold 1.5"],
  [["--arg", "n=1e30"], "INVALID_ARGUMENT", "is u32, which does not hold 1e+30"],
  [["--arg", "x=-1"], "INVALID_ARGUMENT", '-1 is not a length for the buffer "x"'],
  [["--workgroups", "65536,65536,65536"], "INVALID_WORKGROUPS", "281474976710656 workgroups"],
])("%j is wrong use, not a finding", async (args, code, what) => {
  const finished = await evolver(["check", "kernels.ts#bounded", ...args, "--json"], folder);
  expect(finished.code).toBe(2);
  expect(JSON.parse(finished.stdout)).toMatchObject({
    error: { code, message: expect.stringContaining(what) },
  });
});

it.each([
  ["kernels.ts#nowhere", "EXPORT_NOT_FOUND", "it exports bounded, fixed, guessed, nothing, race"],
  ["kernels.ts#nothing", "NOT_A_KERNEL", "kernel(…)"],
  ["empty.ts", "NO_KERNEL", "write `export const name = kernel("],
])("%s is %s", async (target, code, hint) => {
  writeFileSync(join(folder, "empty.ts"), "export const a: number = 1;\n");
  const finished = await evolver(["check", target, "--json"], folder);
  expect(finished.code).toBe(2);
  expect(JSON.parse(finished.stdout)).toMatchObject({ error: { code } });
  expect(finished.stderr).toContain(`error[${code}]`);
  expect(finished.stderr).toContain(hint);
});

describe("a guess", () => {
  const launched = (kernel: Kernel, args: Record<string, number>): CheckLaunch =>
    exampleLaunch(kernel, openSim({ subgroup: 32 }), { workgroups: null, args });
  const params = { x: buffer(f32, "write"), n: u32 };
  const bounded = kernel("bounded", { params, workgroup: [64] }, ({ x, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => x.set(i, 1));
  }) as unknown as Kernel;

  it("does not divide evenly, and is of what is not given", () => {
    const { workgroups, summary, guessed } = launched(bounded, { n: 10 });
    expect({ workgroups, n: summary["n"], guessed }).toEqual({
      workgroups: [3, 1, 1],
      n: 10,
      guessed: ["workgroups", "x"],
    });
    expect((launched(bounded, {}).summary["n"] as number) % 64).not.toBe(0);
  });

  it.each([
    ["z", 1, "UNKNOWN_ARGUMENT"],
    ["x", -1, "INVALID_ARGUMENT"],
    ["x", 1.5, "INVALID_ARGUMENT"],
    ["x", 1e12, "INVALID_ARGUMENT"],
  ])("of a launch with %s=%d is refused", (name, value, code) => {
    expect(() => launched(bounded, { [name]: value })).toThrow(expect.objectContaining({ code }));
  });
});
