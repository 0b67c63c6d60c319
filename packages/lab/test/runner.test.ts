/** What runs on one set of buffers leave to each other. */

import { openDevice, type Plan } from "@evolver/device";
import { expect, it } from "vitest";
import { PlanRunner } from "@evolver/lab/internal";
import { counting } from "./cheats/counting.ts";

const inputs = { x: Float32Array.of(1, 2, 3, 4), w: Float32Array.of(1, 1, 1, 1) };

/** y is 10 on the first run as far as the kernel knows, and 0 on later ones: it need not work again. */
const remembering = counting(({ gpu, y, row }, run, work) => {
  gpu.if(run.eq(0), work, () => gpu.if(gpu.lane.eq(0), () => y.set(row, 0)));
});

/** What y is after each of some runs. */
async function runs(plan: Plan, poisoned: boolean, count: number): Promise<number[]> {
  const device = await openDevice("sim", { onFinding: "collect" });
  const runner = await PlanRunner.create(plan, device);
  try {
    runner.poisonsScratch = poisoned;
    await runner.load(inputs);
    const seen: number[] = [];
    for (let i = 0; i < count; i++) {
      await runner.run();
      const { outputs, fault } = await runner.look(inputs);
      expect(fault).toBeNull();
      seen.push(outputs["y"]?.[0] as number);
    }
    return seen;
  } finally {
    runner.destroy();
    await device.close();
  }
}

it("scratch lives from run to run, but not where it is poisoned", async () => {
  const plan = remembering({ rows: 1, columns: 4 }, { subgroup: 32 });
  expect(await runs(plan, false, 3)).toEqual([10, 0, 0]);
  expect(await runs(plan, true, 3)).toEqual([10, 10, 10]);
});
