/**
 * The first kernel: y ← a·x + y, one invocation per element.
 *
 *     npx node examples/saxpy.ts            in the simulator; or name a device: cpu, webgpu, cuda, hip
 *     npx evolver check examples/saxpy.ts
 */

import { openDevice, type Device, type DeviceId } from "@evolver/device";
import { buffer, f32, fma, kernel, u32 } from "@evolver/kernel";

export const saxpy = kernel(
  "saxpy",
  {
    params: { a: f32, x: buffer(f32), y: buffer(f32, "read_write"), n: u32 },
    workgroup: [256],
    example: { workgroups: 4, args: { a: 2, x: 1000, y: 1000, n: 1000 } },
  },
  ({ a, x, y, n }, gpu) => {
    const i = gpu.globalId.x;
    // There are whole workgroups only: 4 of 256 are more invocations than 1000 elements.
    gpu.if(i.lt(n), () => y.set(i, fma(a, x.get(i), y.get(i))));
  },
);

/** Runs it on a device, prints the result, and returns it. */
export async function main(device: Device): Promise<Float32Array> {
  const n = 1000;
  const x = device.createBuffer(
    "f32",
    Float32Array.from({ length: n }, (_, i) => i),
  );
  const y = device.createBuffer("f32", new Float32Array(n).fill(1));
  const program = await device.compile(saxpy);
  const { counters } = await program.run({ workgroups: Math.ceil(n / 256), args: { a: 2, x, y, n } });

  const result = await y.read();
  console.log(`y = ${[...result.subarray(0, 6)].join(", ")}, …, ${result[n - 1]}`);
  // Only the simulator counts.
  if (counters !== null)
    console.log(`${counters.globalReadBytes} bytes read, ${counters.globalWriteBytes} written`);
  return result;
}

// False where another file imports this one.
if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
