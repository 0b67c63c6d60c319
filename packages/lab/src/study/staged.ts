/**
 * Counters and modelled time of a plan whose launches hand results on to each other, from a sample of each launch's workgroups:
 * a device that runs fast does the whole launches, so that the sampled ones read what they would read.
 */

import {
  bindPlan,
  openDevice,
  workgroupCount,
  type Device,
  type DeviceBuffer,
  type Plan,
  type RunnablePlan,
  type RunResult,
} from "@evolver/device";
import { operandsOf, visitNodes, type KernelIR } from "@evolver/kernel";
import type { MachineProfile } from "@evolver/machine";
import type { Inputs } from "./measure.ts";
import { countPlan, type CountedPlan } from "./modelled.ts";

export interface StagedOptions {
  readonly machine: MachineProfile;
  /** With subgroups that the plan is built for. */
  readonly sim: Device;
  readonly inputs: Inputs;
  /** Buffers of `sim` that hold the inputs already, by name: large ones are copied once. */
  readonly buffers?: Readonly<Record<string, DeviceBuffer>>;
  /** Workgroups of a launch that are run, where they do not depend on each other. */
  readonly most: number;
}

/** @throws what the devices throw */
export async function countStaged(
  plan: Plan,
  { machine, sim, inputs, buffers = {}, most }: StagedOptions,
): Promise<CountedPlan> {
  const rest = Object.entries(inputs).filter(([name]) => buffers[name] === undefined);
  const bound = await bindPlan(sim, plan, { buffers, inputs: Object.fromEntries(rest) });
  try {
    const dependent = plan.kernels.some(workgroupsMeet);
    const waits = plan.kernels.some(({ phaseBarriers }) => phaseBarriers.length > 0);
    const isSmall = plan.launches.every((launch) => workgroupCount(launch) <= most);
    if (plan.launches.length <= 1 || isSmall || dependent || waits)
      return await countPlan(bound, machine, dependent ? Infinity : most);
    const fast = await openDevice("cpu");
    try {
      const whole = await bindPlan(fast, plan, { inputs });
      const staged: RunnablePlan = {
        plan,
        device: sim,
        enqueue: null,
        async run(sample) {
          const results: RunResult[] = [];
          for (const index of plan.launches.keys()) {
            const chosen = sample?.(index) ?? null;
            results.push(
              await bound.runChanged({ launch: index, ...(chosen !== null && { sample: chosen }) }),
            );
            await whole.runChanged({ launch: index });
            for (const { name, role } of plan.buffers)
              if (role !== "input") await bound.write(name, await whole.read(name));
          }
          return results;
        },
      };
      return await countPlan(staged, machine, most);
    } finally {
      await fast.close();
    }
  } finally {
    bound.destroy();
  }
}

/** Whether workgroups of a launch tell each other something: by what atomic operations on global memory return. */
function workgroupsMeet({ body }: KernelIR): boolean {
  const returned = new Set<number>();
  visitNodes(body, (node) => {
    if (node.kind === "atomic" && node.memory.space === "global" && node.result !== null)
      returned.add(node.result.id);
  });
  let meet = false;
  visitNodes(body, (node) => (meet ||= operandsOf(node).some(({ id }) => returned.has(id))));
  return meet;
}
