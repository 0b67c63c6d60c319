/** Control flow of the cpu device around barriers, and kernels whose subgroups wait for each other. */

import { atomic, buffer, f32, kernel, u32 } from "@evolver/kernel";
import type { Kernel, Params } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { openCpu } from "@evolver/device";
import type { CpuProgram } from "@evolver/device";

/** The contents of `out` after a launch, on the given number of threads. */
async function run<P extends Params>(
  made: Kernel<P>,
  length: number,
  workgroups: number,
  args: Record<string, number | Uint32Array> = {},
  workers = 1,
): Promise<{ out: number[]; program: CpuProgram<P> }> {
  const device = openCpu({ workers, subgroup: 8 });
  const out = device.createBuffer("u32", length);
  const all: Record<string, unknown> = { out };
  for (const [name, value] of Object.entries(args))
    all[name] = typeof value === "number" ? value : device.createBuffer("u32", value);
  const program = await device.compile(made);
  await program.run({ workgroups, args: all as never });
  const read = Array.from(await out.read());
  await device.close();
  return { out: read, program };
}

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describe("barriers", () => {
  test("values, variables and built-ins live across them, for every subgroup its own", async () => {
    const made = kernel(
      "across",
      { params: { out: buffer(u32, "write") }, workgroup: [16, 2] },
      ({ out }, gpu) => {
        const i = gpu.localIndex;
        const tile = gpu.shared(u32, 32);
        const kept = i.mul(i).add(1);
        const perSubgroup = gpu.subgroup.sum(i);
        const isOdd = i.and(1).eq(1);
        const count = gpu.var(u32, i.add(7));
        const half = gpu.var(f32, 0.5);
        tile.set(i, i);
        gpu.barrier();
        count.add(tile.get(i.xor(31)));
        half.set(half.get().mul(2).add(i.toF32()));
        gpu.barrier();
        gpu.if(isOdd, () => count.add(1000));
        out.set(i, kept.add(count.get()).add(perSubgroup.mul(10_000)).add(half.get().toU32().mul(1_000_000)));
        gpu.barrier();
        out.set(i.add(32), gpu.localId.y.mul(100).add(gpu.localId.x).add(gpu.subgroupId.mul(1000)));
      },
    );
    const { out } = await run(made, 64, 1);
    expect(out.slice(0, 32)).toEqual(
      upTo(32).map((i) => {
        const sum = upTo(8).reduce((total, l) => total + (i & ~7) + l, 0);
        return i * i + 1 + i + 7 + (31 - i) + (i & 1) * 1000 + sum * 10_000 + (i + 1) * 1_000_000;
      }),
    );
    expect(out.slice(32)).toEqual(upTo(32).map((i) => (i >> 4) * 100 + (i & 15) + (i >> 3) * 1000));
  });

  test("loops, branches, break and continue around them", async () => {
    const made = kernel(
      "loops",
      { params: { out: buffer(u32, "write"), n: u32 }, workgroup: [32] },
      ({ out, n }, gpu) => {
        const i = gpu.localIndex;
        const tile = gpu.shared(u32, 32);
        const total = gpu.var(u32, 0);
        gpu.for({ from: 0, to: n }, (round) => {
          gpu.if(round.eq(1), () => gpu.continue());
          gpu.if(round.eq(5), () => gpu.break());
          tile.set(i, i.add(round.mul(100)));
          gpu.barrier();
          gpu.if(
            round.and(1).eq(0),
            () => {
              total.add(tile.get(i.add(1).and(31)));
              gpu.barrier();
              total.add(1);
            },
            () => total.add(tile.get(31)),
          );
          gpu.barrier();
        });
        out.set(i, total.get());
      },
    );
    const expected = (i: number): number =>
      [0, 2, 4].reduce((sum, round) => sum + ((i + 1) & 31) + round * 100 + 1, 0) + 31 + 300;
    expect((await run(made, 32, 1, { n: 100 })).out).toEqual(upTo(32).map(expected));
    expect((await run(made, 32, 1, { n: 0 })).out).toEqual(upTo(32).map(() => 0));
  });

  test("a persistent kernel takes tiles from a counter, on two threads", async () => {
    const tiles = 500;
    const made = kernel(
      "persistent",
      { params: { out: buffer(u32, "write"), next: buffer(atomic(u32)), tiles: u32 }, workgroup: [16] },
      ({ out, next, tiles: end }, gpu) => {
        const taken = gpu.shared(u32, 1);
        const tile = gpu.var(u32, 0);
        const take = (): void => {
          gpu.if(gpu.localIndex.eq(0), () => taken.set(0, next.add(0, 1)));
          tile.set(gpu.uniformLoad(taken, 0));
        };
        take();
        gpu.while(
          () => tile.get().lt(end),
          () => {
            out.set(tile.get().mul(16).add(gpu.localIndex), tile.get().mul(1000).add(gpu.localIndex));
            take();
          },
        );
      },
    );
    const { out, program } = await run(made, tiles * 16, 4, { tiles, next: new Uint32Array(1) }, 2);
    expect(out).toEqual(upTo(tiles * 16).map((i) => (i >> 4) * 1000 + (i & 15)));
    expect(program.notes).toEqual([]);
  });

  test("conditions that are uniform without proof come from the first invocation", async () => {
    const made = kernel(
      "unproved",
      { params: { out: buffer(u32, "write") }, workgroup: [32], uniformity: "dynamic" },
      ({ out }, gpu) => {
        const i = gpu.localIndex;
        const flag = gpu.shared(u32, 2);
        const rounds = gpu.var(u32, 0);
        gpu.if(i.lt(2), () => flag.set(i, i.add(3)));
        gpu.barrier();
        const limit = flag.get(0);
        gpu.for({ from: 0, to: limit }, () => {
          gpu.barrier();
          rounds.add(1);
        });
        gpu.if(gpu.subgroup.any(flag.get(i.mul(0).add(1)).eq(4)), () => {
          gpu.barrier();
          rounds.add(10);
        });
        gpu.while(
          () => rounds.get().lt(20),
          () => {
            gpu.barrier();
            rounds.add(3);
          },
        );
        // The step is read in a stretch and is needed in the body too.
        const step = flag.get(1).sub(2);
        gpu.for({ from: 0, to: limit.add(4), step }, () => {
          rounds.add(step.mul(100));
          gpu.barrier();
          rounds.add(step);
        });
        out.set(i, rounds.get());
      },
    );
    expect((await run(made, 32, 1)).out).toEqual(upTo(32).map(() => 22 + 4 * 202));
  });

  test("roles between barriers", async () => {
    const made = kernel(
      "roles",
      { params: { out: buffer(u32, "write") }, workgroup: [32] },
      ({ out }, gpu) => {
        const tile = gpu.shared(u32, 32);
        gpu.roles([
          {
            name: "low",
            subgroups: 1,
            body: () => gpu.unroll(4, (k) => tile.set(gpu.lane.add(8 * k), gpu.lane.add(k))),
          },
          { name: "rest", subgroups: 2, body: () => out.set(gpu.localIndex.add(32), gpu.subgroupId) },
        ]);
        gpu.barrier();
        out.set(gpu.localIndex, tile.get(gpu.localIndex.xor(31)));
      },
    );
    const { out } = await run(made, 64, 1);
    expect(out.slice(0, 32)).toEqual(upTo(32).map((i) => ((31 - i) & 7) + ((31 - i) >> 3)));
    expect(out.slice(32)).toEqual(upTo(32).map((i) => (i >= 8 && i < 24 ? i >> 3 : 0)));
  });
});

