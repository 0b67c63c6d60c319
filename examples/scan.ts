/**
 * Running sums of an array of any length, in two launches that share a buffer: a plan.
 *
 *     npx node examples/scan.ts
 */

import { bindPlan, buildOf, buildPlan, openDevice, type Device, type DeviceId } from "@evolver/device";
import { buffer, kernel, u32 } from "@evolver/kernel";

const BLOCK = 256;

/** y[i] = the sum of x up to i within its block of 256; totals[w] = the sum of block w. */
export const scanBlocks = kernel(
  "scanBlocks",
  {
    params: { x: buffer(u32), y: buffer(u32, "write"), totals: buffer(u32, "write") },
    workgroup: [BLOCK],
    example: { workgroups: 3, args: { x: 700, y: 700, totals: 3 } },
  },
  ({ x, y, totals }, gpu) => {
    const i = gpu.globalId.x;
    const lane = gpu.localIndex;
    const partial = gpu.shared(u32, BLOCK);
    // `getOr` gives 0 beyond the end.
    let mine = x.getOr(i, 0);
    for (let distance = 1; distance < BLOCK; distance *= 2) {
      partial.set(lane, mine);
      gpu.barrier();
      // A lane less than the distance is beyond every end once it wraps around.
      mine = mine.add(partial.getOr(lane.sub(distance), 0));
      gpu.barrier();
    }
    gpu.if(i.lt(y.length), () => y.set(i, mine));
    gpu.if(lane.eq(BLOCK - 1), () => totals.set(gpu.workgroupIndex, mine));
  },
);

/** Adds to each element what the blocks before its own come to. */
export const addBefore = kernel(
  "addBefore",
  {
    params: { totals: buffer(u32), y: buffer(u32, "read_write") },
    workgroup: [BLOCK],
    example: { workgroups: 3, args: { totals: 3, y: 700 } },
  },
  ({ totals, y }, gpu) => {
    const i = gpu.globalId.x;
    const before = gpu.var(u32, 0);
    gpu.for({ from: 0, to: gpu.workgroupIndex }, (block) => before.add(totals.get(block)));
    gpu.if(i.lt(y.length), () => y.set(i, y.get(i).add(before.get())));
  },
);

/** Scans 1, 2, 3, …, 1000, and returns the sums. */
export async function main(device: Device): Promise<Uint32Array> {
  const n = 1000;
  const workgroups = Math.ceil(n / BLOCK);
  const plan = buildPlan(buildOf(device))
    .input("x", u32, n)
    .output("y", u32, n)
    .scratch("totals", u32, workgroups)
    .launch(scanBlocks, { workgroups, args: { x: "x", y: "y", totals: "totals" } })
    .launch(addBefore, { workgroups, args: { totals: "totals", y: "y" } })
    .done();
  const x = Uint32Array.from({ length: n }, (_, i) => i + 1);
  const bound = await bindPlan(device, plan, { inputs: { x } });
  const launches = await bound.run();
  const sums = await bound.read("y");
  bound.destroy();
  console.log(`sums of 1, 2, 3, …: ${[...sums.subarray(0, 6)].join(", ")}, …`);
  console.log(`1 + … + ${n} = ${sums[n - 1]}, in ${launches.length} launches`);
  return sums;
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
