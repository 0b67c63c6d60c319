/** Several schedules of one kernel: workgroups that take turns, older values, and results that depend on who comes first. */

import { atomic, buffer, f32, kernel, u32 } from "@evolver/kernel";
import type { Kernel, Params } from "@evolver/kernel";
import { explore, openSim, SimulationAborted } from "@evolver/device";
import type { Exploration, ExploreOptions } from "@evolver/device";
import { describe, expect, test } from "vitest";

const acquire = { order: "acquire" } as const;
const release = { order: "release" } as const;
const both = { order: "acq_rel" } as const;

/** Explores a kernel with its buffers zeroed, of so many elements each. */
function zeroed<P extends Params>(
  made: Kernel<P>,
  workgroups: number,
  length: number,
  options: ExploreOptions = {},
): Promise<Exploration> {
  return explore(
    made,
    (device) => {
      const args = Object.entries(made.params).map(([name, param]) => [
        name,
        param.kind === "type"
          ? length
          : device.createBuffer(
              param.element,
              param.element === "f32" ? new Float32Array(length) : new Uint32Array(length),
            ),
      ]);
      return { workgroups, args: Object.fromEntries(args) as never };
    },
    options,
  );
}

const kindsOf = ({ findings }: Exploration): string[] => findings.map(({ kind }) => kind);

/** Each workgroup writes its part; the last by index, or the last by ticket, adds them up. */
const lastAddsUp = (byTicket: boolean) =>
  kernel(
    "sum",
    {
      params: { parts: buffer(f32, "read_write"), tickets: buffer(atomic(u32)), out: buffer(f32, "write") },
      workgroup: [8],
    },
    ({ parts, tickets, out }, gpu) =>
      gpu.if(gpu.localIndex.eq(0), () => {
        parts.set(gpu.workgroupIndex, 2);
        const ticket = tickets.add(0, 1, both);
        const last = gpu.numWorkgroups.x.sub(1);
        gpu.if(byTicket ? ticket.eq(last) : gpu.workgroupIndex.eq(last), () => {
          const sum = gpu.var(f32, 0);
          gpu.for({ from: 0, to: gpu.numWorkgroups.x }, (w) => sum.add(parts.get(w)));
          out.set(0, sum.get());
        });
      }),
  );

