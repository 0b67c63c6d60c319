import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { evolve, objectiveSlug, readRecords } from "@evolver/lab";
import type { EvolveEvent, EvolveOptions, EvolveResult, OpenJudge, Point } from "@evolver/lab";
import { fakeStudy, openFakeJudge } from "./support/fake-study.ts";

let folder: string;
const workspace = (): string => join(folder, "workspace");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-test-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function run(options: Partial<EvolveOptions> = {}): Promise<EvolveResult> {
  return evolve(fakeStudy, {
    cycles: 4,
    workspace: workspace(),
    openJudge: openFakeJudge(),
    ...options,
  });
}

function git(...args: string[]): string {
  return execFileSync("git", ["-C", workspace(), ...args], { encoding: "utf8" }).trim();
}

const read = (path: string): string => readFileSync(join(workspace(), path), "utf8");

/** Records without what legitimately differs between two equal runs. */
function normalised(path = workspace()): unknown {
  return readRecords(path).map((record) => ({ ...record, id: "", date: "", durationMs: 0 }));
}

describe("a run", () => {
  it("improves on the baseline, and every cycle is one commit with one record", async () => {
    const result = await run();
    expect(result).toMatchObject({
      study: "fake",
      device: "sim",
      seed: 1,
      cycles: 4,
      trials: 25,
      interrupted: false,
    });
    expect(result.speedup).toBeGreaterThan(1.5);
    expect(result.speedup).toBeCloseTo(result.baseline.timeMs / result.champion.timeMs, 12);
    expect(result.timeKind).toBe("modelled");
    expect(git("status", "--porcelain")).toBe("");
    expect(git("fsck", "--strict", "--no-dangling")).toBe("");

    const subjects = git("log", "--reverse", "--format=%s").split("\n");
    expect(subjects[0]).toBe("Workspace");
    expect(subjects[1]).toBe("fake cycle 0: baseline");
    expect(subjects).toHaveLength(6);
    expect(result.commits).toEqual(git("log", "--reverse", "--format=%H").split("\n").slice(1));
    const records = readRecords(workspace());
    expect(records.map(({ cycle }) => cycle)).toEqual([0, 1, 2, 3, 4]);
    for (const { cycle, outcome, id } of records.slice(1)) {
      expect(subjects[cycle + 1]).toBe(`fake cycle ${cycle}: ${outcome.kept ? "kept" : "reverted"}`);
      expect(git("show", "--name-only", "--format=", result.commits[cycle]!)).toContain(`records/${id}.json`);
    }
  });

  it("keeps only what is verified and faster, and keeps its source as the champion", async () => {
    const result = await run({ cycles: 6 });
    let champion = Infinity;
    for (const { outcome, trials } of readRecords(workspace())) {
      if (!outcome.kept) expect(outcome.champion.timeMs).toBe(champion);
      else {
        const winner = trials.find(({ number }) => number === outcome.champion.trial);
        expect(winner?.verdict.status).toBe("ok");
        expect(outcome.champion.timeMs).toBeLessThan(champion * 0.999);
      }
      champion = outcome.champion.timeMs;
    }
    const slug = objectiveSlug(readRecords(workspace())[0]!.objective);
    const files = readdirSync(join(workspace(), "champion", slug)).toSorted();
    const { candidate } = result.champion;
    if (candidate.kind !== "point") throw new Error("the fake study has points only");
    // The sources of earlier champions are gone.
    expect(files).toEqual(["champion.json", "kernel.js", `tile-${candidate.point["tile"]}.wgsl`]);
    expect(read(`champion/${slug}/kernel.js`)).toBe(`// ${JSON.stringify(candidate.point)}\n`);
    expect(JSON.parse(read(`champion/${slug}/champion.json`))).toMatchObject({
      timeMs: result.champion.timeMs,
    });
  });

  it("renders log, progress, tasks and knowledge, with times marked as modelled", async () => {
    await run({ cycles: 3 });
    const log = read("evolution_log.md");
    expect(log.match(/^## fake · cycle \d/gm)).toHaveLength(4);
    expect(log.indexOf("cycle 3")).toBeGreaterThan(log.indexOf("cycle 2"));
    expect(log).toContain("**Reflection.** The champion is bound by global memory.");
    expect(log).toContain("time (modelled)");
    expect(read("PROGRESS.md")).toMatch(/\*\*\d+\.\d\d×\*\* the baseline's speed/);
    expect(read("PROGRESS.md")).toContain("times are **modelled** (made up)");
    expect(read("TASKS.md")).toMatch(/- \[ \] /);
    const [knowledge] = readdirSync(join(workspace(), "knowledge")).filter((name) => name.startsWith("fake"));
    expect(read(`knowledge/${knowledge}`)).toContain("| tile | 1 |");
  });

  it("gives the same records for the same seed, others for another", async () => {
    await run();
    const other = join(folder, "other");
    await run({ workspace: other });
    expect(normalised(other)).toEqual(normalised());
    const third = join(folder, "third");
    await run({ workspace: third, seed: 2 });
    expect(normalised(third)).not.toEqual(normalised());
  });

  it("that continues does exactly what one long run would have done", async () => {
    await run({ cycles: 2 });
    const second = await run({ cycles: 3 });
    expect(second.history.map(({ cycle }) => cycle)).toEqual([3, 4, 5]);
    const other = join(folder, "other");
    await run({ cycles: 5, workspace: other });
    expect(normalised()).toEqual(normalised(other));
  });

  it("keeps objectives apart: another input starts from its own baseline in the same workspace", async () => {
    await run({ cycles: 2 });
    const second = await run({ cycles: 1, input: { size: 2 } });
    expect(second.history.map(({ cycle }) => cycle)).toEqual([0, 1]);
    expect(readdirSync(join(workspace(), "champion"))).toHaveLength(2);
    const third = await run({ cycles: 1 });
    expect(third.history.map(({ cycle }) => cycle)).toEqual([3]);
    expect(read("PROGRESS.md").match(/^## /gm)).toHaveLength(2);
  });

  it("stops at an abort after writing complete results, and a new run continues from there", async () => {
    const controller = new AbortController();
    let trials = 0;
    const onEvent = (event: EvolveEvent): void => {
      if (event.kind === "trial" && ++trials === 10) controller.abort();
    };
    const result = await run({ cycles: 5, signal: controller.signal, onEvent });
    expect(result.interrupted).toBe(true);
    expect(result.trials).toBe(10);
    expect(git("status", "--porcelain")).toBe("");
    const last = readRecords(workspace()).at(-1)!;
    expect(last.outcome.interrupted).toBe(true);
    expect(last.trials).toHaveLength(3);
    const next = await run({ cycles: 1 });
    expect(next.history.map(({ cycle }) => cycle)).toEqual([3]);
    const numbers = readRecords(workspace()).flatMap((record) => record.trials.map(({ number }) => number));
    expect(numbers).toEqual(numbers.map((_, i) => i));
  });

  it("writes nothing when stopped before the baseline", async () => {
    await expect(run({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "INTERRUPTED" });
    expect(readRecords(workspace())).toEqual([]);
  });

  it("counts no verdict against a candidate, and may try it again in a later cycle", async () => {
    const tries = new Map<string, number>();
    const onJudge = (point: object): void => {
      const key = JSON.stringify(point);
      tries.set(key, (tries.get(key) ?? 0) + 1);
    };
    let isBusy = true;
    const slow = (point: Point): boolean => {
      if (isBusy) onJudge(point);
      return isBusy && point["tile"] !== 1;
    };
    const busy = await run({ cycles: 2, openJudge: openFakeJudge({ slow }) });
    expect(busy.unjudged).toBeGreaterThan(0);
    expect(busy.rejected.map(({ reason }) => reason)).not.toContain("timeout");
    const [knowledge] = readdirSync(join(workspace(), "knowledge")).filter((name) => name.startsWith("fake"));
    expect(read(`knowledge/${knowledge}`)).not.toContain("timeout");
    // Not twice in one cycle, though.
    for (const { trials } of readRecords(workspace()))
      expect(new Set(trials.map(({ candidate }) => JSON.stringify(candidate))).size).toBe(trials.length);
    isBusy = false;
    const free = await run({ cycles: 3, trialsPerCycle: 100, openJudge: openFakeJudge({ onJudge, slow }) });
    expect(free.unjudged).toBe(0);
    expect(Math.max(...tries.values())).toBeGreaterThan(1);
    const all = readRecords(workspace()).flatMap(({ trials }) => trials);
    expect(all.map(({ number }) => number)).toEqual(all.map((_, i) => i));
  });

  it("gives no verdict on the study where the judge has none on the baseline", async () => {
    const refused = run({ openJudge: openFakeJudge({ slow: () => true }) });
    await expect(refused).rejects.toMatchObject({ code: "NO_VERDICT" });
    expect(readRecords(workspace())).toEqual([]);
  });

  it("tells what it does, in order", async () => {
    const kinds: string[] = [];
    await run({ cycles: 1, trialsPerCycle: 2, onEvent: ({ kind }) => kinds.push(kind) });
    expect(kinds).toEqual(["open", "cycle", "trial", "recorded", "cycle", "trial", "trial", "recorded"]);
  });

  it("says that --from is not used where there are records to continue from", async () => {
    const unused: (string | null)[] = [];
    const onEvent = (event: EvolveEvent): void => {
      if (event.kind === "open") unused.push(event.unusedFrom);
    };
    await run({ cycles: 0, from: "k01", onEvent });
    await run({ cycles: 0, from: "k01", onEvent });
    await run({ cycles: 0, onEvent });
    expect(unused).toEqual([null, "k01", null]);
  });

  it("opens no judge where there is nothing to judge, and says what there is", async () => {
    const { champion } = await run({ cycles: 1 });
    const openJudge = vi.fn<OpenJudge>();
    const result = await run({ cycles: 0, openJudge });
    expect(openJudge).not.toHaveBeenCalled();
    expect(result).toMatchObject({ cycles: 0, trials: 0, history: [], commits: [], champion });
  });

  it("ends gracefully when the space is exhausted", async () => {
    const result = await run({ cycles: 3, trialsPerCycle: 200 });
    expect(result.trials).toBe(288);
    expect(result).toMatchObject({ exhausted: true, interrupted: false });
    expect(readRecords(workspace()).every(({ trials }) => trials.length > 0)).toBe(true);
  });

  it("is refused before any work when its options are wrong", async () => {
    await expect(run({ cycles: 1.5 })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(run({ seed: -1 })).rejects.toMatchObject({ code: "INVALID_SEED" });
    expect(existsSync(workspace())).toBe(false);
    await expect(run({ agent: "oracle" })).rejects.toMatchObject({ code: "UNKNOWN_AGENT" });
  });

  it("obeys the workspace's policy, and refuses a wrong one", async () => {
    await run({ cycles: 0 });
    const policy = { ...JSON.parse(read("policy.json")), trialsPerCycle: 3, sampler: "random" };
    writeFileSync(join(workspace(), "policy.json"), JSON.stringify(policy));
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "Other policy");
    const result = await run({ cycles: 2 });
    expect(result).toMatchObject({ agent: "random", trials: 6 });
    writeFileSync(join(workspace(), "policy.json"), JSON.stringify({ ...policy, minimumGain: 0 }));
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "Wrong policy");
    await expect(run()).rejects.toMatchObject({ code: "POLICY_INVALID" });
  });
});