test("barriers inside roles, where the workgroup is one subgroup", async () => {
  const made = kernel(
    "lonely_role",
    { params: { out: buffer(u32, "write"), n: u32 }, workgroup: [8], uniformity: "dynamic" },
    ({ out, n }, gpu) => {
      const tile = gpu.shared(u32, 8);
      const total = gpu.var(u32, 0);
      gpu.roles([
        {
          name: "only",
          subgroups: 1,
          body: () => {
            gpu.for({ from: 0, to: n }, (round) => {
              tile.set(gpu.lane, gpu.lane.mul(round));
              gpu.barrier();
              total.add(tile.get(gpu.lane.xor(7)));
              gpu.barrier();
            });
          },
        },
      ]);
      out.set(gpu.lane, total.get());
    },
  );
  const { out } = await run(made, 8, 1, { n: 4 });
  expect(out).toEqual(upTo(8).map((i) => (7 - i) * 6));
});

test("lanes leave nested loops one by one", async () => {
  const made = kernel(
    "collatz",
    { params: { out: buffer(u32, "write") }, workgroup: [32] },
    ({ out }, gpu) => {
      const steps = gpu.var(u32, 0);
      const x = gpu.var(u32, gpu.localIndex.add(1));
      gpu.while(
        () => x.get().ne(1),
        () => {
          gpu.for({ from: 0, to: 100 }, (k) => {
            gpu.if(x.get().and(1).eq(1).or(k.ge(3)), () => gpu.break());
            x.set(x.get().shr(1));
            steps.add(1);
            gpu.if(x.get().eq(8), () => gpu.continue());
            gpu.if(x.get().eq(1), () => gpu.break());
          });
          gpu.if(x.get().and(1).eq(0).or(x.get().eq(1)), () => gpu.continue());
          x.set(x.get().mul(3).add(1));
          steps.add(1);
        },
      );
      out.set(gpu.localIndex, steps.get());
    },
  );
  const collatz = (start: number): number => {
    let steps = 0;
    for (let x = start; x !== 1; steps++) x = x % 2 === 0 ? x / 2 : 3 * x + 1;
    return steps;
  };
  expect((await run(made, 32, 1)).out).toEqual(upTo(32).map((i) => collatz(i + 1)));
});