describe("workgroups take turns", () => {
  test("the highest index is not the last to finish", async () => {
    expect(kindsOf(await zeroed(lastAddsUp(false), 5, 8))).toEqual(["data-race"]);
    expect(kindsOf(await zeroed(lastAddsUp(true), 5, 8, { schedules: 12 }))).toEqual([]);
  });

  test("a lock is found held", async () => {
    const locked = (outside: number) =>
      kernel(
        "lock",
        { params: { lock: buffer(atomic(u32)), a: buffer(u32, "read_write") }, workgroup: [1] },
        ({ lock, a }, gpu) =>
          gpu.if(
            lock.compareExchange(0, 0, 1, acquire).eq(0),
            () => {
              a.set(0, a.get(0).add(1));
              lock.set(0, 0, release);
            },
            () => a.set(gpu.workgroupIndex.add(outside), 1),
          ),
      );
    expect(kindsOf(await zeroed(locked(16), 6, 16))).toEqual(["out-of-bounds"]);
    expect(kindsOf(await zeroed(locked(1), 6, 16))).toEqual([]);
  });

  test("a short time between two atomic operations is long for others, however long they worked before", async () => {
    const once = (published: number) =>
      kernel(
        "once",
        {
          params: {
            x: buffer(f32),
            state: buffer(atomic(u32)),
            data: buffer(u32, "read_write"),
            out: buffer(f32, "write"),
          },
          workgroup: [64],
        },
        ({ x, state, data, out }, gpu) => {
          const sum = gpu.var(f32, 0);
          gpu.for({ from: 0, to: 300 }, (i) => sum.add(x.get(i)));
          gpu.if(gpu.localIndex.eq(0), () => {
            gpu.if(state.compareExchange(0, 0, 1, both).eq(0), () => {
              data.set(0, 7);
              state.set(0, 2, release);
            });
            gpu.if(state.get(0, acquire).ge(published), () => sum.add(data.get(0).toF32()));
          });
          out.set(gpu.globalId.x, sum.get());
        },
      );
    expect(kindsOf(await zeroed(once(1), 4, 300))).toEqual(["data-race"]);
    expect(kindsOf(await zeroed(once(2), 4, 300))).toEqual([]);
  });

  test("a workgroup may wait for one with a lower index, and not for one that has not begun", async () => {
    const waits = (step: number) =>
      kernel("wait", { params: { flags: buffer(atomic(u32)) }, workgroup: [4] }, ({ flags }, gpu) => {
        const me = gpu.workgroupIndex;
        const other = step < 0 ? me.max(1).sub(1) : me.add(1).min(gpu.numWorkgroups.x.sub(1));
        gpu.if(other.ne(me), () =>
          gpu.while(
            () => flags.get(other, acquire).eq(0),
            () => {},
          ),
        );
        gpu.if(gpu.localIndex.eq(0), () => flags.set(me, 1, release));
      });
    expect(kindsOf(await zeroed(waits(-1), 40, 40, { schedules: 8 }))).toEqual([]);
    const { findings } = await zeroed(waits(1), 40, 40);
    expect(findings.map(({ kind }) => kind)).toEqual(["deadlock"]);
    expect(findings[0]?.message).toContain("39 workgroups have not begun");
  });

  test("look-back over 16,384 workgroups with release and acquire", async () => {
    const count = 16_384;
    const lookBack = kernel(
      "lookBack",
      { params: { sums: buffer(f32, "read_write"), ready: buffer(atomic(u32)) }, workgroup: [32] },
      ({ sums, ready }, gpu) => {
        const me = gpu.workgroupIndex;
        gpu.if(gpu.localIndex.eq(0), () => {
          const before = gpu.var(f32, 0);
          gpu.if(me.gt(0), () => {
            gpu.while(
              () => ready.get(me.sub(1), acquire).eq(0),
              () => {},
            );
            before.set(sums.get(me.sub(1)));
          });
          sums.set(me, before.get().add(1));
          ready.set(me, 1, release);
        });
      },
    );
    for (const seed of [undefined, 5]) {
      const device = openSim({ onFinding: "throw", ...(seed === undefined ? {} : { seed }) });
      const program = await device.compile(lookBack);
      const sums = device.createBuffer("f32", count);
      const ready = device.createBuffer("u32", count);
      await program.run({ workgroups: count, args: { sums, ready } });
      expect((await sums.read()).at(-1)).toBe(count);
      await device.close();
    }
  });
});

