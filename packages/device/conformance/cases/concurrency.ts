/** Roles, and invocations that tell each other something through atomics. */

import { atomic, buffer, f32, i32, kernel, u32 } from "@evolver/kernel";
import { array, launch, noise, smallFloat, subgroupsOf, type Case, type KernelCase } from "../case.ts";

const roles: KernelCase = {
  name: "roles: each subgroup runs its own body, one runs none",
  prepare(target) {
    const { width } = target;
    const subgroups = subgroupsOf(target, 4);
    const spare = subgroups - 1;
    const [first, second] = [Math.max(1, spare - 1), spare >= 2 ? 1 : 0];
    const threads = subgroups * width;
    return launch({
      kernel: kernel(
        "roles",
        { params: { y: buffer(i32, "read_write") }, workgroup: [threads] },
        ({ y }, gpu) => {
          const i = gpu.globalId.x;
          const doubled = {
            name: "doubled",
            subgroups: first,
            body: () => gpu.if(i.and(1).eq(0), () => y.set(i, y.get(i).mul(2))),
          };
          const negated = {
            name: "negated",
            subgroups: second,
            body: () => gpu.for({ from: 0, to: 3 }, (k) => y.set(i, y.get(i).neg().sub(k.toI32()))),
          };
          gpu.roles(second > 0 ? [doubled, negated] : [doubled]);
        },
      ),
      workgroups: 2,
      args: { y: array(i32, 2 * threads, (i) => i) },
      expected: {
        y: array(i32, 2 * threads, (i) => {
          const subgroup = Math.floor((i % threads) / width);
          if (subgroup < first) return i % 2 === 0 ? 2 * i : i;
          return subgroup < first + second ? -i - 1 : i;
        }),
      },
    });
  },
};

const rolesBetweenBarriers: KernelCase = {
  name: "roles between barriers: producers fill what consumers use, in rounds",
  needs: ["subgroups"],
  prepare(target) {
    const { width } = target;
    const x = array(f32, 4 * width, (i) => smallFloat(i));
    return launch({
      kernel: kernel(
        "rounds",
        { params: { x: buffer(f32), y: buffer(f32, "write"), rounds: u32 }, workgroup: [2 * width] },
        ({ x, y, rounds }, gpu) => {
          const slot = gpu.shared(f32, 2 * width);
          gpu.for({ from: 0, to: rounds.add(1) }, (round) => {
            const [fill, drain] = [round.and(1), round.add(1).and(1)];
            gpu.roles([
              {
                name: "producer",
                subgroups: 1,
                body: () =>
                  gpu.if(round.lt(rounds), () =>
                    slot.set(fill.mul(width).add(gpu.lane), x.get(round.mul(width).add(gpu.lane)).mul(2)),
                  ),
              },
              {
                name: "consumer",
                subgroups: 1,
                body: () =>
                  gpu.if(round.gt(0), () => {
                    const value = slot.get(drain.mul(width).add(gpu.lane));
                    y.set(round.sub(1).mul(width).add(gpu.lane), gpu.subgroup.sum(value));
                  }),
              },
            ]);
            gpu.barrier();
          });
        },
      ),
      workgroups: 1,
      args: { x, y: array(f32, 4 * width), rounds: 4 },
      expected: {
        y: array(f32, 4 * width, (i) => {
          const start = i - (i % width);
          return x.subarray(start, start + width).reduce((sum, v) => sum + 2 * v, 0);
        }),
      },
    });
  },
};

const acquire = { order: "acquire" } as const;
const release = { order: "release" } as const;

