/**
 * Asynchronous copies, phase barriers and subgroup barriers on the simulator: programs that are right give right results
 * and no findings, and each planted mistake is found on a line that it is about.
 */

import { readFileSync } from "node:fs";
import { openSim } from "@evolver/device";
import type { Counters, Finding, SimOptions } from "@evolver/device";
import { describe, expect, test } from "vitest";
import { TILE, exchange, pipeline, ring, roles } from "./pipeline-programs.ts";
import type { ExchangeKnobs, RingKnobs, RolesKnobs } from "./pipeline-programs.ts";

const TILES = 7;

interface Outcome {
  readonly findings: readonly Finding[];
  readonly counters: Counters;
  readonly b: Float32Array;
}

type Program = ReturnType<typeof ring>;

async function run(program: Program, options: SimOptions = {}): Promise<Outcome> {
  const device = openSim({ onFinding: "collect", ...options });
  const compiled = await device.compile(program);
  const a = device.createBuffer("f32", input);
  const b = device.createBuffer("f32", 1024);
  const { findings, counters } = await compiled.run({ workgroups: 1, args: { a, b, tiles: TILES } });
  return { findings, counters: counters as Counters, b: await b.read() };
}

const input = Float32Array.from({ length: TILES * TILE }, (_, i) => (i * 37) % 101);
const sumOver = (element: (t: number) => number): number =>
  Array.from({ length: TILES }, (_, t) => element(t * TILE)).reduce((sum, value) => sum + value, 0);
const at = (index: number): number => input[index] as number;
const seeds = [undefined, 1, 2, 3];
const seeded = (seed: number | undefined): SimOptions => (seed === undefined ? {} : { seed });

describe("right programs", () => {
  const widths = [8, 32];
  test.each([1, 2, 3, 4])("a ring of %i stages in groups", async (stages) => {
    for (const subgroup of widths)
      for (const seed of seeds) {
        const { findings, b, counters } = await run(ring({ stages }), { subgroup, ...seeded(seed) });
        expect(findings.map(({ message }) => message)).toEqual([]);
        for (let i = 0; i < TILE; i++) expect(b[i]).toBe(sumOver((t) => at(t + TILE - 1 - i)));
        const copies = TILES + stages - 1;
        expect(counters.asyncCopies).toBe((copies * TILE) / subgroup);
        expect(counters.memory.a).toMatchObject({
          readBytes: TILES * TILE * 4,
          readSectors: (TILES * TILE * 4) / 32,
        });
        expect(counters.memory.tile).toMatchObject({
          writeBytes: copies * TILE * 4,
          writeRequests: (copies * TILE) / subgroup,
          conflicts: 0,
        });
      }
  });

  test.each([
    [1, 2, 2],
    [2, 2, 2],
    [3, 2, 2],
    [4, 2, 6],
    [2, 2, 6],
    [3, 2, 1],
  ])(
    "a pipeline of %i stages, %i producer and %i consumer subgroups",
    async (stages, producers, consumers) => {
      for (const program of [roles, pipeline])
        for (const subgroup of widths)
          for (const seed of seeds) {
            const options = { subgroup, ...seeded(seed) };
            const { findings, b } = await run(program({ stages, producers, consumers }), options);
            expect(findings.map(({ message }) => message)).toEqual([]);
            for (let i = 0; i < consumers * subgroup; i++) {
              const k = i % TILE;
              expect(b[i]).toBe(2 * sumOver((t) => at(t + k) + at(t + TILE - 1 - k)));
            }
          }
    },
  );

  test("lanes of a subgroup exchange through shared memory", async () => {
    for (const subgroup of [4, 8, 32, 64])
      for (const seed of seeds) {
        const { findings, b, counters } = await run(exchange(), { subgroup, ...seeded(seed) });
        expect(findings.map(({ message }) => message)).toEqual([]);
        for (let i = 0; i < TILE; i++) expect(b[i]).toBe(sumOver((t) => at(t + (i ^ 1))));
        expect(counters.subgroupBarriers).toBe((2 * TILES * TILE) / subgroup);
      }
  });

  test("results are the same without checks and counters", async () => {
    for (const program of [ring(), roles(), pipeline(), exchange()]) {
      const checked = await run(program);
      expect((await run(program, { checks: false, counters: false })).b).toEqual(checked.b);
    }
  });
});

interface Planted {
  readonly mistake: string;
  readonly program: Program;
  readonly kind: Finding["kind"];
  /** What stands on the line of an access of the finding. */
  readonly line: string;
  readonly subgroup?: number;
  /** What the message says. */
  readonly message?: RegExp;
}

