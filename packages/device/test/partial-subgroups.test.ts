/** Workgroups whose last subgroup has fewer lanes than the others, on the devices that run here. */

import { atomic, buffer, kernel, u32 } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { openCpu, openSim, type Device } from "@evolver/device";

const WORKGROUPS = 3;

/** Reverses each workgroup's elements through shared memory and adds k for some k < localIndex mod 5. */
const program = (size: readonly [number, number, number]) =>
  kernel(
    "partial",
    { params: { x: buffer(u32, "read_write"), seen: buffer(atomic(u32)) }, workgroup: size },
    ({ x, seen }, gpu) => {
      const l = gpu.localIndex;
      const count = size[0] * size[1] * size[2];
      const place = gpu.workgroupIndex.mul(count).add(l);
      const tile = gpu.shared(u32, count);
      tile.set(l, x.get(place));
      gpu.barrier();
      const sum = gpu.var(
        u32,
        tile.get(
          l
            .mul(0)
            .add(count - 1)
            .sub(l),
        ),
      );
      gpu.for({ from: 0, to: l.remTrunc(5) }, (k) => {
        gpu.if(k.eq(3), () => gpu.break());
        sum.add(k);
      });
      seen.add(0, 1);
      x.set(place, sum.get().add(gpu.localId.y.mul(1000)));
    },
  );

async function check(device: Device, size: readonly [number, number, number]): Promise<void> {
  const count = size[0] * size[1] * size[2];
  const n = WORKGROUPS * count;
  const x = device.createBuffer(
    "u32",
    Uint32Array.from({ length: n }, (_, i) => i * 3),
  );
  const seen = device.createBuffer("u32", 1);
  await (await device.compile(program(size))).run({ workgroups: WORKGROUPS, args: { x, seen } });
  const expected = Uint32Array.from({ length: n }, (_, i) => {
    const l = i % count;
    const added = [0, 0, 1, 3, 3][l % 5] as number;
    return (i - l + count - 1 - l) * 3 + added + (Math.floor(l / size[0]) % size[1]) * 1000;
  });
  expect(await x.read()).toEqual(expected);
  expect([...(await seen.read())]).toEqual([n]);
  await device.close();
}

describe.each([4, 32, 128])("at width %d", (subgroup) => {
  test.each<[number, number, number]>([
    [1, 1, 1],
    [48, 1, 1],
    [100, 1, 1],
    [5, 3, 7],
    [333, 3, 1],
  ])("a workgroup of [%d, %d, %d]", async (...size) => {
    await check(openSim({ subgroup }), size);
    await check(openCpu({ subgroup, workers: 1 }), size);
  });
});
