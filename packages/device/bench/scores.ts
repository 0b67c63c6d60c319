/**
 * The inner loop that the benchmarks count lane-operations on, like attention's: scores of 8 queries against 32 keys,
 * over and over, with one fma and two loads of shared memory a step.
 */

import { buffer, f32, fma, kernel, padded } from "@evolver/kernel";
import type { Device, DeviceBuffer } from "@evolver/device";

const DIM = 64;
const KEYS = 32;

/** Each lane takes a key. */
export const scores = kernel(
  "scores",
  {
    params: { q: buffer(f32), k: buffer(f32), out: buffer(f32, "read_write") },
    workgroup: ({ subgroup }) => [8 * subgroup],
  },
  ({ q, k, out }, gpu) => {
    const tileK = gpu.shared(f32, padded([KEYS, DIM], 1));
    const tileQ = gpu.shared(f32, padded([8, DIM], 1));
    const threads = gpu.numSubgroups * gpu.subgroupSize;
    gpu.for({ from: gpu.localIndex, to: KEYS * DIM, step: threads }, (i) =>
      tileK.set(i.divTrunc(DIM), i.remTrunc(DIM), k.get(i)),
    );
    gpu.for({ from: gpu.localIndex, to: 8 * DIM, step: threads }, (i) =>
      tileQ.set(i.divTrunc(DIM), i.remTrunc(DIM), q.get(i)),
    );
    gpu.barrier();
    const sum = gpu.var(f32, 0);
    gpu.for({ from: 0, to: 16 }, () => {
      gpu.for({ from: 0, to: DIM }, (d) => {
        const key = gpu.lane.remTrunc(KEYS);
        sum.set(fma(tileQ.get(gpu.subgroupId, d), tileK.get(key, d), sum.get()));
      });
    });
    out.set(gpu.globalId.x, sum.get());
  },
);

/** Arguments for a launch, and how many fma its lanes do: three lane-operations each. */
export function scoresLaunch(device: Device, workgroups: number) {
  const create = (length: number): DeviceBuffer<"f32"> => device.createBuffer("f32", length);
  const invocations = workgroups * 8 * device.subgroupSize;
  return {
    launch: { workgroups, args: { q: create(8 * DIM), k: create(KEYS * DIM), out: create(invocations) } },
    laneFmas: invocations * 16 * DIM,
  };
}
