/** Measured gains: beyond the noise, and again in a fresh process. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inFull } from "../../../test/support/full.ts";
import { evolve, readRecords } from "@evolver/lab";
import type { EvolveResult, Point } from "@evolver/lab";
import { fakeStudy, fakeTime, openFakeJudge } from "./support/fake-study.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evolver-second-look-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function run(measured: (point: Point, renewals: number) => number, cycles = 3): Promise<EvolveResult> {
  return evolve(fakeStudy, { cycles, workspace: folder, openJudge: openFakeJudge({ measured }) });
}

const outcomes = () => readRecords(folder).map(({ outcome }) => outcome);

describe("a measured gain", () => {
  it("is kept when a fresh process sees it too, and the record has what that saw", async () => {
    const result = await run((point) => fakeTime(point));
    expect(result.timeKind).toBe("measured");
    expect(result.speedup).toBeGreaterThan(1.2);
    const kept = outcomes().find(({ kept, secondLook }) => kept && secondLook !== undefined);
    expect(kept?.reason).toMatch(/A second look in a fresh process agrees/);
    expect(kept?.secondLook).toMatchObject({ status: "ok", timeKind: "measured" });
  });

  it("is not kept when a fresh process does not see it", async () => {
    // The first process flatters everyone but the baseline; a fresh one finds all alike.
    const result = await run((point, renewals) => (renewals > 0 || point["tile"] === 1 ? 8 : 4), 1);
    expect(result.champion.trial).toBe(0);
    const [, cycle] = outcomes();
    expect(cycle).toMatchObject({ kept: false, secondLook: { status: "ok" } });
    expect(cycle?.reason).toMatch(/won, but not in a second look/);
  });

  it("must exceed two standard errors of its noise", async () => {
    // Everybody gains 1.5 %, and the noise is 1 %.
    const result = await run((point) => (point["tile"] === 1 && point["stage"] === "global" ? 1 : 0.985));
    expect(result.champion.trial).toBe(0);
    expect(outcomes().every(({ secondLook }) => secondLook === undefined)).toBe(true);
    expect(outcomes().at(-1)?.reason).toMatch(/more than 2\.0 %/);
  });

  it("of nothing is never kept: cycles of the champion under other names", async () => {
    let draws = 0;
    const noisy = (): number => 1 + 0.004 * Math.sin(++draws * 12.9898);
    await run(noisy, inFull(50, 15));
    expect(outcomes().filter(({ kept }) => kept)).toHaveLength(1);
  });
});