describe("what orders nothing", () => {
  /** One subgroup passes a number on to another, through two atomic places. */
  const passes = (order: "relaxed" | "release") =>
    kernel(
      "pass",
      {
        params: { cells: buffer(atomic(u32)), out: buffer(u32, "write") },
        workgroup: ({ subgroup }) => [2 * subgroup],
      },
      ({ cells, out }, gpu) =>
        gpu.if(gpu.lane.eq(0), () =>
          gpu.if(
            gpu.subgroupId.eq(0),
            () => {
              cells.set(0, 7);
              cells.set(1, 1, { order });
            },
            () => {
              const ready = cells.get(1, { order: order === "relaxed" ? "relaxed" : "acquire" });
              const value = cells.get(0);
              gpu.if(ready.eq(1).and(value.eq(0)), () => out.set(1_000_000, 1));
            },
          ),
        ),
    );

  test("relaxed operations on two places may be seen in the other order", async () => {
    expect(kindsOf(await zeroed(passes("relaxed"), 1, 4))).toEqual(["out-of-bounds"]);
    expect(kindsOf(await zeroed(passes("release"), 1, 4, { schedules: 10 }))).toEqual([]);
  });

  test("an acquiring load learns what was released, and not what else was written", async () => {
    const relay = (order: "relaxed" | "release") =>
      kernel(
        "relay",
        { params: { cells: buffer(atomic(u32)), out: buffer(u32, "write") }, workgroup: [4] },
        ({ cells, out }, gpu) =>
          gpu.if(gpu.localIndex.eq(0), () =>
            gpu.if(
              gpu.workgroupIndex.eq(0),
              () => {
                cells.set(2, 9);
                cells.set(3, 1, { order });
              },
              () => {
                const raised = cells.get(3, acquire);
                gpu.if(raised.eq(1).and(cells.get(2).eq(0)), () => out.set(1_000_000, 1));
              },
            ),
          ),
      );
    expect(kindsOf(await zeroed(relay("relaxed"), 2, 4, { schedules: 6 }))).toEqual(["out-of-bounds"]);
    expect(kindsOf(await zeroed(relay("release"), 2, 4, { schedules: 10 }))).toEqual([]);
  });

  test("what one has seen, those do not go behind that come after it", async () => {
    const chain = kernel(
      "chain",
      { params: { cells: buffer(atomic(u32)), out: buffer(u32, "write") }, workgroup: [4] },
      ({ cells, out }, gpu) =>
        gpu.if(gpu.localIndex.eq(0), () => {
          gpu.if(gpu.workgroupIndex.eq(0), () => void cells.set(0, 1));
          gpu.if(gpu.workgroupIndex.eq(1), () => gpu.if(cells.get(0).eq(1), () => cells.set(1, 1, release)));
          gpu.if(gpu.workgroupIndex.eq(2), () =>
            gpu.if(cells.get(1, acquire).eq(1), () =>
              gpu.if(cells.get(0).eq(0), () => out.set(1_000_000, 1)),
            ),
          );
        }),
    );
    expect(kindsOf(await zeroed(chain, 3, 4, { schedules: 12 }))).toEqual([]);
  });

  test("each place has one order, and a barrier shows what is before it", async () => {
    const twice = kernel(
      "twice",
      { params: { cells: buffer(atomic(u32)), out: buffer(u32, "write") }, workgroup: [64] },
      ({ cells, out }, gpu) => {
        cells.max(0, gpu.localIndex);
        const first = cells.get(0);
        const second = cells.get(0);
        gpu.if(first.gt(second), () => out.set(1_000_000, 1));
        gpu.barrier();
        gpu.if(cells.get(0).ne(63), () => out.set(1_000_000, 1));
      },
    );
    expect(kindsOf(await zeroed(twice, 1, 4, { schedules: 10, subgroup: 4 }))).toEqual([]);
  });

  test("shared memory is each workgroup's own", async () => {
    const sums = kernel(
      "sums",
      { params: { total: buffer(atomic(u32)) }, workgroup: [64] },
      ({ total }, gpu) => {
        const counts = gpu.shared(atomic(u32), 64);
        counts.set(gpu.localIndex, 0);
        gpu.barrier();
        counts.add(gpu.localIndex.and(7), gpu.workgroupIndex);
        gpu.barrier();
        total.add(gpu.localIndex, counts.get(gpu.localIndex));
      },
    );
    const { findings, warnings } = await zeroed(sums, 5, 64, { schedules: 8 });
    expect([...findings, ...warnings]).toEqual([]);
  });

  test("a comparison that fails publishes nothing", async () => {
    const publish = (expected: number) =>
      kernel(
        "publish",
        {
          params: { flag: buffer(atomic(u32)), data: buffer(u32, "read_write"), out: buffer(u32, "write") },
          workgroup: ({ subgroup }) => [2 * subgroup],
        },
        ({ flag, data, out }, gpu) =>
          gpu.if(gpu.lane.eq(0), () =>
            gpu.if(
              gpu.subgroupId.eq(0),
              () => {
                data.set(0, 5);
                flag.compareExchange(0, expected, 1, both);
              },
              () => {
                const seen = flag.get(0, acquire);
                gpu.if(expected === 0 ? seen.eq(1) : seen.eq(0), () => out.set(0, data.get(0)));
              },
            ),
          ),
      );
    expect(kindsOf(await zeroed(publish(9), 1, 4))).toEqual(["data-race"]);
    expect(kindsOf(await zeroed(publish(0), 1, 4, { schedules: 10 }))).toEqual([]);
  });
});

