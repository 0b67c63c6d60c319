import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compareSamplers, evolve, openJudgeProcess, readRecords } from "@evolver/lab";
import { loose, toy } from "./support/toy-study.ts";
import { until } from "./support/until.ts";

let folder: string;
const workspace = (): string => join(folder, "workspace");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-test-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function normalised(path: string): unknown {
  return readRecords(path).map((record) => ({ ...record, id: "", date: "", durationMs: 0 }));
}

/** Processes whose parent is `pid`. */
function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid);
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : Number(fields[1]);
  } catch {
    return null;
  }
}

describe("a study of real kernels, judged by the judge's process", () => {
  it("is improved, with modelled time, twice the same for the same seed", async () => {
    const result = await evolve(toy, { cycles: 3, trialsPerCycle: 4, seed: 5, workspace: workspace() });
    expect(result).toMatchObject({ device: "sim", timeKind: "modelled", cycles: 3, trials: 13 });
    expect(result.speedup).toBeGreaterThan(1.1);
    expect(result.champion.error!).toBeLessThanOrEqual(result.champion.bound!);
    expect(result.champion.counters!.globalReadBytes).toBeGreaterThan(0);
    const [baseline] = readRecords(workspace());
    expect(baseline!.observations.join(" ")).toContain("zeros, constants, the mean and permutations fail");

    const other = join(folder, "other");
    await evolve(toy, { cycles: 3, trialsPerCycle: 4, seed: 5, workspace: other });
    expect(normalised(other)).toEqual(normalised(workspace()));
  });

  it("is improved or not by a clock, and the record says measured, against the champion in the same session", async () => {
    const result = await evolve(toy, { cycles: 1, trialsPerCycle: 3, device: "cpu", workspace: workspace() });
    expect(result).toMatchObject({ device: "cpu", timeKind: "measured", profile: "wall clock" });
    const trials = readRecords(workspace()).flatMap((record) => record.trials);
    expect(trials).toHaveLength(4);
    expect(trials[0]!.verdict.championTimeMs).toBeNull();
    for (const { verdict } of trials.slice(1)) {
      expect(verdict).toMatchObject({ status: "ok", timeKind: "measured", counters: null });
      expect(verdict.championTimeMs).toBeGreaterThan(0);
      expect(verdict.noise).toBeGreaterThan(0);
    }
    expect(readFileSync(join(workspace(), "PROGRESS.md"), "utf8")).toContain(
      "times are **measured** (wall clock)",
    );
  });

  it("writes nothing if the judge refuses the study", async () => {
    await expect(evolve(loose, { cycles: 1, workspace: workspace() })).rejects.toMatchObject({
      code: "STUDY_REFUSED",
    });
    expect(readRecords(workspace())).toEqual([]);
  });

  it("can be stopped while the judge is being opened", async () => {
    const controller = new AbortController();
    const stopped = evolve(toy, {
      cycles: 1,
      workspace: workspace(),
      signal: controller.signal,
      openJudge(...args) {
        const opening = openJudgeProcess(...args);
        controller.abort();
        return opening;
      },
    });
    await expect(stopped).rejects.toMatchObject({ code: "INTERRUPTED" });
    expect(readRecords(workspace())).toEqual([]);
  });

  it("is searched better by evolution than at random, each point judged once", async () => {
    const report = await compareSamplers(toy, { trials: 10, seeds: 3 });
    expect(report.rows).toHaveLength(3);
    expect(report.losses).toBeLessThanOrEqual(1);
    expect(report.evaluated).toBeLessThanOrEqual(72);
  });
});

describe("the judge's process", () => {
  it("ends with its whole group when the lab is killed, even while it is stuck", async () => {
    const script = `
      import { openJudgeProcess } from ${JSON.stringify(import.meta.resolve("@evolver/lab"))};
      import { trapped } from ${JSON.stringify(join(import.meta.dirname, "support", "toy-study.ts"))};
      const judge = await openJudgeProcess(trapped, {}, { device: "sim" });
      const point = { rows: 1, vector: 1, weights: "global", unroll: 2 };
      await judge.judge({ candidate: { kind: "point", point }, seed: 1, known: {}, champion: null, deadlineMs: 2 ** 31 - 1 });`;
    const mark = join(folder, "stuck");
    const lab = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, TOY_STUCK: mark },
    });
    await until(() => existsSync(mark));
    const [judge] = childrenOf(lab.pid!) as [number];
    expect(judge).toBeGreaterThan(0);
    lab.kill("SIGKILL");
    await until(() => parentOf(judge) === null);
  });

  it("is no longer there after close", async () => {
    const judge = await openJudgeProcess(toy, {}, { device: "sim" });
    const children = childrenOf(process.pid).filter((pid) => commandOf(pid).includes("judge/main.ts"));
    expect(children).toHaveLength(1);
    await judge.close();
    expect(parentOf(children[0]!)).toBeNull();
  });
});

function commandOf(pid: number): string {
  return execFileSync("sh", ["-c", `tr '\\0' ' ' < /proc/${pid}/cmdline || true`], { encoding: "utf8" });
}
