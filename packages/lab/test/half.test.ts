/** Plans of f16 and bf16 are judged as all others: by the numbers, and by what their buffers hold. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildOf, openDevice, type Device } from "@evolver/device";
import { openJudgeInProcess, type Judge, type Study, type Verdict } from "@evolver/lab";
import { checkCandidatePlan } from "@evolver/lab/internal";
import { compareOutputs } from "@evolver/lab/internal";
import { PlanRunner } from "@evolver/lab/internal";
import { halfCase, halfPlan, halfStudy, halfTruth, type Fault } from "./support/half-study.ts";

describe.each(["f16", "bf16"] as const)("plans of %s", (type) => {
  describe.each(["sim", "cpu"] as const)("on %s", (id) => {
    let device: Device;
    beforeAll(async () => {
      device = await openDevice(id, id === "sim" ? { onFinding: "collect" } : {});
    });
    afterAll(() => device.close());

    const LENGTH = 45;
    const run = async (fault: Fault) => {
      const input = halfCase(type, 3, LENGTH, "fast");
      const runner = await PlanRunner.create(halfPlan(type, fault, LENGTH, buildOf(device)), device);
      try {
        const { outputs, fault: found } = await runner.verify(input.inputs);
        return { ...compareOutputs(outputs, halfTruth(type, input)), y: outputs["y"], found };
      } finally {
        runner.destroy();
      }
    };

    it("are compared as numbers", async () => {
      const { problem, error, bound, y, found } = await run("nothing");
      expect([problem, found]).toEqual([null, null]);
      expect(y).toBeInstanceOf(Float32Array);
      expect(error!).toBeLessThanOrEqual(bound!);
      expect((await run("twice as much")).problem).toMatch(/^y\[\d+\] is .* is right to within/);
    });

    it("hold NaN where nothing was written", async () => {
      const { problem, y } = await run("one missing");
      expect(problem).toMatch(/^y\[44\] is NaN: it was never written/);
      expect(y!.filter(Number.isNaN)).toHaveLength(1);
    });

    it("must not write beyond their buffers, nor into their inputs", async () => {
      expect((await run("beyond the end")).found).toMatchObject({
        status: "out-of-bounds-write",
        ...(id === "cpu" && {
          reason: "It wrote y[47], beyond the 45 elements of that buffer.",
        }),
      });
      await expect(run("changes a")).rejects.toMatchObject({ code: "PLAN_WRITES_INPUT" });
    });
  });

  describe("the judge", () => {
    let judge: Judge;
    beforeAll(async () => {
      judge = await openJudgeInProcess(halfStudy(type) as unknown as Study, {}, { device: "sim" });
    });
    afterAll(() => judge.close());
    const ask = (fault: Fault): Promise<Verdict> =>
      judge.judge({
        candidate: { kind: "point", point: { fault } },
        seed: 5,
        known: {},
        champion: null,
        deadlineMs: 60_000,
      });

    it("admits the study, and keeps what is right", async () => {
      expect(judge.admission.checks[0]).toContain("admitted");
      const verdict = await ask("nothing");
      expect(verdict).toMatchObject({ status: "ok", timeKind: "modelled" });
      expect(verdict.hash).toMatch(/^[0-9a-f]{24}$/);
      expect(verdict.error!).toBeLessThanOrEqual(verdict.bound!);
    });

    it.each<[Fault, string]>([
      ["one missing", "wrong-result"],
      ["twice as much", "wrong-result"],
      ["beyond the end", "out-of-bounds-write"],
      ["changes a", "invalid"],
    ])("refuses %s", async (fault, status) => expect(await ask(fault)).toMatchObject({ status }));
  });

  it("are held to the case's own type", () => {
    const plan = halfPlan(type, "nothing", 8, { subgroup: 32, forwardProgress: true });
    const other = type === "f16" ? "bf16" : "f16";
    const of = (element: "f16" | "bf16") => ({ element, length: 8 });
    const signature = (element: "f16" | "bf16") => ({
      inputs: { a: of(element), b: of(element) },
      outputs: { y: of(element) },
    });
    expect(() => checkCandidatePlan(plan, signature(type))).not.toThrow();
    expect(() => checkCandidatePlan(plan, signature(other))).toThrow(
      `The input a is 8 ${other}; the plan says 8 ${type}.`,
    );
  });
});