test("kernels with phase barriers are launched in several orders, too", async () => {
  const hasty = kernel(
    "hasty",
    { params: { out: buffer(u32, "write") }, workgroup: ({ subgroup }) => [2 * subgroup] },
    ({ out }, gpu) => {
      const width = gpu.subgroupSize;
      const slots = gpu.shared(u32, [2, width]);
      const full = gpu.phaseBarriers({ count: 2, arrivals: width });
      const fill = () =>
        gpu.for({ from: 0, to: 3 }, (n) => {
          slots.set(n.and(1), gpu.lane, n);
          full.arrive(n.and(1));
        });
      const take = () =>
        gpu.for({ from: 0, to: 2 }, (n) => {
          full.wait(n, 0);
          out.set(gpu.lane, slots.get(n, gpu.lane));
        });
      gpu.roles([
        { name: "fill", subgroups: 1, body: fill },
        { name: "take", subgroups: 1, body: take },
      ]);
    },
  );
  // Whoever is late misses the phase; whoever is early reads what is overwritten.
  expect(kindsOf(await zeroed(hasty, 1, 32)).toSorted()).toEqual(["data-race", "deadlock"]);
});

describe("waiting", () => {
  test("many atomic loads that change nothing are no deadlock, with checks and without", async () => {
    const scan = kernel(
      "scan",
      { params: { x: buffer(atomic(u32)), out: buffer(u32, "write"), n: u32 }, workgroup: [32] },
      ({ x, out, n }, gpu) => {
        const sum = gpu.var(u32, 0);
        gpu.for({ from: 0, to: n }, (i) => sum.add(x.get(i)));
        // The same by a loop that counts for itself.
        const i = gpu.var(u32, 0);
        gpu.while(
          () => i.get().lt(n),
          () => {
            sum.add(x.get(i.get()));
            i.add(1);
          },
        );
        out.set(gpu.localIndex, sum.get());
      },
    );
    const n = 9_000;
    for (const checks of [true, false]) {
      const device = openSim({ checks });
      const program = await device.compile(scan);
      const out = device.createBuffer("u32", 32);
      const x = device.createBuffer("u32", new Uint32Array(n).fill(1));
      await program.run({ workgroups: 1, args: { x, out, n } });
      expect((await out.read())[0]).toBe(2 * n);
      await device.close();
    }
  });

  test("a launch that never ends is said without checks too", async () => {
    const device = openSim({ checks: false });
    const program = await device.compile(
      kernel("stuck", { params: { flag: buffer(atomic(u32)) }, workgroup: [4] }, ({ flag }, gpu) =>
        gpu.while(
          () => flag.get(0, acquire).eq(0),
          () => {},
        ),
      ),
    );
    const flag = device.createBuffer("u32", 1);
    await expect(program.run({ workgroups: 1, args: { flag } })).rejects.toThrow(/wait forever/);
    await device.close();
  });

  test("a signal stops a launch, and what was found stays", async () => {
    const controller = new AbortController();
    const device = openSim({ signal: controller.signal, onProgress: () => controller.abort() });
    const program = await device.compile(
      kernel(
        "long",
        { params: { out: buffer(u32, "read_write"), n: u32 }, workgroup: [32] },
        ({ out, n }, gpu) => {
          out.set(gpu.localIndex.add(1), 1);
          void out.get(gpu.localIndex);
          gpu.for({ from: 0, to: n }, () => {
            out.set(0, 1);
          });
        },
      ),
    );
    const out = device.createBuffer("u32", 64);
    const error = await program.run({ workgroups: 1, args: { out, n: 2 ** 31 } }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(SimulationAborted);
    expect((error as SimulationAborted).findings.map(({ kind }) => kind)).toContain("data-race");
    await device.close();
  });
});

describe("what a clean kernel is told", () => {
  /** All count, and all read the count. */
  const counts = (withBarrier: boolean) =>
    kernel("count", { params: { out: buffer(u32, "write") }, workgroup: [128] }, ({ out }, gpu) => {
      const count = gpu.shared(atomic(u32), 1);
      gpu.if(gpu.localIndex.eq(0), () => count.set(0, 0));
      gpu.barrier();
      count.add(0, 1);
      if (withBarrier) gpu.barrier();
      out.set(gpu.localIndex, count.get(0));
    });

  test("that its result depends on the schedule, with the lines", async () => {
    const { findings, warnings } = await zeroed(counts(false), 1, 128, { subgroup: 16 });
    expect(findings).toEqual([]);
    expect(warnings.map(({ kind }) => kind)).toEqual(["schedule-dependent-result"]);
    expect(warnings[0]?.accesses.map(({ action }) => action)).toEqual(["depends", "update", "update"]);
    expect((await zeroed(counts(true), 1, 128, { subgroup: 16 })).warnings).toEqual([]);
  });

  test("that an update is lost between an atomic load and an atomic store", async () => {
    const updates = (inOneStep: boolean) =>
      kernel("update", { params: { total: buffer(atomic(u32)) }, workgroup: [64] }, ({ total }) => {
        if (inOneStep) total.add(0, 1);
        else total.set(0, total.get(0).add(1));
      });
    const { findings, warnings } = await zeroed(updates(false), 4, 1);
    expect(findings).toEqual([]);
    expect(warnings.map(({ kind }) => kind)).toEqual(["schedule-dependent-result"]);
    expect((await zeroed(updates(true), 4, 1)).warnings).toEqual([]);
  });

  test("not where only the order of results depends on it", async () => {
    const appends = kernel(
      "append",
      { params: { next: buffer(atomic(u32)), list: buffer(u32, "write") }, workgroup: [32] },
      ({ next, list }, gpu) => list.set(next.add(0, 1), gpu.globalId.x),
    );
    const { findings, warnings } = await zeroed(appends, 4, 128);
    expect([...findings, ...warnings]).toEqual([]);
  });

  test("that numbers are given out in another order, where their places are the program's", async () => {
    const numbers = kernel(
      "numbers",
      { params: { next: buffer(atomic(u32)), out: buffer(u32, "write") }, workgroup: [32] },
      ({ next, out }, gpu) => out.set(gpu.globalId.x, next.add(0, 1)),
    );
    const { findings, warnings } = await zeroed(numbers, 4, 128);
    expect(findings).toEqual([]);
    expect(warnings[0]?.message).toMatch(
      /^buffer "out"\[\d+\] holds \d+ after .* depends on who comes first/,
    );
    expect(warnings[0]?.accesses.map(({ action }) => action)).toEqual(["depends"]);
  });

  test("that the last of several atomic stores decides", async () => {
    const stores = (same: boolean) =>
      kernel("stores", { params: { cell: buffer(atomic(u32)) }, workgroup: [32] }, ({ cell }, gpu) =>
        cell.set(0, same ? 7 : gpu.globalId.x),
      );
    const { warnings } = await zeroed(stores(false), 3, 4);
    expect(warnings[0]?.message).toMatch(/^buffer "cell"\[0\] holds .* depends on who comes last/);
    expect(warnings[0]?.accesses.map(({ action }) => action)).toEqual(["update"]);
    expect((await zeroed(stores(true), 3, 4)).warnings).toEqual([]);
  });

  test("where parts begin that never ran", async () => {
    const branches = kernel(
      "branches",
      { params: { out: buffer(u32, "write"), n: u32 }, workgroup: [32] },
      ({ out, n }, gpu) => {
        gpu.if(n.gt(1_000), () => gpu.if(n.gt(2_000), () => out.set(0, 1)));
        gpu.if(n.gt(10), () => out.set(gpu.localIndex, 2));
      },
    );
    const { neverRan } = await zeroed(branches, 1, 64);
    expect(neverRan.length).toBe(1);
    expect(neverRan[0]?.file).toContain("explore.test.ts");
  });
});
