/** Launches: what one costs by itself, until its result could be read, and in a long row of prepared ones. */

import { buffer, kernel, u32 } from "@evolver/kernel";
import type { Kernel } from "@evolver/kernel";
import { fill, once, report, verdictParam } from "../kernels.ts";
import type { BufferSpec, CaseSpec } from "../spec.ts";
import { best, bySize, figure, type TestPlan, type Test } from "../benchmark.ts";

const count: BufferSpec = { name: "count", element: "u32", length: 1 };

/** Counts its launches: none may be lost, and each must see what the one before it wrote. */
const tick = (): Kernel =>
  once("tick", (name) =>
    kernel(name, { params: { count: buffer(u32, "read_write") }, workgroup: [1] }, (params) => {
      params.count.set(0, params.count.get(0).add(1));
    }),
  );

const checkTicks = (): Kernel =>
  once("check_ticks", (name) =>
    kernel(
      name,
      { params: { count: buffer(u32), launches: u32, ...verdictParam }, workgroup: [1] },
      (params, gpu) => report(gpu, params.verdict, params.count.get(0).ne(params.launches), gpu.localIndex),
    ),
  );

function launchCase(id: string, name: string, batch: number, wall: boolean): CaseSpec {
  return {
    id,
    name,
    unit: "µs",
    launch: { kernel: tick(), workgroups: 1, args: { count } },
    before: [fill(count, 0)],
    check: { kernel: checkTicks(), workgroups: 1, args: { count } },
    work: 1,
    batch,
    wall,
    settings: { batch },
  };
}

export const launches: Test = {
  id: "launch",
  title: "Launches",
  about:
    "The cost of an almost empty kernel: one by the host's clock until it is done, one by the device's clock, and each of many prepared launches in a row.",
  plan: (setup): TestPlan => {
    const many = bySize(setup, 2, setup.quick ? 20 : 100, setup.quick ? 256 : 2000);
    return {
      fills: [],
      cases: [
        launchCase("launch.wall", "one launch, by the host's clock", 1, true),
        launchCase("launch.device", "one launch, by the device's clock", 1, false),
        launchCase("launch.batch", `each of ${many} prepared launches`, many, false),
        launchCase("launch.batch.wall", `each of ${many} prepared launches, by the host's clock`, many, true),
      ],
      read: (outcomes) => {
        const of = (id: string): number | null =>
          best(outcomes.filter(({ spec }) => spec.id === id))?.value ?? null;
        return {
          figures: [
            ...figure("launchMicroseconds", "a launch among many", of("launch.batch"), "µs"),
            ...figure(
              "launchLatencyMicroseconds",
              "a launch by itself, until the host knows that it is done",
              of("launch.wall"),
              "µs",
            ),
          ],
          plots: [],
        };
      },
    };
  },
};
