/** What targets state of the errors of functions holds where it can be measured here. */

import { describe, expect, test } from "vitest";
import { deviceRows, openDevice, type DeviceId } from "@evolver/device";
import { describeBound, numericBounds, ulpsAt } from "@evolver/kernel";
import { inFull } from "../../../../test/support/full.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import { hasSwiftShader, useSwiftShader } from "../../../../test/support/swiftshader.ts";
import { measureBounds } from "../../conformance/bounds.ts";

const PER_EXPONENT = inFull(256, 16);

async function holds(id: DeviceId): Promise<void> {
  const device = await openDevice(id);
  for (const { op, ulps, at, wrongAtEnds } of await measureBounds(device, PER_EXPONENT)) {
    const bound = numericBounds[op][deviceRows[id].target ?? "js"];
    expect(ulps, `${op} at ${at}: ${describeBound(bound)}`).toBeLessThanOrEqual(ulpsAt(bound, at));
    expect(wrongAtEnds, op).toEqual([]);
  }
  await device.close();
}

describe("sim and cpu", () => {
  test.each(["sim", "cpu"] as const)("%s rounds functions once", holds);
});

requireOptional(
  "SwiftShader",
  hasSwiftShader,
  "npm ci with dev dependencies, on Linux on x64",
)("webgpu", () => {
  test("keeps its bounds over SwiftShader", async () => {
    useSwiftShader();
    await holds("webgpu");
  });
});
