/**
 * Pipelines over many tiles: what is on its way when a workgroup goes on to its next tile of queries, phases that
 * continue from tile to tile, and launches one after another on the same buffers.
 */

import { attentionTruth, createProblem, randomInputs, rungById } from "@evolver/attention";
import type { AttentionProblem, FlashPoint } from "@evolver/attention";
import { openDevice, openSim } from "@evolver/device";
import { describe, expect, it } from "vitest";
import { checkPointOn, runPoint } from "../support/run.ts";

const base = { ...rungById("k04").point, keyRows: 8, queryRows: 4, schedule: "persistent" } as const;
const tiles = { ...rungById("k11").point, queryRows: 16, rowsPerSubgroup: 8, keyRows: 8, keysPerLane: 1 };

/** Every pipeline in every depth it has, with workgroups that take one tile of queries after another. */
const POINTS: readonly (readonly [string, FlashPoint])[] = [
  ["synchronous", base],
  ["double-buffered", { ...base, pipeline: "double-buffered", depth: 2 }],
  ...([1, 2, 3, 4] as const).flatMap((depth): [string, FlashPoint][] => [
    [`ring of ${depth}`, { ...base, pipeline: "ring", depth }],
    [`roles, ring of ${depth}`, { ...base, pipeline: "roles", depth }],
  ]),
  ["staggered", { ...base, pipeline: "staggered" }],
  ["register tiles", { ...tiles, schedule: "persistent" }],
];

/** Tiles of eight keys: an odd and an even number of them for each tile of queries, mixed, and some with none. */
const PROBLEMS: Readonly<Record<string, AttentionProblem>> = {
  odd: createProblem({ batch: 1, headsQ: 3, headsKv: 1, seqQ: 9, seqK: 21, dim: 8 }),
  even: createProblem({ batch: 1, headsQ: 3, headsKv: 1, seqQ: 9, seqK: 32, dim: 8 }),
  mixed: createProblem({ batch: 1, headsQ: 2, headsKv: 2, seqQ: 30, seqK: 30, dim: 8 }, { causal: true }),
  "none for some": createProblem(
    { batch: 2, headsQ: 2, headsKv: 1, seqQ: 22, seqK: 11, dim: 8 },
    { causal: true },
  ),
  "a window": createProblem(
    { batch: 1, headsQ: 2, headsKv: 1, seqQ: 21, seqK: 40, dim: 8 },
    { window: [9, 2] },
  ),
};

describe.each(POINTS)("%s", (_, point) => {
  it("is right and clean in several orders of events, launched twice", async () => {
    for (const [k, [name, problem]] of Object.entries(PROBLEMS).entries()) {
      const inputs = randomInputs(problem, { seed: k });
      const truth = attentionTruth(problem, inputs);
      for (const [seed, persistentWorkgroups] of [
        [undefined, 1],
        [1, 2],
        [2, 3],
      ] as const) {
        const sim = openSim({ subgroup: 8, ...(seed !== undefined && { seed }) });
        const options = { launches: 2, persistentWorkgroups };
        const { verdict } = await checkPointOn(sim, point, problem, inputs, truth, options);
        expect([name, seed, verdict]).toEqual([name, seed, "right"]);
        await sim.close();
      }
    }
  });

  it("is right on threads that take turns, launched twice", async () => {
    const cpu = await openDevice("cpu");
    for (const [name, problem] of Object.entries(PROBLEMS)) {
      const inputs = randomInputs(problem, { seed: 3 });
      const options = { launches: 2, persistentWorkgroups: 2 };
      const { verdict } = await checkPointOn(cpu, point, problem, inputs, undefined, options);
      expect([name, verdict]).toEqual([name, "right"]);
    }
    await cpu.close();
  });
});

describe("300 short sequences", () => {
  const problem = createProblem(
    { batch: 300, headsQ: 2, headsKv: 1, seqQ: 16, seqK: 24, dim: 8 },
    { causal: true },
  );
  const inputs = randomInputs(problem, { seed: 8 });

  it("come out the same to the bit ten times over, whatever the pipeline", async () => {
    const cpu = await openDevice("cpu");
    for (const [name, point] of POINTS) {
      const { verdict, o, lse } = await checkPointOn(cpu, point, problem, inputs);
      expect([name, verdict]).toEqual([name, "right"]);
      for (let round = 0; round < 5; round++) {
        const options = { launches: 2, persistentWorkgroups: round % 2 === 0 ? 7 : 1000 };
        const again = await runPoint(cpu, point, problem, inputs, options);
        expect(again.o).toEqual(o);
        expect(again.lse).toEqual(lse);
      }
    }
    await cpu.close();
  });

  it.each(["ring of 3", "roles, ring of 2", "register tiles"])(
    "are the same on the simulator in any order of events: %s",
    async (name) => {
      const point = new Map(POINTS).get(name) as FlashPoint;
      const some = createProblem({ ...problem.shape, batch: 20 }, { causal: true });
      const few = randomInputs(some, { seed: 8 });
      const runs = [];
      for (const seed of [1, 2, 3]) {
        const sim = openSim({ subgroup: 8, seed });
        const run = await runPoint(sim, point, some, few, { launches: 2, persistentWorkgroups: 3 });
        expect(run.result.findings).toEqual([]);
        runs.push(run);
        await sim.close();
      }
      for (const run of runs) {
        expect(run.o).toEqual(runs[0]!.o);
        expect(run.lse).toEqual(runs[0]!.lse);
      }
    },
  );
});
