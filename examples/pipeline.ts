/**
 * A pipeline: one subgroup copies tiles from global to shared memory while another one uses those that have arrived. Then the
 * same without the wait for a tile, which the simulator reports, although the result may look right on a GPU.
 *
 *     npx node examples/pipeline.ts
 */

import { formatFinding, openDevice, type Device, type DeviceId } from "@evolver/device";
import { buffer, f32, kernel, u32, type Kernel } from "@evolver/kernel";

const STAGES = 3;
const params = { x: buffer(f32), y: buffer(f32, "write"), tiles: u32 };

const columnSumsWith = (name: string, { waits }: { readonly waits: boolean }): Kernel<typeof params> =>
  kernel(
    name,
    {
      params,
      workgroup: ({ subgroup, forwardProgress }) => [forwardProgress ? 2 * subgroup : subgroup],
      example: { workgroups: 1, args: { x: 10 * 32, y: 32, tiles: 10 } },
    },
    ({ x, y, tiles }, gpu) => {
      const { lane, subgroupSize: width } = gpu;
      const total = gpu.var(f32, 0);
      // Known when the kernel is built: subgroups cannot wait for each other on WebGPU and the CPU.
      if (!gpu.forwardProgress) {
        gpu.for({ from: 0, to: tiles }, (n) => total.add(x.get(n.mul(width).add(lane))));
        y.set(lane, total.get());
        return;
      }
      const ring = gpu.shared(f32, [STAGES, width]);
      const pipeline = gpu.pipeline({ stages: STAGES, producers: width, consumers: width, bytes: 4 * width });
      const copy = () =>
        gpu.for({ from: 0, to: tiles }, (n) => {
          pipeline.acquire(n);
          const at = [pipeline.slot(n), lane];
          gpu.copies.start({ to: ring, at, from: x, index: [n.mul(width).add(lane)], width: 1 });
          pipeline.commit(n);
        });
      const addUp = () => {
        gpu.for({ from: 0, to: tiles }, (n) => {
          if (waits) pipeline.wait(n);
          total.add(ring.get(pipeline.slot(n), lane));
          pipeline.release(n);
        });
        y.set(lane, total.get());
      };
      gpu.roles([
        { name: "copy", subgroups: 1, body: copy },
        { name: "add up", subgroups: 1, body: addUp },
      ]);
    },
  );

/** y[lane] = the sum of x over tiles of one element per lane. */
export const columnSums = columnSumsWith("columnSums", { waits: true });
const forgetful = columnSumsWith("forgetful", { waits: false });

/** Runs the right one on the device and the other one in the simulator; returns the sums, and what kinds of faults were found. */
export async function main(device: Device): Promise<{ sums: Float32Array; found: string[] }> {
  const tiles = 10;
  const width = device.subgroupSize;
  const x = device.createBuffer(
    "f32",
    Float32Array.from({ length: tiles * width }, (_, i) => i),
  );
  const y = device.createBuffer("f32", width);
  await (await device.compile(columnSums)).run({ workgroups: 1, args: { x, y, tiles } });
  const sums = await y.read();
  console.log(`sums: ${sums.subarray(0, 4).join(" ")} …`);

  const simulator = await openDevice("sim", { subgroup: 32, onFinding: "collect" });
  const program = await simulator.compile(forgetful);
  const { findings } = await program.run({
    workgroups: 1,
    args: {
      x: simulator.createBuffer("f32", new Float32Array(tiles * 32)),
      y: simulator.createBuffer("f32", 32),
      tiles,
    },
  });
  await simulator.close();
  console.log("without the wait:");
  for (const finding of findings.slice(0, 1)) console.log(formatFinding(finding));
  return { sums, found: findings.map(({ kind }) => kind) };
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