test("lanes are read by a run-time index in a loop, from outside it and from a loop's own index", async () => {
  const made = kernel(
    "walk",
    { params: { out: buffer(u32, "write"), n: u32 }, workgroup: [16], uniformity: "dynamic" },
    ({ out, n }, gpu) => {
      const mine = gpu.localIndex.mul(gpu.localIndex);
      const total = gpu.var(u32, 0);
      const start = gpu.lane.xor(5);
      gpu.for({ from: start, to: start.add(2) }, (i) => {
        gpu.for({ from: 0, to: n }, (j) => {
          total.add(gpu.subgroup.shuffle(mine, j));
          total.add(gpu.subgroup.shuffle(i, j).mul(1000));
        });
      });
      out.set(gpu.localIndex, total.get());
    },
  );
  const expected = (first: number): number =>
    upTo(8).reduce((sum, j) => sum + 2 * (first + j) ** 2 + 1000 * (2 * (j ^ 5) + 1), 0);
  expect((await run(made, 16, 1, { n: 8 })).out).toEqual(upTo(16).map((i) => expected(i & 8)));
});

describe("subgroups that wait for each other", () => {
  test("or leave a loop with barriers in roles run on the simulator's engine", async () => {
    const made = kernel(
      "leaving_roles",
      { params: { out: buffer(u32, "write"), n: u32 }, workgroup: [16], uniformity: "dynamic" },
      ({ out, n }, gpu) => {
        const tile = gpu.shared(u32, 16);
        const total = gpu.var(u32, 0);
        gpu.for({ from: 0, to: n }, (round) => {
          tile.set(gpu.localIndex, round);
          gpu.barrier();
          total.add(tile.get(gpu.localIndex.xor(9)));
          const leave = (): void => gpu.if(round.eq(2), () => gpu.break());
          gpu.roles([
            { name: "low", subgroups: 1, body: leave },
            { name: "high", subgroups: 1, body: leave },
          ]);
          gpu.barrier();
        });
        out.set(gpu.localIndex, total.get());
      },
    );
    const { out, program } = await run(made, 16, 1, { n: 10 });
    expect(program.notes).toEqual([expect.stringContaining("a role that leaves a loop with barriers")]);
    expect(out).toEqual(upTo(16).map(() => 3));
  });

  test("run on the simulator's engine, and the program says so", async () => {
    const made = kernel(
      "handshake",
      { params: { out: buffer(u32, "write") }, workgroup: [16] },
      ({ out }, gpu) => {
        const data = gpu.shared(u32, 8);
        const flag = gpu.shared(atomic(u32), 1);
        gpu.if(gpu.localIndex.eq(0), () => flag.set(0, 0));
        gpu.barrier();
        gpu.roles([
          {
            name: "consumer",
            subgroups: 1,
            body: () => {
              gpu.while(
                () => flag.get(0, { order: "acquire" }).eq(0),
                () => {},
              );
              out.set(gpu.lane, data.get(gpu.lane));
            },
          },
          {
            name: "producer",
            subgroups: 1,
            body: () => {
              data.set(gpu.lane, gpu.lane.mul(11));
              gpu.if(gpu.subgroup.all(gpu.lane.lt(8)).and(gpu.lane.eq(0)), () =>
                flag.set(0, 1, { order: "release" }),
              );
            },
          },
        ]);
      },
    );
    const { out, program } = await run(made, 8, 1);
    expect(program.notes).toEqual([expect.stringContaining('waits for another subgroup to write "')]);
    expect(out).toEqual(upTo(8).map((l) => 11 * l));
  });

  test("a retry loop is not one", async () => {
    const made = kernel(
      "retry",
      { params: { out: buffer(u32, "write"), best: buffer(atomic(u32)) }, workgroup: [16] },
      ({ out, best }, gpu) => {
        const seen = gpu.var(u32, 0);
        const mine = gpu.localIndex.mul(7).remTrunc(16);
        gpu.while(
          () => seen.get().lt(mine),
          () => {
            const before = best.compareExchange(0, seen.get(), mine);
            seen.set(before);
          },
        );
        out.set(gpu.localIndex, gpu.localIndex);
      },
    );
    const { program } = await run(made, 16, 1, { best: new Uint32Array(1) });
    expect(program.notes).toEqual([]);
  });
});
