/**
 * Loops on the cpu device give the simulator's bits: those that run to their end for some lanes before others begin, those whose
 * addresses are kept from one iteration to the next, and what is computed before them.
 */

import { add, buffer, exp, exp2, f32, fma, kernel, u32 } from "@evolver/kernel";
import { expect, test } from "vitest";
import { openCpu, openSim, type Device } from "@evolver/device";

const LENGTH = 4096;
const ROWS = 3;

const params = { x: buffer(f32), y: buffer(f32, "read_write"), n: u32, stride: u32 };

/** Accumulators and scalars in memory as a matrix product has them: more than a processor's registers. */
const product = kernel("product", { params, workgroup: [128] }, ({ x, y, n, stride }, gpu) => {
  const sums = gpu.registers(f32, 2 * ROWS, 0);
  const row = gpu.workgroupId.x.mul(ROWS);
  gpu.for({ from: 0, to: n, step: 2 }, (d) => {
    for (let r = 0; r < ROWS; r++)
      for (let c = 0; c < 2; c++) {
        const scalar = x.get(add(row.add(r).mul(stride), d, c));
        const lanes = x.get(add(d.add(c).mul(256), gpu.localIndex));
        for (let s = 0; s < 2; s++) sums.set(2 * r + s, fma(scalar, lanes.add(s), sums.get(2 * r + s)));
      }
  });
  // The same for all lanes, so it must be changed once, however often the loop is written.
  const weight = gpu.var(f32, 1);
  gpu.for({ from: 0, to: n }, (d) => {
    for (let k = 0; k < 2 * ROWS; k++)
      sums.set(k, fma(weight.get(), x.get(d.shl(3).sub(d).add(gpu.lane)), sums.get(k)));
    weight.set(weight.get().mul(-0.75));
  });
  for (let k = 0; k < 2 * ROWS; k++)
    y.set(add(gpu.workgroupId.x.mul(128), gpu.localIndex, k * 1024), sums.get(k));
});

/** Downwards, from lane to lane, with a step that is known at run time only, and where some lanes have left. */
const walks = kernel("walks", { params, workgroup: [100] }, ({ x, y, n, stride }, gpu) => {
  const sums = gpu.registers(f32, 4, 0);
  const count = gpu.var(u32, 0);
  gpu.for({ from: n.toI32(), to: 3, step: -3 }, (i) => {
    for (let k = 0; k < 4; k++)
      sums.add(
        k,
        x.get(
          i
            .toU32()
            .sub(k % 3)
            .mul(5)
            .add(gpu.lane.mul(k)),
        ),
      );
  });
  gpu.for({ from: gpu.localIndex, to: 400, step: 100 }, (i) => {
    sums.add(0, x.get(i.shl(1).add(n)));
    gpu.if(x.get(i).lt(0), () => gpu.continue());
    sums.add(1, x.get(i.add(7)));
    count.add(1);
  });
  gpu.for({ from: 0, to: n, step: stride.min(7) }, (i) => {
    gpu.if(gpu.lane.lt(i.add(3)), () => {
      gpu.for({ from: 0, to: 5 }, (j) => {
        for (let k = 0; k < 4; k++)
          sums.set(k, fma(x.get(i.mul(3).add(j)), x.get(j.mul(16).add(gpu.lane)), sums.get(k)));
      });
    });
    // Uniform state that a loop changes must be changed once.
    count.add(i);
  });
  for (let k = 0; k < 4; k++) y.set(add(gpu.localIndex, k * 1024), sums.get(k).add(count.get().toF32()));
});

/** Indices that pass the end of their type on the way to an element that exists, and a loop that never runs. */
const wraps = kernel("wraps", { params, workgroup: [64] }, ({ x, y, n, stride }, gpu) => {
  const sums = gpu.registers(f32, 3, 1);
  gpu.for({ from: 0, to: 8 }, (i) => {
    const back = i.mul(0x4000_0000).mul(4).add(i);
    for (let k = 0; k < 3; k++)
      sums.set(k, fma(x.get(back.add(gpu.lane.mul(k + 1))), x.get(back.add(k)), sums.get(k)));
  });
  gpu.for({ from: n, to: n }, (i) => {
    for (let k = 0; k < 3; k++) sums.add(k, x.get(i.mul(stride).mul(1_000_000).add(gpu.lane)));
  });
  for (let k = 0; k < 3; k++) y.set(add(gpu.localIndex, k * 1024), sums.get(k));
});

/** A loop that reads what it wrote: no lane may be ahead of another. */
const stencil = kernel("stencil", { params, workgroup: [128] }, ({ x, y, n }, gpu) => {
  const tile = gpu.shared(f32, 256);
  tile.set(gpu.localIndex, x.get(gpu.localIndex));
  tile.set(gpu.localIndex.add(128), 0.5);
  const sums = gpu.registers(f32, 3, 0);
  gpu.barrier();
  gpu.for({ from: 0, to: n.min(20) }, (i) => {
    const own = gpu.subgroupId.mul(gpu.subgroupSize);
    const next = tile.get(add(own, gpu.lane.add(1).remTrunc(gpu.subgroupSize)));
    for (let k = 0; k < 3; k++) sums.set(k, fma(next, i.toF32().add(k), sums.get(k)));
    gpu.subgroup.barrier();
    tile.set(
      gpu.localIndex,
      add(...(Array.from({ length: 3 }, (_, k) => sums.get(k)) as [never, never, never])),
    );
    gpu.subgroup.barrier();
  });
  for (let k = 0; k < 3; k++) y.set(add(gpu.localIndex, k * 1024), sums.get(k));
});

/** Exponentials alone and two at a time, of special numbers too, in loops and under masks. */
const exponentials = kernel("exponentials", { params, workgroup: [100] }, ({ x, y, n }, gpu) => {
  const value = x.get(gpu.localIndex.mul(3));
  const sum = gpu.var(f32, exp2(value));
  gpu.for({ from: 0, to: n.min(9) }, (i) => {
    sum.add(exp(x.get(i.add(gpu.localIndex)).mul(30)));
  });
  gpu.if(value.lt(0), () => sum.add(exp2(value.mul(100))));
  y.set(gpu.localIndex, sum.get());
  y.set(gpu.localIndex.add(1024), exp(x.get(gpu.localIndex.add(LENGTH - 100))));
});

const special = [0, -0, Infinity, -Infinity, NaN, 1e-45, 3.4e38, -3.4e38, 127.99, -149.5, -126.2, 88.7];
const input = Float32Array.from({ length: LENGTH }, (_, i) =>
  i >= LENGTH - 100 ? (special[i % special.length] as number) : Math.sin(i * 12.9898) * 2,
);

async function outputOf(device: Device, made: typeof product): Promise<Uint32Array> {
  const x = device.createBuffer("f32", input);
  const y = device.createBuffer("f32", 6 * 1024);
  const program = await device.compile(made);
  await program.run({ workgroups: made === product ? 3 : 1, args: { x, y, n: 12, stride: 40 } });
  const bits = await y.read();
  await device.close();
  // A NaN has no sign and no payload that counts.
  return Uint32Array.from(
    bits,
    (v) => (Number.isNaN(v) ? 0x7fc00000 : new Uint32Array(Float32Array.of(v).buffer)[0])!,
  );
}

test.each([4, 8, 16, 32, 64, 128])("subgroups of %i", async (subgroup) => {
  for (const made of [product, walks, wraps, stencil, exponentials]) {
    const expected = await outputOf(openSim({ subgroup }), made);
    expect(await outputOf(openCpu({ subgroup, workers: 1 }), made), made.name).toEqual(expected);
  }
});
