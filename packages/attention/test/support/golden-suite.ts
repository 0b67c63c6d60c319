/** Every rung on every golden case and on a real model's layers, for the test files of single devices. */

import type { Device } from "@evolver/device";
import { attentionTruth, ladder } from "@evolver/attention";
import type { AttentionTruth } from "@evolver/attention";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inFull } from "../../../../test/support/full.ts";
import { requireData } from "../../../../test/support/optional.ts";
import { GOLDEN_FILES, LAYER_FILES, loadGoldenCases, loadLayer, ulp } from "./golden.ts";
import type { ExpectedCase } from "./golden.ts";
import { checkPointOn } from "./run.ts";

/** Of the errors of plain float32 attention by somebody else that are recorded beside the golden values. */
const ERRORS_ALLOWED = 4;
const ULPS_ALLOWED = 2;
/** The truth of a case, worked out once for all rungs. */
const truths = new WeakMap<ExpectedCase, AttentionTruth>();

function truthOf(expected: ExpectedCase): AttentionTruth {
  let truth = truths.get(expected);
  if (truth === undefined) truths.set(expected, (truth = attentionTruth(expected.problem, expected.inputs)));
  return truth;
}

function largestError(actual: Float32Array, golden: Float32Array): number {
  let largest = 0;
  for (const [i, expected] of golden.entries()) {
    if (actual[i] === expected) continue;
    const error = Math.abs(actual[i]! - expected);
    largest = Math.max(largest, Number.isNaN(error) ? Infinity : error);
  }
  return largest;
}

/**
 * @param share one of so many cases goes to a rung, others to the next, so that each case is run by several rungs; all under
 *   `npm run test:full`
 * @param lseSlack what the device's logarithm may be off by, absolutely; 0 where it is ours
 */
export function goldenSuite(
  title: string,
  open: () => Promise<Device>,
  { share = 1, lseSlack = 0 }: { readonly share?: number; readonly lseSlack?: number } = {},
): void {
  const step = inFull(1, share);
  requireData(...GOLDEN_FILES)(`golden cases on ${title}`, () => {
    let device: Device;
    beforeAll(async () => {
      device = await open();
    });
    afterAll(() => device.close());
    const cases = loadGoldenCases();
    it.each(ladder.map((rung, r) => ({ ...rung, r })))("$id", async ({ point, r }) => {
      const wrong: string[] = [];
      for (const golden of cases.filter((_, c) => (c + r) % step === 0)) {
        const { name, problem, inputs, errF32, maxAbs } = golden;
        const { verdict, o, lse } = await checkPointOn(device, point, problem, inputs, truthOf(golden));
        if (verdict !== "right") wrong.push(`${name}: ${verdict}`);
        for (const [tensor, actual] of Object.entries({ o, lse }) as ["o" | "lse", Float32Array][]) {
          const error = largestError(actual, golden[tensor]);
          const slack = tensor === "lse" ? lseSlack : 0;
          const allowed = ERRORS_ALLOWED * errF32[tensor] + ULPS_ALLOWED * ulp(maxAbs[tensor]) + slack;
          if (error > allowed) wrong.push(`${name}: ${tensor} is off by ${error}; ${allowed} is allowed`);
        }
      }
      expect(wrong).toEqual([]);
    });
  });
}

/**
 * @param positions how many of the 512 positions to run
 * @param share as for the golden cases: a rung runs one of so many layers
 */
export function layerSuite(title: string, open: () => Promise<Device>, positions: number, share = 1): void {
  const step = inFull(1, share);
  requireData(...LAYER_FILES)(`a real model's layers on ${title}`, () => {
    let device: Device;
    beforeAll(async () => {
      device = await open();
    });
    afterAll(() => device.close());
    it.each(ladder.map((rung, r) => ({ ...rung, r })))("$id", async ({ point, r }) => {
      for (const file of LAYER_FILES.filter((_, l) => (l + r) % step === 0)) {
        const layer = loadLayer(file, positions);
        const { verdict, o } = await checkPointOn(device, point, layer.problem, layer.inputs);
        expect(verdict).toBe("right");
        const largest = layer.o.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        expect(largestError(o, layer.o) / largest).toBeLessThan(3e-6);
      }
    });
  });
}
