/** The conformance suite on WebGPU in Node, over a driver that runs on the processor: its subgroups are 4 wide. */

import { expect, test } from "vitest";
import { hasSwiftShader, useSwiftShader } from "../../../../test/support/swiftshader.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import { openDevice } from "@evolver/device";
import { conformance } from "./suite.ts";

const how = "npm ci with dev dependencies, on Linux on x64";

requireOptional(
  "SwiftShader",
  hasSwiftShader,
  how,
)("webgpu", () => {
  const open = () => {
    useSwiftShader();
    return openDevice("webgpu");
  };
  conformance("over SwiftShader", open, [
    "dynamicUniformity",
    "exactDivision",
    "ordering",
    "progress",
    "separateRounding",
    "subgroupBarriers",
    "subnormals",
    "forwardProgress",
  ]);

  test("is the driver that was asked for", async () => {
    const device = await open();
    expect(device.name).toContain("swiftshader");
    expect(device.subgroupSize).toBe(4);
    await device.close();
  });
});
