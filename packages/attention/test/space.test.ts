/** Points from all over the strategy space: right results, and nothing for the simulator to find, at several widths. */

import { openDevice } from "@evolver/device";
import { createProblem, fitPoint, limitsOf, randomInputs, rungById } from "@evolver/attention";
import type { AttentionProblem, FlashPoint } from "@evolver/attention";
import { EvolverError } from "@evolver/base";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { inFull } from "../../../test/support/full.ts";
import { anyConsistentPoint, anyProblem } from "./support/random.ts";
import { checkPointOn } from "./support/run.ts";

type Example = [AttentionProblem, FlashPoint, number];

const one = { batch: 1, headsQ: 1, headsKv: 1 };

/** Rows that are short, and no power of two, in the layouts that permute them. */
const ODD_ROWS = [3, 5, 10, 12].map((dim): Example => [
  createProblem({ ...one, seqQ: 9, seqK: 40, dim }),
  { ...rungById("k10").point, layout: "swizzled" },
  dim,
]);

/** Probabilities of a few keys per row, which reads of four at once would not be aligned for. */
const FEW_KEYS = [1, 2, 4].map((keysPerLane): Example => [
  createProblem({ ...one, seqQ: 18, seqK: 37, dim: 8 }, { causal: true }),
  { ...rungById("k11").point, queryRows: 16, rowsPerSubgroup: 8, rowLanes: 8, keyRows: 8, keysPerLane },
  keysPerLane,
]);

it.each([
  { id: "sim", subgroup: 4, runs: 50 },
  { id: "sim", subgroup: 8, runs: 60 },
  { id: "sim", subgroup: 32, runs: 60 },
  { id: "sim", subgroup: 64, runs: 30 },
  { id: "cpu", subgroup: 8, runs: 60 },
  { id: "cpu", subgroup: 32, runs: 60 },
] as const)("$id with subgroups of $subgroup: points are right and clean", async (own) => {
  const device = await openDevice(own.id, { subgroup: own.subgroup });
  await fc.assert(
    fc.asyncProperty(anyProblem, anyConsistentPoint, fc.nat(1000), async (problem, point, seed) => {
      fc.pre(fits(point, problem));
      // Persistent workgroups take several tiles each, and a second launch finds what the first left.
      const launches = point.schedule === "persistent" ? 2 : 1;
      const inputs = randomInputs(problem, { seed, padding: 5 });
      const options = { launches, persistentWorkgroups: 2 };
      const { verdict } = await checkPointOn(device, point, problem, inputs, undefined, options);
      expect(verdict).toBe("right");
    }),
    {
      numRuns: inFull(own.runs, Math.round(own.runs / 2)),
      seed: own.subgroup,
      examples: [...ODD_ROWS, ...FEW_KEYS],
    },
  );
  await device.close();

  function fits(point: FlashPoint, problem: AttentionProblem): boolean {
    try {
      return fitPoint(point, problem, own.subgroup, limitsOf(device)) !== null;
    } catch (error) {
      if (error instanceof EvolverError && error.code === "INVALID_POINT") return false;
      throw error;
    }
  }
});
