/** The commands that take long, on small shapes: devices, ladder, evolve, compare, and reading the workspace. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { evolver, start, type Finished } from "./support/command.ts";

const SHAPE = ["--shape", "Hq2,Hkv1,S32,D16,causal"];
/** The quickest study there is: what a command does about trials is the same for all. */
const SMALL = ["softmax", "--rows", "24", "--columns", "40"];

let folder: string;
let workspace: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-long-"));
  workspace = join(folder, "workspace");
});
afterAll(() => rmSync(folder, { recursive: true }));

function git(at: string, ...args: string[]): string {
  return spawnSync("git", ["-C", at, ...args], { encoding: "utf8" }).stdout.trim();
}

const evolve = (at: string, ...args: string[]): string[] => [
  ...["evolve", ...SMALL, "--workspace", at, ...args],
];

it("devices lists all five, and for those that are not here why, in one line", async () => {
  const [text, data] = await Promise.all([evolver(["devices"]), evolver(["devices", "--json"])]);
  expect([text.code, data.code, data.stderr]).toEqual([0, 0, ""]);
  const entries = JSON.parse(data.stdout) as { id: string; available: boolean; why: string | null }[];
  expect(entries.map(({ id }) => id)).toEqual(["sim", "cpu", "webgpu", "cuda", "hip"]);
  expect(entries.slice(0, 2)).toMatchObject([
    { available: true, why: null, limits: { subgroupSizes: expect.any(Array) } },
    { available: true, why: null, name: expect.any(String), subgroup: expect.any(Number) },
  ]);
  for (const { id, available, why } of entries) {
    expect(available).toBe(why === null);
    expect(text.stdout).toMatch(new RegExp(`^${id} +${available ? "yes" : "no"} `, "m"));
    expect(why ?? "").not.toContain("\n");
  }
});

