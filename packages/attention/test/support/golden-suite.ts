/** Every rung on every golden case and on a real model's layers, for the test files of single devices. */

import type { Device } from "@evolver/device";
import { attentionTruth, ladder } from "@evolver/attention";
import type { AttentionTruth } from "@evolver/attention";
import { afterAll, beforeAll, expect, it } from "vitest";
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

/** @param lseSlack what the device's logarithm may be off by, absolutely; 0 where it is ours */
export function goldenSuite(title: string, open: () => Promise<Device>, lseSlack = 0): void {
  requireData(...GOLDEN_FILES)(`golden cases on ${title}`, () => {
    let device: Device;
    beforeAll(async () => {
      device = await open();
    });
    afterAll(() => device.close());
    const cases = loadGoldenCases();
    it.each(ladder)("$id", async ({ point }) => {
      const wrong: string[] = [];
      for (const golden of cases) {
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

/** @param positions how many of the 512 positions to run */
export function layerSuite(title: string, open: () => Promise<Device>, positions: number): void {
  requireData(...LAYER_FILES)(`a real model's layers on ${title}`, () => {
    let device: Device;
    beforeAll(async () => {
      device = await open();
    });
    afterAll(() => device.close());
    it.each(ladder)("$id", async ({ point }) => {
      for (const file of LAYER_FILES) {
        const layer = loadLayer(file, positions);
        const { verdict, o } = await checkPointOn(device, point, layer.problem, layer.inputs);
        expect(verdict).toBe("right");
        const largest = layer.o.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        expect(largestError(o, layer.o) / largest).toBeLessThan(3e-6);
      }
    });
  });
}