const spinning: KernelCase = {
  name: "a producer and a consumer that spin on flags both get on",
  needs: ["progress", "ordering"],
  prepare({ width }) {
    const rounds = 4;
    const n = rounds * width;
    const x = array(f32, n, (i) => smallFloat(i));
    return launch({
      kernel: kernel(
        "spinning",
        {
          params: { x: buffer(f32), y: buffer(f32, "write"), flags: buffer(atomic(u32)), rounds: u32 },
          workgroup: [2 * width],
        },
        ({ x, y, flags, rounds }, gpu) => {
          const slot = gpu.shared(f32, width);
          const lane = gpu.lane;
          gpu.roles([
            {
              name: "producer",
              subgroups: 1,
              body: () =>
                gpu.for({ from: 0, to: rounds }, (round) => {
                  gpu.while(
                    () => flags.get(1, acquire).ne(round.mul(width)),
                    () => {},
                  );
                  slot.set(lane, x.get(round.mul(width).add(lane)).mul(2));
                  flags.add(0, 1, release);
                }),
            },
            {
              name: "consumer",
              subgroups: 1,
              body: () =>
                gpu.for({ from: 0, to: rounds }, (round) => {
                  gpu.while(
                    () => flags.get(0, acquire).ne(round.add(1).mul(width)),
                    () => {},
                  );
                  y.set(round.mul(width).add(lane), slot.get(lane.xor(1)));
                  flags.add(1, 1, release);
                }),
            },
          ]);
        },
      ),
      workgroups: 1,
      args: { x, y: array(f32, n), flags: array(u32, 2), rounds },
      expected: { y: array(f32, n, (i) => 2 * (x[i ^ 1] as number)), flags: Uint32Array.of(n, n) },
    });
  },
};

const lastWorkgroup: KernelCase = {
  name: "the last workgroup to finish joins what all wrote",
  needs: ["ordering"],
  prepare({ width }) {
    const groups = 50;
    const x = array(u32, groups * width, (i) => noise(i) % 1000);
    return launch({
      kernel: kernel(
        "last",
        {
          params: {
            x: buffer(u32),
            parts: buffer(u32, "read_write"),
            done: buffer(atomic(u32)),
            total: buffer(u32, "write"),
          },
          workgroup: [width],
        },
        ({ x, parts, done, total }, gpu) => {
          const tile = gpu.shared(u32, width);
          tile.set(gpu.localIndex, x.get(gpu.globalId.x));
          gpu.barrier();
          gpu.if(gpu.localIndex.eq(0), () => {
            const sum = gpu.var(u32, 0);
            gpu.for({ from: 0, to: width }, (k) => sum.add(tile.get(k)));
            parts.set(gpu.workgroupIndex, sum.get());
            const before = done.add(0, 1, { order: "acq_rel" });
            gpu.if(before.eq(gpu.numWorkgroups.x.sub(1)), () => {
              const all = gpu.var(u32, 0);
              gpu.for({ from: 0, to: gpu.numWorkgroups.x }, (k) => all.add(parts.get(k)));
              total.set(0, all.get());
            });
          });
        },
      ),
      workgroups: groups,
      args: { x, parts: array(u32, groups), done: array(u32, 1), total: array(u32, 1) },
      expected: {
        done: Uint32Array.of(groups),
        total: Uint32Array.of(x.reduce((sum, v) => sum + v, 0)),
      },
    });
  },
};

const dynamicBarrier: KernelCase = {
  name: "barriers in a loop whose bound is read from a buffer, left to run time",
  needs: ["dynamicUniformity"],
  prepare({ width }) {
    const threads = 2 * width;
    return launch({
      kernel: kernel(
        "dynamic",
        { params: { x: buffer(u32), y: buffer(u32, "write") }, workgroup: [threads], uniformity: "dynamic" },
        ({ x, y }, gpu) => {
          const ring = gpu.shared(u32, threads);
          const i = gpu.localIndex;
          const mine = gpu.var(u32, i);
          // Every invocation reads a copy of its own of the same number.
          gpu.for({ from: 0, to: x.get(gpu.globalId.x) }, () => {
            ring.set(i, mine.get());
            gpu.barrier();
            mine.set(ring.get(i.add(1).remTrunc(threads)));
            gpu.barrier();
          });
          y.set(gpu.globalId.x, mine.get());
        },
      ),
      workgroups: 3,
      args: {
        x: array(u32, 3 * threads, (i) => 2 * Math.floor(i / threads)),
        y: array(u32, 3 * threads),
      },
      expected: {
        y: array(u32, 3 * threads, (i) => ((i % threads) + 2 * Math.floor(i / threads)) % threads),
      },
    });
  },
};

export const concurrencyCases: readonly Case[] = [
  roles,
  rolesBetweenBarriers,
  spinning,
  lastWorkgroup,
  dynamicBarrier,
];