describe("ladder", () => {
  it("--json is one document; progress is on stderr", async () => {
    const { code, stdout, stderr } = await evolver(["ladder", "attention", ...SHAPE, "--json"]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^\[0\/1\] making the data and the reference\n\[0\/\d+\] k01 /);
    const report = JSON.parse(stdout) as { rungs: { id: string; claims: object[] }[] };
    expect(report).toMatchObject({ study: "attention", device: "sim", timeKind: "modelled" });
    const ids = report.rungs.map(({ id }) => id);
    expect(ids.slice(0, 4)).toEqual(["k01", "k02", "k03", "k04"]);
    expect(ids.slice(-2)).toEqual(["k11", "k12"]);
    expect(report.rungs).toMatchObject(report.rungs.map(() => ({ verified: true })));
  });

  it("--list names rungs and variants, and runs nothing", async () => {
    const { code, stdout, stderr } = await evolver(["ladder", "softmax", "--list"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^s02 +A subgroup per row.*\ns02 online +s02 with passes two$/m);
    const listed = await evolver(["ladder", "softmax", "--list", "--json", "--rungs", "s02 online,s03"]);
    const { rungs } = JSON.parse(listed.stdout) as { rungs: { id: string; variantOf: string | null }[] };
    expect(rungs.map(({ id, variantOf }) => [id, variantOf])).toEqual([
      ["s02 online", "s02"],
      ["s03", null],
    ]);
  });

  it("runs a variant by its name, with no claims of its own", async () => {
    const { code, stdout } = await evolver([
      "ladder",
      "attention",
      ...SHAPE,
      "--rungs",
      "k11 half tiles,k01",
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^k11 half tiles +yes /m);
    expect(stdout).toMatch(/^k11 half tiles k11 with queryRows 64, .*\n {2}A variant of k11\. .*\n\nk01 /m);
  });

  it("is a table with a line for each claim, and says what its times are", async () => {
    const { code, stdout } = await evolver(["ladder", "attention", ...SHAPE, "--rungs", "k03"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^rung +verified .*time \(modelled\)/m);
    expect(stdout).toMatch(/^k03 +yes /m);
    expect(stdout).toContain("The table is of this input. Claims are counted on a smaller problem");
    expect(stdout).toContain("\n  Claims, counted on B1,Hq1,Hkv1,S64,D64:\n");
    expect(stdout).toMatch(
      /^Fastest of these rungs: k03, .* modelled\. A search may find .*\n {2}npx evolver evolve attention --shape /m,
    );
    expect(stdout).toMatch(/^ {2}✓ .*\(counted .*, (exactly|at most|at least) .*\)$/m);
    expect(stdout).not.toContain("k01 ");
  });
});

describe("evolve", () => {
  let first: Finished;
  beforeAll(async () => {
    first = await evolver(evolve(workspace, "--cycles", "1", "--trials", "2", "--json"));
  });

  it("--json is one document on stdout, with a commit for each record; progress is on stderr", () => {
    expect(first.code).toBe(0);
    const result = JSON.parse(first.stdout) as { commits: string[]; speedup: number };
    expect(result).toMatchObject({
      study: "softmax",
      device: "sim",
      seed: 1,
      cycles: 1,
      trials: 3,
      timeKind: "modelled",
      workspace,
      interrupted: false,
    });
    expect(result.speedup).toBeGreaterThanOrEqual(1);
    expect(git(workspace, "log", "--format=%H").split("\n")).toEqual(
      expect.arrayContaining([...result.commits]),
    );
    expect(result.commits).toHaveLength(2);
    expect(git(workspace, "status", "--porcelain")).toBe("");
    expect(first.stderr).toMatch(/^baseline: .*modelled.* \(commit [0-9a-f]{8}\)$/m);
    expect(first.stderr).toMatch(/^(kept|reverted): /m);
    for (const mark of ["\r", "\u001b"]) expect(first.stderr).not.toContain(mark);
  });

  it("is read by log, progress and tasks, as text and as records", async () => {
    const at = ["--workspace", workspace];
    const [log, progress, tasks, records] = await Promise.all([
      evolver(["log", ...at]),
      evolver(["progress", ...at]),
      evolver(["tasks", ...at]),
      evolver(["log", ...at, "--json"]),
    ]);
    for (const { code, stderr, stdout } of [log, progress, tasks]) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/^# /);
      expect(stdout).toContain("softmax of 24 × 40");
    }
    expect(log.stdout).not.toBe(progress.stdout);
    const cycles = (JSON.parse(records.stdout) as { cycle: number }[]).map(({ cycle }) => cycle);
    expect(cycles).toEqual([0, 1]);
  });

  it("exits with 130 when it is stopped, loses nothing, and continues when it is run again", async () => {
    let stopped = false;
    const { finished } = start(
      evolve(workspace, "--cycles", "1000", "--trials", "2", "--from", "s02", "--json"),
      {
        onStderr(text, child) {
          if (stopped || !/^(kept|reverted): /m.test(text)) return;
          stopped = true;
          child.kill("SIGINT");
        },
      },
    );
    const { code, stdout, stderr } = await finished;
    expect(code).toBe(130);
    expect(stderr).toContain("continuing after 1 cycle\n--from s02 is not used: ");
    expect(stderr).toContain("stopping after complete results are written");
    const result = JSON.parse(stdout) as { cycles: number; commits: string[]; interrupted: boolean };
    expect(result.interrupted).toBe(true);
    expect(result.commits.length).toBeGreaterThanOrEqual(1);
    expect(git(workspace, "status", "--porcelain")).toBe("");
    const records = await evolver(["log", "--workspace", workspace, "--json"]);
    expect((JSON.parse(records.stdout) as object[]).length).toBe(2 + result.commits.length);
  });

  it("stopped before there is anything writes nothing", async () => {
    const at = join(folder, "early");
    const { finished } = start(evolve(at, "--json"), {
      onStderr(text, child) {
        if (text.includes("Judging the baseline") && !text.includes("stopping")) child.kill("SIGINT");
      },
    });
    const { code, stdout, stderr } = await finished;
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "INTERRUPTED" } });
    expect(stderr).toContain("error[INTERRUPTED]");
    expect(git(at, "status", "--porcelain")).toBe("");
    expect(existsSync(join(at, "records")) ? readdirSync(join(at, "records")) : []).toEqual([]);
  });

  it("on cpu measures by the clock, and prints the cycles and the ladder", async () => {
    const at = join(folder, "measured");
    const { code, stdout } = await evolver(
      evolve(at, "--device", "cpu", "--cycles", "1", "--trials", "1"),
      folder,
    );
    expect(code).toBe(0);
    expect(stdout).toContain("time (measured)");
    expect(stdout).not.toMatch(/^Champion: .*\n.* modelled,/m);
    for (const rung of ["s01", "s02", "s03"]) expect(stdout).toMatch(new RegExp(`^${rung} +yes`, "m"));
    expect(stdout).toMatch(/^ {2}[\d.]+ times as (?:fast|long) as s0\d, the fastest rung above \(/m);
    expect(stdout).toContain(`Workspace: ${at}`);
  });

  it("leaves a champion that the ladder of the same input names", async () => {
    const [, ...input] = SMALL;
    const { code, stdout } = await evolver(["ladder", "softmax", ...input, "--workspace", workspace]);
    expect(code).toBe(0);
    expect(stdout).toContain(`The champion of ${workspace} on this input is no rung of the ladder:\n`);
    expect(stdout).toMatch(/^ {2}.* modelled, [\d.]+ times as (?:fast|long) as s0\d: /m);
  });

  it("refuses a workspace with local changes, and leaves them", async () => {
    spawnSync("git", ["-C", workspace, "rm", "-q", "--cached", "PROGRESS.md"]);
    const before = git(workspace, "status", "--porcelain");
    const { code, stdout, stderr } = await evolver(evolve(workspace, "--cycles", "1", "--json"));
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "WORKSPACE_DIRTY" } });
    expect(stderr).toMatch(/^error\[WORKSPACE_DIRTY\]: /m);
    expect(git(workspace, "status", "--porcelain")).toBe(before);
  });
});

describe("compare", () => {
  it("--json is the wins on each seed, and exits 0 or 1 by them", async () => {
    const args = ["compare", ...SMALL, "--trials", "2", "--seeds", "1"];
    const [data, self] = await Promise.all([
      evolver([...args, "--json"]),
      evolver([...args, "--sampler", "random"]),
    ]);
    const report = JSON.parse(data.stdout) as { passed: boolean; wins: number };
    expect(report).toMatchObject({
      study: "softmax",
      device: "sim",
      timeKind: "modelled",
      trials: 2,
      needed: 1,
      rows: [{ seed: 1 }],
      passed: report.wins === 1,
    });
    expect(data.code).toBe(report.passed ? 0 : 1);
    expect(data.stderr).toMatch(/^\[4\/4\] /m);
    // Random search is never better than itself.
    expect(self.code).toBe(2);
    expect(self.stderr).toMatch(/^error\[INVALID_OPTION\]: random search is what samplers are compared with/);
  });

  it("stops on Ctrl-C with 130", async () => {
    const { finished } = start(["compare", ...SMALL, "--json"], {
      onStderr(text, child) {
        if (/^\[1\//m.test(text) && !text.includes("stopping")) child.kill("SIGINT");
      },
    });
    const { code, stdout, stderr } = await finished;
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "INTERRUPTED" } });
    expect(stderr).toContain("error[INTERRUPTED]");
  });
});
