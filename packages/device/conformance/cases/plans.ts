/** Plans on a device: chains of launches that hand buffers on, run, enqueued and captured as a graph. */

import { buffer, f32, kernel, u32 } from "@evolver/kernel";
import { bindPlan, buildOf, buildPlan, isClocked } from "@evolver/device";
import type { BoundPlan, Device } from "@evolver/device";
import type { DeviceCase } from "../case.ts";

const LENGTH = 1000;
const ROUNDS = 3;

const double = kernel(
  "double",
  { params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 }, workgroup: ({ subgroup }) => [subgroup] },
  ({ x, y, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => y.set(i, x.get(i).mul(2)));
  },
);

const increment = kernel(
  "increment",
  { params: { x: buffer(f32, "read_write"), n: u32, by: f32 }, workgroup: ({ subgroup }) => [subgroup] },
  ({ x, n, by }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => x.set(i, x.get(i).add(by)));
  },
);

/** state is doubled into next, incremented there, and doubled back: each execution goes on from the one before. */
const chain = (device: Device) => {
  const workgroups = Math.ceil(LENGTH / device.subgroupSize);
  return buildPlan(buildOf(device))
    .output("state", f32, LENGTH)
    .scratch("next", f32, LENGTH)
    .launch(double, { workgroups, args: { x: "state", y: "next", n: LENGTH } })
    .launch(increment, { workgroups, args: { x: "next", n: LENGTH, by: 1 } })
    .launch(double, { workgroups, args: { x: "next", y: "state", n: LENGTH } })
    .done();
};

const begin = Float32Array.from({ length: LENGTH }, (_, i) => i % 7);

async function expectAfter(bound: BoundPlan<{ state: "f32" }>, executions: number): Promise<void> {
  const state = await bound.read("state");
  const wrong = state.findIndex((value, i) => {
    let wanted = begin[i] as number;
    for (let k = 0; k < executions; k++) wanted = 2 * (2 * wanted + 1);
    return value !== wanted;
  });
  if (wrong >= 0) throw new Error(`after ${executions} executions, state[${wrong}] is ${state[wrong]}`);
}

const bindChain = (device: Device) =>
  bindPlan(device, chain(device), { buffers: { state: device.createBuffer("f32", begin) } });

export const planCases: readonly DeviceCase[] = [
  {
    name: "device: a plan of three launches, run again and again",
    async check(device) {
      const bound = await bindChain(device);
      for (let k = 1; k <= ROUNDS; k++) {
        const results = await bound.run();
        if (results.length !== 3) throw new Error(`there are ${results.length} results`);
        await expectAfter(bound, k);
      }
      bound.destroy();
    },
  },
  {
    name: "device: a plan's launches are enqueued without waiting, and run in order",
    async check(device) {
      const bound = await bindChain(device);
      const { enqueue } = bound;
      if (isClocked(device) !== (enqueue !== null))
        throw new Error("plans can be enqueued where the device has a clock, and only there");
      if (enqueue !== null && isClocked(device)) {
        for (let k = 0; k < ROUNDS; k++) enqueue();
        await device.synchronize();
        await expectAfter(bound, ROUNDS);
        const timeMs = await bound.time(2);
        if (!(timeMs >= 0)) throw new Error(`two executions take ${timeMs} ms`);
        await expectAfter(bound, ROUNDS + 2);
      }
      bound.destroy();
    },
  },
  {
    name: "device: a plan captured as a graph, where the driver has graphs, does the same each time",
    async check(device) {
      const bound = await bindChain(device);
      const graph = bound.capture();
      if (graph !== null && isClocked(device)) {
        // Capturing runs nothing.
        await device.synchronize();
        await expectAfter(bound, 0);
        for (let k = 0; k < ROUNDS; k++) graph.enqueue();
        await device.synchronize();
        await expectAfter(bound, ROUNDS);
        const timeMs = await device.time(() => graph.enqueue());
        if (!(timeMs >= 0)) throw new Error(`the graph takes ${timeMs} ms`);
        await bound.run();
        await expectAfter(bound, ROUNDS + 2);
        graph.destroy();
      }
      bound.destroy();
    },
  },
];
