/** Buffers of structs: whole structs, single fields, reads up to the end; packed and unpacked by the host. */

import { buffer, f32, i32, kernel, struct, u32 } from "@evolver/kernel";
import { array, launch, noise, smallFloat, type Case, type KernelCase } from "../case.ts";

const Particle = struct({ x: f32, charge: i32, id: u32 });
const Point = struct({ x: f32, y: f32, z: f32, w: f32 });
const Pair = struct({ key: u32, weight: f32 });

const particle = (i: number): { x: number; charge: number; id: number } => ({
  x: smallFloat(i),
  charge: (noise(i, 2) % 200) - 100,
  id: noise(i, 3),
});

const mixed: KernelCase = {
  name: "structs of three types: copied in reverse order, one field changed",
  prepare({ width }) {
    const n = 2 * width - 1;
    const before = Array.from({ length: n }, (_, i) => particle(i));
    return launch({
      kernel: kernel(
        "reverse",
        {
          params: { from: buffer(Particle), to: buffer(Particle, "read_write"), n: u32 },
          workgroup: [width],
        },
        ({ from, to, n }, gpu) => {
          const i = gpu.globalId.x;
          gpu.if(i.lt(from.length), () => {
            const { x, charge, id } = from.get(n.sub(1).sub(i));
            to.set(i, { x: x.mul(2), charge: charge.neg(), id });
            to.field("id").set(i, to.field("id").get(i).add(1));
          });
        },
      ),
      workgroups: 2,
      args: {
        from: Particle.pack(before),
        to: Particle.pack(before.map(() => ({ x: 0, charge: 0, id: 0 }))),
        n,
      },
      expected: {
        to: Particle.pack(
          before
            .toReversed()
            .map(({ x, charge, id }) => ({ x: 2 * x, charge: -charge, id: (id + 1) % 2 ** 32 })),
        ),
      },
    });
  },
};

const wide: KernelCase = {
  name: "structs of two and of four fields, which are read and written at once",
  prepare({ width }) {
    const points = Array.from({ length: width }, (_, i) => ({ x: i, y: 2 * i, z: smallFloat(i), w: -i }));
    const pairs = points.map(({ x, z }) => ({ key: x, weight: z }));
    return launch({
      kernel: kernel(
        "points",
        {
          params: {
            points: buffer(Point),
            pairs: buffer(Pair),
            out: buffer(Point, "write"),
            swapped: buffer(Pair, "write"),
          },
          workgroup: [width],
        },
        ({ points, pairs, out, swapped }, gpu) => {
          const i = gpu.localId.x;
          const { x, y, z, w } = points.get(i);
          out.set(i, { x: w, y: z, z: y, w: x });
          const { key, weight } = pairs.get(i);
          swapped.set(i, { key: weight.toI32().toU32().add(key), weight: 1.5 });
        },
      ),
      workgroups: 1,
      args: {
        points: Point.pack(points),
        pairs: Pair.pack(pairs),
        out: array(f32, 4 * width),
        swapped: array(u32, 2 * width),
      },
      expected: {
        out: Point.pack(points.map(({ x, y, z, w }) => ({ x: w, y: z, z: y, w: x }))),
        swapped: Pair.pack(
          pairs.map(({ key, weight }) => ({ key: (Math.trunc(weight) + key) >>> 0, weight: 1.5 })),
        ),
      },
    });
  },
};

const ends: KernelCase = {
  name: "structs and their fields read up to the end of the buffer",
  prepare({ width }) {
    const n = width - 2;
    const before = Array.from({ length: n }, (_, i) => particle(i));
    const none = { x: 0.25, charge: -7, id: 9 };
    const shifted = Array.from({ length: width }, (_, i) => (i >= 1 && i <= n ? particle(i - 1) : none));
    return launch({
      kernel: kernel(
        "shift",
        {
          params: { from: buffer(Particle), to: buffer(Particle, "write"), ids: buffer(u32, "write") },
          workgroup: [width],
        },
        ({ from, to, ids }, gpu) => {
          const i = gpu.localId.x;
          to.set(i, from.getOr(i.toI32().sub(1), none));
          ids.set(i, from.field("id").getOr(i.add(1), 5));
        },
      ),
      workgroups: 1,
      args: {
        from: Particle.pack(before),
        to: Particle.pack(shifted.map(() => none)),
        ids: array(u32, width),
      },
      expected: {
        to: Particle.pack(shifted),
        ids: array(u32, width, (i) => (i + 1 < n ? particle(i + 1).id : 5)),
      },
    });
  },
};

export const structCases: readonly Case[] = [mixed, wide, ends];
