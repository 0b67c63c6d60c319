/**
 * π from random points: how many of them lie within the quarter of a circle? The random numbers are hashes of whole numbers, so
 * that each invocation has its own without any state in memory.
 *
 *     npx node examples/monte-carlo.ts
 */

import { openDevice, type Device, type DeviceId } from "@evolver/device";
import { atomic, buffer, kernel, u32, type U32 } from "@evolver/kernel";

/** 32 bits that look random, by O'Neill's PCG: an ordinary function, which records operations where it is called. */
function pcg(seed: U32): U32 {
  const state = seed.mul(747796405).add(2891336453);
  const word = state.shr(state.shr(28).add(4)).xor(state).mul(277803737);
  return word.shr(22).xor(word);
}

/** Adds to hits[0] how many of the points of all invocations lie within the circle. */
export const countHits = kernel(
  "countHits",
  {
    params: { hits: buffer(atomic(u32)), pointsEach: u32, seed: u32 },
    workgroup: [64],
    example: { workgroups: 2, args: { hits: new Uint32Array(1), pointsEach: 5, seed: 1 } },
  },
  ({ hits, pointsEach, seed }, gpu) => {
    const state = gpu.var(u32, pcg(gpu.globalId.x.add(seed)));
    const mine = gpu.var(u32, 0);
    gpu.for({ from: 0, to: pointsEach }, () => {
      const first = pcg(state.get());
      const second = pcg(first);
      state.set(second);
      // The upper 16 bits, so that the squares fit into 32: exact on every device.
      const [x, y] = [first.shr(16), second.shr(16)];
      // x² + y² may need a 33rd bit, and is then smaller than x².
      const square = x.mul(x);
      const sum = square.add(y.mul(y));
      mine.add(sum.ge(square).toU32());
    });
    const together = gpu.subgroup.sum(mine.get());
    gpu.if(gpu.lane.eq(0), () => hits.add(0, together));
  },
);

/** Throws 65,536 points, prints the estimate, and returns the number of hits. */
export async function main(device: Device): Promise<number> {
  const [workgroups, pointsEach] = [16, 64];
  const hits = device.createBuffer("u32", 1);
  const program = await device.compile(countHits);
  await program.run({ workgroups, args: { hits, pointsEach, seed: 1 } });
  const [inside = 0] = await hits.read();
  const points = workgroups * 64 * pointsEach;
  const estimate = (4 * inside) / points;
  console.log(`${inside} of ${points} points lie inside: π ≈ ${estimate.toFixed(3)}`);
  console.log(
    `off by ${Math.abs(estimate - Math.PI).toFixed(3)}; chance alone gives about ${(1.64 / Math.sqrt(points)).toFixed(3)}`,
  );
  return inside;
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