const inRing = (mistake: keyof RingKnobs, kind: Finding["kind"], line: string, more = {}): Planted => ({
  ...{ mistake: `ring: ${mistake}`, program: ring({ [mistake]: true }), kind, line, ...more },
});
const inRoles = (mistake: keyof RolesKnobs, kind: Finding["kind"], line: string, more = {}): Planted => ({
  ...{ mistake: `roles: ${mistake}`, program: roles({ [mistake]: true }), kind, line, ...more },
});
const inExchange = (
  mistake: keyof ExchangeKnobs,
  kind: Finding["kind"],
  line: string,
  more = {},
): Planted => ({
  ...{ mistake: `exchange: ${mistake}`, program: exchange({ [mistake]: true }), kind, line, ...more },
});

const planted: readonly Planted[] = [
  inRing("noWait", "copy-in-flight", "ring: use", {
    message: /lane 0 reads shared "tile"\[63\] while the copy of line \d+ to it is under way: wait/,
  }),
  inRing("oneGroupShort", "copy-in-flight", "ring: use"),
  inRing("noBarrierAfterWait", "data-race", "ring: use"),
  inRing("noBarrierBeforeOverwrite", "data-race", "ring: copy"),
  inRing("noCommit", "copy-in-flight", "ring: use"),
  inRing("copyAfterCommit", "copy-in-flight", "ring: use"),
  inRing("tooFarAhead", "copy-in-flight", "ring: copy", { message: /copies to shared "tile"\[0\]/ }),
  inRing("copyIntoStageInUse", "copy-in-flight", "ring: use"),
  inRing("moreCopiesThanWaits", "copy-in-flight", "ring: copy", { message: /was not awaited/ }),
  inRing("shortRow", "copy-bytes", "ring: commit", { message: /248 bytes, and 256 are expected/ }),
  inRing("onlySubgroupBarrier", "data-race", "ring: use"),
  inRoles("noAcquire", "copy-in-flight", "roles: copy"),
  inRoles("noWait", "copy-in-flight", "roles: use"),
  inRoles("wrongParityAtWait", "deadlock", "roles: wait"),
  inRoles("wrongParityAtAcquire", "deadlock", "roles: acquire"),
  inRoles("parityResetBetweenLoops", "copy-in-flight", "roles: copy"),
  inRoles("tooFewArrivals", "deadlock", "roles: wait", {
    message: /"full"\[0\] has completed 0 phases and has 64 of 65 arrivals/,
  }),
  inRoles("tooManyArrivals", "copy-bytes", "roles: commit", { message: /128 bytes, and 256 are expected/ }),
  inRoles("oneLaneArrives", "deadlock", "roles: wait", {
    message: /"full"\[0\] has completed 0 phases and has 2 of 64 arrivals/,
  }),
  inRoles("noRelease", "deadlock", "roles: acquire"),
  inRoles("releaseBeforeLastUse", "data-race", "roles: last use", {
    message: /no barrier or phase between them/,
  }),
  inRoles("waitForAnotherSlot", "copy-in-flight", "roles: use"),
  inRoles("shortRow", "copy-bytes", "roles: commit", { message: /240 bytes, and 256 are expected/ }),
  inRoles("wrongWidth", "copy-bytes", "roles: commit", {
    subgroup: 8,
    message: /64 bytes, and 256 are expected/,
  }),
  inRoles("arriveBeforeCopies", "copy-in-flight", "roles: use"),
  inRoles("noSubgroupBarrier", "data-race", "roles: last use"),
  {
    mistake: "pipeline: releaseBeforeLastUse",
    program: pipeline({ releaseBeforeLastUse: true }),
    kind: "data-race",
    line: "pipeline: last use",
  },
  inExchange("noBarrier", "data-race", "exchange: get"),
  inExchange("withAnotherSubgroup", "data-race", "exchange: get"),
  inExchange("divergent", "divergent-barrier", "exchange: barrier", {
    message: /of the 32 lanes of subgroup 0 30 are at/,
  }),
  inExchange("noBarrierBeforeOverwrite", "data-race", "exchange: set"),
];

describe("planted mistakes", () => {
  const lines = readFileSync(new URL("pipeline-programs.ts", import.meta.url), "utf8").split("\n");
  const lineOf = (access: Finding["accesses"][number] | undefined): string =>
    lines[(access?.location.line ?? 0) - 1] ?? "";

  test.each(planted)("$mistake", async ({ program, kind, line, message, subgroup = 32 }) => {
    const { findings } = await run(program, { subgroup });
    const found = findings.find(
      (finding) =>
        finding.kind === kind &&
        finding.accesses.some((access) => lineOf(access).includes(`// ${line}`)) &&
        (message === undefined || message.test(finding.message)),
    );
    const all = findings.map((finding) => `${finding.message} (${finding.accesses.map(lineOf).join(" | ")})`);
    expect(found, `no ${kind} on "${line}" among ${all.join("\n")}`).toBeDefined();
    for (const access of found?.accesses ?? []) expect(access.lanes.length).toBeGreaterThan(0);
    // In whatever order the subgroups run, something is found.
    for (const seed of [1, 2, 3, 4])
      expect((await run(program, { subgroup, seed })).findings.length).toBeGreaterThan(0);
  });
});
