/** Progress of subgroups that wait for each other, seeds, and the shape of findings and errors. */

import { atomic, buffer, f32, kernel, u32 } from "@evolver/kernel";
import { EvolverError } from "@evolver/base";
import { SimulationError, formatFinding, openSim } from "@evolver/device";
import { describe, expect, test } from "vitest";
import { simulate } from "./support.ts";
import type { Body } from "./support.ts";

const acquire = { order: "acquire" } as const;
const release = { order: "release" } as const;

/** A ring of one slot: the producer fills it and raises `full`, the consumer takes it and raises `empty`. */
const ring: Body = ({ a, b, flags, n }, gpu) => {
  const slot = gpu.shared(f32, gpu.subgroupSize);
  const lane = gpu.lane;
  const width = gpu.subgroupSize;
  gpu.roles([
    {
      name: "producer",
      subgroups: 1,
      body: () =>
        gpu.for({ from: 0, to: n }, (round) => {
          gpu.while(
            () => flags.get(1, acquire).ne(round.mul(width)),
            () => {},
          );
          slot.set(lane, a.get(round.mul(width).add(lane)).mul(2));
          flags.add(0, 1, release);
        }),
    },
    {
      name: "consumer",
      subgroups: 1,
      body: () =>
        gpu.for({ from: 0, to: n }, (round) => {
          gpu.while(
            () => flags.get(0, acquire).ne(round.add(1).mul(width)),
            () => {},
          );
          b.set(round.mul(width).add(lane), slot.get(lane.xor(1)));
          flags.add(1, 1, release);
        }),
    },
  ]);
};

describe("producer and consumer", () => {
  test.each([4, 8, 16, 32, 64, 128])("spin on flags, subgroups of %i", async (subgroup) => {
    const rounds = Math.min(256 / subgroup, 4);
    const setup = { subgroup, size: 2 * subgroup, n: rounds };
    const { findings, b } = await simulate(ring, setup);
    expect(findings).toEqual([]);
    for (let i = 0; i < rounds * subgroup; i++) expect(b[i]).toBe(2 * (i ^ 1));
  });

  test.each([1, 2, 3, 4, 5])("with seed %i", async (seed) => {
    const { findings, b } = await simulate(ring, { seed, n: 4 });
    expect(findings).toEqual([]);
    expect(b[127]).toBe(2 * 126);
  });
});

test("those who give way to each other in step get on in the end", async () => {
  const { findings, a } = await simulate(
    ({ flags, a }, gpu) => {
      const [mine, other] = [gpu.subgroupId, gpu.subgroupId.add(1).remTrunc(4)];
      const done = gpu.var(u32, 0);
      gpu.if(gpu.lane.eq(0), () =>
        gpu.while(
          () => done.get().lt(3),
          () => {
            gpu.if(flags.exchange(mine, 1, acquire).eq(0), () => {
              gpu.if(flags.exchange(other, 1, acquire).eq(0), () => {
                a.set(mine, a.get(mine).add(1));
                done.add(1);
                flags.set(other, 0, release);
              });
              flags.set(mine, 0, release);
            });
          },
        ),
      );
    },
    { size: 128, maxSteps: 100_000 },
  );
  expect(findings).toEqual([]);
  expect([...a.slice(0, 4)]).toEqual([3, 4, 5, 6]);
});

describe("seeds", () => {
  /** Every subgroup takes tickets; who gets which depends on the schedule. */
  const tickets: Body = ({ b, flags }, gpu) => {
    gpu.for({ from: 0, to: 4 }, () => {
      const ticket = flags.add(0, 1);
      b.set(ticket, gpu.localIndex.toF32());
    });
  };
  const order = async (seed?: number): Promise<string> => {
    const { b, findings } = await simulate(tickets, seed === undefined ? {} : { seed });
    expect(findings).toEqual([]);
    return b.join();
  };

  test("the same seed gives the same run, others give others, none a fixed one", async () => {
    expect(await order(7)).toBe(await order(7));
    expect(await order()).toBe(await order());
    const orders = new Set(await Promise.all([1, 2, 3, 4, 5, 6].map((seed) => order(seed))));
    expect(orders.size).toBeGreaterThan(3);
  });

  test("results of a race-free program depend on no seed", async () => {
    const body: Body = ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      s.set(i, a.get(i));
      gpu.barrier();
      b.set(i, s.get(i.xor(63)));
    };
    const plain = await simulate(body);
    for (const seed of [1, 2, 3]) {
      const seeded = await simulate(body, { seed });
      expect(seeded.findings).toEqual([]);
      expect(seeded.b).toEqual(plain.b);
      expect(seeded.counters).toEqual(plain.counters);
    }
  });

  test("a race shows in every schedule", async () => {
    for (const seed of [undefined, 1, 2, 3, 4]) {
      const { findings } = await simulate(
        ({ b }, gpu) => {
          const s = gpu.shared(f32, 1);
          gpu.if(gpu.localIndex.eq(0), () => s.set(0, 1));
          gpu.if(gpu.localIndex.eq(32), () => s.set(0, 2));
          void b;
        },
        seed === undefined ? {} : { seed },
      );
      expect(findings.map(({ kind }) => kind)).toEqual(["data-race"]);
    }
  });
});

