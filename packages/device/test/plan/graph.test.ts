/** Plans as graphs of the driver's, on the `hip` device with the stand-in for AMD's libraries. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { cpp } from "../../../../test/support/compilers.ts";
import { useStandIn, type StandIn } from "../../../../test/support/hip-cpu/batch.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import { bindPlan } from "@evolver/device";
import { openHip } from "@evolver/device/hip";
import { COLUMNS, normalise, normalised, ROWS, rowsInput } from "./kernels.ts";

const withCompiler = requireOptional("g++ or clang-19", cpp !== null, "apt-get install g++");
withCompiler("graphs", () => {
  let standIn: StandIn;
  beforeAll(() => {
    standIn = useStandIn(32);
  });
  afterAll(() => standIn.remove());

  const recorded = async (work: () => void | Promise<void>): Promise<string[]> => {
    const calls = join(standIn.folder, "calls");
    writeFileSync(calls, "");
    process.env["HIP_CPU_CALLS"] = calls;
    await work();
    delete process.env["HIP_CPU_CALLS"];
    return readFileSync(calls, "utf8").trim().split("\n");
  };
  const launches = [
    `hipModuleLaunchKernel sumRows ${ROWS} 1 1 32 1 1 0`,
    "hipModuleLaunchKernel invert 1 1 1 32 1 1 0",
    `hipModuleLaunchKernel scaleRows ${ROWS} 1 1 32 1 1 0`,
  ];

  it("a chain is captured without running, and one call enqueues all of it", async () => {
    const device = openHip();
    const bound = await bindPlan(device, normalise(device), { inputs: { x: rowsInput }, fill: "nan" });
    let graph: ReturnType<typeof bound.capture> = null;
    expect(
      await recorded(() => {
        graph = bound.capture();
      }),
    ).toEqual(["hipStreamBeginCapture", "hipStreamEndCapture", "hipGraphDestroy"]);
    expect((await bound.read("y")).every(Number.isNaN)).toBe(true);
    expect(
      await recorded(async () => {
        graph!.enqueue();
        await device.synchronize();
      }),
    ).toEqual(["hipGraphLaunch", ...launches]);
    const y = await bound.read("y");
    normalised().forEach((value, i) => expect(y[i]).toBeCloseTo(value, 5));
    expect(y).toHaveLength(ROWS * COLUMNS);
    expect(
      await recorded(() => {
        graph!.destroy();
        graph!.destroy();
      }),
    ).toEqual(["hipGraphExecDestroy"]);
    bound.destroy();
    await device.close();
  });

  it("what throws while it is captured leaves the stream as it was", async () => {
    const device = openHip();
    const enqueue = (): void => {
      throw new Error("no more");
    };
    expect(await recorded(() => expect(() => device.capture(enqueue)).toThrow("no more"))).toEqual([
      "hipStreamBeginCapture",
      "hipStreamEndCapture",
      "hipGraphDestroy",
    ]);
    const bound = await bindPlan(device, normalise(device), { inputs: { x: rowsInput } });
    expect(await recorded(async () => void (await bound.run()))).toEqual(launches);
    bound.destroy();
    await device.close();
  });

  it("where the library has none, there is no graph", async () => {
    const old = useStandIn(32, ["HIP_CPU_OLD"]);
    const device = openHip();
    expect(device.capture(() => {})).toBeNull();
    await device.close();
    old.remove();
  });
});
