/**
 * Gravity between all pairs of bodies, after Nyland, Harris and Prins, "Fast N-Body Simulation with CUDA" (GPU Gems 3, chapter
 * 31): each body adds up the pull of all others, which pass through shared memory tile by tile.
 *
 *     npx evolver evolve examples/tune/nbody.ts
 *     npx evolver evolve examples/tune/nbody.ts --device webgpu --n 16384
 */

import { buffer, f32, fma, kernel, rsqrt, u32, type F32 } from "@evolver/kernel";

/** Keeps the pull of a body on itself, and of bodies that meet, finite. */
const SOFTENING = 0.01;

/** Positions and masses are [n, 4] (x, y, z, mass); accelerations are [n, 4], the fourth always 0. */
export const nbody = kernel(
  "nbody",
  {
    params: { bodies: buffer(f32), pull: buffer(f32, "write"), n: u32 },
    tune: {
      /** Invocations per workgroup, and bodies in a tile. */
      width: [64, 128, 256, 512],
      /** Bodies that an invocation moves: each one read from shared memory serves them all. */
      each: [1, 2, 4],
      /** Bodies of a tile that are looked at per turn of the loop. */
      unroll: [1, 4, 8, 16],
      /** Where the others' positions come from. */
      others: ["global", "shared"],
    },
    sizes: { n: 8192 },
    workgroup: ({ tune }) => [tune.width],
    example: ({ n }, { width, each }) => ({
      workgroups: Math.ceil(n / (width * each)),
      args: { bodies: { length: 4 * n, min: 0, max: 1 }, pull: 4 * n, n },
    }),
    reference({ bodies, n }) {
      const pull = new Float64Array(4 * n);
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) {
          const [dx, dy, dz] = [0, 1, 2].map((k) => bodies[4 * j + k]! - bodies[4 * i + k]!) as [
            number,
            number,
            number,
          ];
          const strength = bodies[4 * j + 3]! * (dx * dx + dy * dy + dz * dz + SOFTENING) ** -1.5;
          pull[4 * i]! += dx * strength;
          pull[4 * i + 1]! += dy * strength;
          pull[4 * i + 2]! += dz * strength;
        }
      return { pull };
    },
    work: ({ n }) => ({ flops: 20 * n * n }),
  },
  ({ bodies, pull, n }, gpu, { width, each, unroll, others }) => {
    const first = gpu.workgroupId.x.mul(width * each).add(gpu.localIndex);
    const own = Array.from({ length: each }, (_, k) => {
      const index = first.add(k * width);
      const place = bodies.getVec(4, index.min(n.sub(1)).mul(4)).components;
      return { index, place, sums: [0, 1, 2].map(() => gpu.var(f32, 0)) };
    });
    const visit = (x: F32, y: F32, z: F32, mass: F32): void => {
      for (const { place, sums } of own) {
        const away = [x, y, z].map((value, k) => value.sub(place[k] as F32)) as [F32, F32, F32];
        const squared = fma(away[0], away[0], fma(away[1], away[1], fma(away[2], away[2], SOFTENING)));
        const inverse = rsqrt(squared);
        const strength = inverse.mul(inverse).mul(inverse).mul(mass);
        sums.forEach((sum, k) => sum.set(fma(away[k] as F32, strength, sum.get())));
      }
    };
    if (others === "global") {
      gpu.for({ from: 0, to: n }, (j) =>
        visit(...(bodies.getVec(4, j.mul(4)).components as [F32, F32, F32, F32])),
      );
    } else {
      const tile = gpu.shared(f32, 4 * width);
      gpu.for({ from: 0, to: n, step: width }, (start) => {
        const mine = start.add(gpu.localIndex);
        const place = bodies.getVec(4, mine.min(n.sub(1)).mul(4)).components;
        // A body beyond the end has no mass.
        const mass = gpu.if(
          mine.lt(n),
          () => place[3] as F32,
          () => gpu.constant(f32, 0),
        );
        [place[0], place[1], place[2], mass].forEach((value, k) =>
          tile.set(gpu.localIndex.mul(4).add(k), value as F32),
        );
        gpu.barrier();
        gpu.for({ from: 0, to: width, step: unroll }, (j) => {
          for (let u = 0; u < unroll; u++)
            visit(...(tile.getVec(4, j.add(u).mul(4)).components as [F32, F32, F32, F32]));
        });
        gpu.barrier();
      });
    }
    for (const { index, sums } of own)
      gpu.if(index.lt(n), () => {
        sums.forEach((sum, k) => pull.set(index.mul(4).add(k), sum.get()));
        pull.set(index.mul(4).add(3), 0);
      });
  },
);
