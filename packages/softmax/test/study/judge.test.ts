/** Rungs before the lab's judge, and planted cheats that it must catch, each with an honest twin that it must accept. */

import { join } from "node:path";
import { openJudgeInProcess, type Candidate, type Judge, type Verdict } from "@evolver/lab";
import { rowOperations } from "@evolver/softmax";
import { study } from "@evolver/softmax/study";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

describe.each(rowOperations)("%s", (operation) => {
  let judge: Judge;
  beforeAll(async () => {
    const input = await study.parseInput({ operation, rows: 48, columns: 96 });
    judge = await openJudgeInProcess(study, input, { device: "sim" });
  });
  afterAll(() => judge.close());

  const ask = (candidate: Candidate): Promise<Verdict> =>
    judge.judge({ candidate, seed: 1, known: {}, champion: null, deadlineMs: 60_000 });

  it("the rungs pass", async () => {
    const { named } = await study.open(await study.parseInput({ operation }), { id: "sim" });
    for (const [id, point] of Object.entries(named)) {
      const verdict = await ask({ kind: "point", point });
      expect([id, verdict.status, verdict.reason]).toEqual([id, "ok", ""]);
      expect(verdict.timeMs).toBeGreaterThan(0);
    }
  });

  it.each([
    ["01-first-row-for-all.ts", "wrong-result"],
    ["02-forgets-the-maximum.ts", "wrong-result"],
    ["03-skips-the-last-columns.ts", "wrong-result"],
    ["04-nothing-when-large.ts", "wrong-result"],
  ])("%s is caught, and its honest twin passes", async (name, status) => {
    const path = join(import.meta.dirname, "cheats", name);
    expect((await ask({ kind: "module", path })).status).toBe(status);
    const twin = await ask({ kind: "module", path, export: "honest" });
    expect([twin.status, twin.reason]).toEqual(["ok", ""]);
  });
});