describe("what a launch with findings gives", () => {
  const racy = kernel(
    "racy",
    { params: { out: buffer(u32, "read_write") }, workgroup: [64] },
    ({ out }, gpu) => {
      out.set(gpu.localIndex.shr(1), 1);
    },
  );

  test("an error with code, both lines, findings and counters", async () => {
    const device = openSim();
    const program = await device.compile(racy);
    const out = device.createBuffer("u32", 32);
    const error = await program.run({ workgroups: 1, args: { out } }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(SimulationError);
    expect(error).toBeInstanceOf(EvolverError);
    const { code, findings, counters, message } = error as SimulationError;
    expect(code).toBe("KERNEL_FINDINGS");
    expect(findings).toHaveLength(1);
    expect(counters?.globalWriteBytes).toBe(256);
    expect(message.match(/schedule\.test\.ts:\d+:\d+ by lane/g)).toHaveLength(2);
    // The launch ran to its end.
    expect((await out.read())[31]).toBe(1);
  });

  test("a finding as text", async () => {
    const device = openSim({ onFinding: "collect" });
    const program = await device.compile(racy);
    const args = { out: device.createBuffer("u32", 32) };
    const { findings } = await program.run({ workgroups: 1, args });
    const text = formatFinding(findings[0] as (typeof findings)[number]).replaceAll(/\/\S+\//g, "");
    expect(text.replaceAll(/:\d+:\d+/g, "")).toBe(
      'data-race: data race on buffer "out"[0]: write by lane 1, write by lane 0, and no barrier between them (2 times)\n' +
        `  write at schedule.test.ts by lanes ${odd(1)} of workgroup [0, 0, 0]\n` +
        `  write at schedule.test.ts by lanes ${odd(0)} of workgroup [0, 0, 0]`,
    );
  });

  const odd = (first: number): string => Array.from({ length: 32 }, (_, i) => first + 2 * i).join(", ");

  test("at most maxFindings are kept", async () => {
    const body: Body = ({ b }) => {
      // Ten operations on one line are one finding.
      for (let k = 0; k < 10; k++) b.set(k, 1);
      b.set(20, 1);
      b.set(21, 1);
    };
    expect((await simulate(body, { maxFindings: 2 })).findings).toHaveLength(2);
    expect((await simulate(body)).findings).toHaveLength(3);
  });

  test("without checks there are no findings", async () => {
    const { findings } = await simulate(({ b }, gpu) => b.set(gpu.localIndex.shr(1), 1), { checks: false });
    expect(findings).toEqual([]);
  });

  test("findings of one launch do not leak into the next, nor does its memory of accesses", async () => {
    const device = openSim();
    const write = await device.compile(
      kernel("w", { params: { x: buffer(f32, "write") }, workgroup: [32] }, ({ x }, gpu) =>
        x.set(gpu.lane, 1),
      ),
    );
    const shift = await device.compile(
      kernel("s", { params: { x: buffer(f32, "read_write") }, workgroup: [32] }, ({ x }, gpu) => {
        const value = x.get(gpu.lane.xor(1));
        gpu.barrier();
        x.set(gpu.lane, value);
      }),
    );
    const x = device.createBuffer("f32", 32);
    for (let i = 0; i < 3; i++) {
      await write.run({ workgroups: 1, args: { x } });
      await shift.run({ workgroups: 1, args: { x } });
    }
  });
});

describe("the order of workgroups", () => {
  test("a chain of workgroups, each after the one before", async () => {
    const device = openSim();
    const program = await device.compile(
      kernel(
        "chain",
        { params: { total: buffer(f32, "read_write"), turn: buffer(atomic(u32)) }, workgroup: [32] },
        ({ total, turn }, gpu) =>
          gpu.if(gpu.lane.eq(0), () => {
            gpu.while(
              () => turn.get(0, acquire).ne(gpu.workgroupIndex),
              () => {},
            );
            total.set(0, total.get(0).add(gpu.workgroupIndex.toF32()));
            turn.set(0, gpu.workgroupIndex.add(1), release);
          }),
      ),
    );
    const total = device.createBuffer("f32", 1);
    await program.run({ workgroups: 10, args: { total, turn: device.createBuffer("u32", 1) } });
    expect((await total.read())[0]).toBe(45);
  });
});
