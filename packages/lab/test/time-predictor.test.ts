/** A study's predictions order what is tried, and decide nothing else. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, expect, it } from "vitest";
import { inFull } from "../../../test/support/full.ts";
import { DEFAULT_POLICY, evolve, readRecords } from "@evolver/lab";
import type { EvolveOptions, EvolveResult, Point, Study } from "@evolver/lab";
import { fakeStudy, fakeTime, openFakeJudge } from "./support/fake-study.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-foresight-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

type Predict = (point: Point) => number | null;

/** The fake study with a model, which notes what it was asked. */
function withModel(predict: Predict, asked: Point[] = []): Study {
  return {
    ...fakeStudy,
    async open(input, device) {
      const study = await fakeStudy.open(input, device);
      return {
        ...study,
        predict: (point) => {
          asked.push(point);
          return Promise.resolve(predict(point));
        },
      };
    },
  };
}

function run(study: Study, options: Partial<EvolveOptions> = {}): Promise<EvolveResult> {
  return evolve(study, {
    cycles: 2,
    agent: "random",
    workspace: join(folder, "ws"),
    openJudge: openFakeJudge({ measured: (point) => fakeTime(point) }),
    ...options,
  });
}

function commitPolicy(workspace: string, proposalsPerTrial: number): void {
  writeFileSync(join(workspace, "policy.json"), JSON.stringify({ ...DEFAULT_POLICY, proposalsPerTrial }));
  const author = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
  execFileSync("git", ["-C", workspace, ...author, "commit", "-qam", "Policy"]);
}

const trialsOf = (path = join(folder, "ws")) => readRecords(path).flatMap(({ trials }) => trials);

it("tries the proposal with the shortest predicted time, and says so", async () => {
  const asked: Point[] = [];
  await run(withModel(fakeTime, asked));
  const trials = trialsOf().slice(1);
  const each = DEFAULT_POLICY.proposalsPerTrial;
  expect(asked).toHaveLength(trials.length * each);
  for (const [k, { candidate, reason }] of trials.entries()) {
    const proposals = asked.slice(k * each, (k + 1) * each);
    const best = Math.min(...proposals.map((point) => fakeTime(point)));
    expect(candidate.kind === "point" && fakeTime(candidate.point)).toBe(best);
    expect(reason).toMatch(/Of 4 proposals the model predicts it the fastest: /);
  }
});

it("finds more in as many trials than without, where the model is right", async () => {
  const [with_, without] = await Promise.all(
    [withModel(fakeTime), fakeStudy].map(async (definition, k) => {
      const times: number[] = [];
      for (let seed = 1; seed <= inFull(6, 3); seed++) {
        const workspace = join(folder, `ws${k}-${seed}`);
        const { champion } = await run(definition, { seed, workspace, cycles: 1 });
        times.push(champion.timeMs);
      }
      return times.reduce((sum, time) => sum + time, 0);
    }),
  );
  expect(with_).toBeLessThan(without as number);
});

it("a wrong model slows the search down and keeps nothing that is not measured to be faster", async () => {
  const result = await run(withModel((point) => -fakeTime(point)));
  expect(result.champion.timeMs).toBeLessThanOrEqual(result.baseline.timeMs);
  for (const { candidate, verdict } of trialsOf())
    if (verdict.status === "ok")
      expect(verdict.timeMs).toBe(candidate.kind === "point" && fakeTime(candidate.point));
});

it("without predictions the sampler's first proposal is tried, as with none to ask", async () => {
  await run(withModel(() => null, []));
  expect(trialsOf().every(({ reason }) => !/predicts/.test(reason))).toBe(true);
});

it("proposals without a prediction come last", async () => {
  await run(withModel((point) => (point["stage"] === "global" ? null : 1)));
  const predicted = trialsOf()
    .slice(1)
    .filter(({ reason }) => /predicts/.test(reason));
  expect(predicted.length).toBeGreaterThan(0);
  for (const { candidate } of predicted)
    expect(candidate.kind === "point" && candidate.point["stage"]).toBe("shared");
});

it("is off with predict: false, and where the policy proposes one candidate per trial", async () => {
  const asked: Point[] = [];
  await run(withModel(fakeTime, asked), { predict: false });
  expect(asked).toEqual([]);
  const workspace = join(folder, "one");
  await run(fakeStudy, { workspace, cycles: 0 });
  commitPolicy(workspace, 1);
  await run(withModel(fakeTime, asked), { workspace });
  expect(asked).toEqual([]);
  expect(trialsOf(workspace).length).toBeGreaterThan(1);
});

it("refuses a policy with no whole number of proposals", async () => {
  const workspace = join(folder, "bad");
  await run(fakeStudy, { workspace, cycles: 0 });
  for (const proposalsPerTrial of [0, 2.5]) {
    commitPolicy(workspace, proposalsPerTrial);
    await expect(run(fakeStudy, { workspace })).rejects.toThrow(/"proposalsPerTrial" is \S+; it must be a/);
  }
});
