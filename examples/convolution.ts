/**
 * A convolution: each workgroup reads its part of the signal and the elements around it (the halo) into shared memory once.
 *
 *     npx node examples/convolution.ts
 */

import { openDevice, type Device, type DeviceId } from "@evolver/device";
import { buffer, f32, fma, kernel } from "@evolver/kernel";

const RADIUS = 3;
const SPAN = 64;

/** y[i] = Σ weights[j]·x[i + j − 3]; outside x it is 0. */
export const convolution = kernel(
  "convolution",
  {
    params: { x: buffer(f32), weights: buffer(f32), y: buffer(f32, "write") },
    workgroup: [SPAN],
    example: { workgroups: 4, args: { x: 200, weights: 2 * RADIUS + 1, y: 200 } },
  },
  ({ x, weights, y }, gpu) => {
    const lane = gpu.localIndex;
    const i = gpu.globalId.x;
    const tile = gpu.shared(f32, SPAN + 2 * RADIUS);
    const first = gpu.workgroupId.x.mul(SPAN).toI32().sub(RADIUS);
    gpu.for({ from: lane, to: SPAN + 2 * RADIUS, step: SPAN }, (k) =>
      tile.set(k, x.getOr(first.add(k.toI32()), 0)),
    );
    gpu.barrier();
    const sum = gpu.var(f32, 0);
    for (let j = 0; j <= 2 * RADIUS; j++) sum.set(fma(tile.get(lane.add(j)), weights.get(j), sum.get()));
    gpu.if(i.lt(y.length), () => y.set(i, sum.get()));
  },
);

/** Smooths a signal that jumps from 0 to 64, and returns the result. */
export async function main(device: Device): Promise<Float32Array> {
  const n = 200;
  const x = device.createBuffer(
    "f32",
    Float32Array.from({ length: n }, (_, i) => (i < 100 ? 0 : 64)),
  );
  const weights = device.createBuffer(
    "f32",
    Float32Array.of(1, 6, 15, 20, 15, 6, 1).map((each) => each / 64),
  );
  const y = device.createBuffer("f32", n);
  const program = await device.compile(convolution);
  const { counters } = await program.run({ workgroups: Math.ceil(n / SPAN), args: { x, weights, y } });
  const smooth = await y.read();
  console.log(`around the jump: ${smooth.subarray(95, 105).join(" ")}`);
  const read = counters?.memory["x"]?.readBytes;
  if (read !== undefined)
    console.log(`${read / 4} elements of x read for ${n} results of ${2 * RADIUS + 1} each`);
  return smooth;
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
