/** Rungs before the lab's judge, those among them whose subgroups wait for each other or keep a counter. */

import { openJudgeInProcess } from "@evolver/lab";
import { expect, it } from "vitest";
import { study } from "@evolver/attention/study";

const SHAPE = "B1,Hq4,Hkv2,S64,D32,causal";

it.each([
  { device: "sim", forwardProgress: true },
  { device: "cpu", forwardProgress: false },
])("on $device roles, persistent workgroups and register tiles pass", async ({ device, forwardProgress }) => {
  const input = await study.parseInput({ shape: SHAPE });
  const { named } = await study.open(input, { id: device });
  const judge = await openJudgeInProcess(study, input, { device });
  try {
    expect(judge.admission.forwardProgress).toBe(forwardProgress);
    const known: Record<string, number> = {};
    for (const [trial, id] of ["k07", "k08", "k11"].entries()) {
      const point = named[id];
      if (point === undefined) throw new Error(`${id} is not among the named points`);
      const candidate = { kind: "point", point } as const;
      const verdict = await judge.judge({ candidate, seed: 1, known, champion: null, deadlineMs: 60_000 });
      expect([id, verdict.status, verdict.reason]).toEqual([id, "ok", ""]);
      expect(verdict.timeMs).toBeGreaterThan(0);
      known[verdict.hash as string] = trial;
    }
  } finally {
    await judge.close();
  }
});
