/**
 * Launches each rung's kernel once, in order, for a profiler to look at. Prints what was launched as one JSON document.
 *
 *     ncu … node packages/attention/bench/one.ts --device cuda --shape B1,H8,S1024,D64 --rungs k01,k04
 */

import { parseArgs } from "node:util";
import { attentionPlan, fitPoint, ladder, limitsOf, randomInputs, rungById } from "@evolver/attention";
import { bindPlan, buildOf, openDevice, type DeviceId } from "@evolver/device";
import { parseShape } from "@evolver/attention/study/internal";

const { values } = parseArgs({
  options: {
    device: { type: "string", default: "cuda" },
    shape: { type: "string", default: "B1,H8,S1024,D64" },
    rungs: { type: "string" },
    seed: { type: "string", default: "1" },
  },
});
const problem = parseShape(values.shape);
const inputs = randomInputs(problem, { seed: Number(values.seed) });
const rungs = values.rungs === undefined ? ladder : values.rungs.split(",").map((id) => rungById(id));
const device = await openDevice(values.device as DeviceId);
const launched: { rung: string; workgroups: readonly number[]; workgroupSize: readonly number[] }[] = [];
for (const { id, point } of rungs) {
  try {
    const fitted = fitPoint(point, problem, device.subgroupSize, limitsOf(device));
    const plan = attentionPlan(fitted, problem, { ...buildOf(device), machine: device.machine });
    const bound = await bindPlan(device, plan, { inputs: { ...inputs } });
    await bound.run();
    bound.destroy();
    const [kernel, launch] = [plan.kernels[0], plan.launches[0]];
    if (kernel !== undefined && launch !== undefined)
      launched.push({ rung: id, workgroups: launch.workgroups, workgroupSize: kernel.workgroupSize });
  } catch (error) {
    process.stderr.write(`${id}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
await device.close();
process.stdout.write(`${JSON.stringify(launched)}\n`);
