/** Runs a point on a device and gives y. */

import { bindPlan, buildOf, type Device } from "@evolver/device";
import { rowPlan, type RowPoint, type RowProblem } from "@evolver/softmax";

export async function runRows(
  device: Device,
  point: RowPoint,
  problem: RowProblem,
  x: Float32Array,
): Promise<Float32Array> {
  const bound = await bindPlan(device, rowPlan(point, problem, buildOf(device)), {
    inputs: { x },
    fill: "nan",
  });
  try {
    const results = await bound.run();
    for (const { findings } of results) for (const { message } of findings) throw new Error(message);
    return (await bound.read("y")) as Float32Array;
  } finally {
    bound.destroy();
  }
}
