/**
 * Programs with faults other than races, each beside a corrected twin: accesses outside memory, uninitialised data,
 * divergent barriers, waits without an end, and subgroup operations that read lanes which are not there.
 */

import { atomic, f32, i32, u32 } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { negative, simulate } from "./support.ts";

describe("accesses outside memory", () => {
  negative(
    "a read one element beyond the end",
    "out-of-bounds",
    ["b.set(i, a.get(i.add(193)))"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      b.set(i, a.get(i.add(193)));
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      b.set(i, a.get(i.add(192)));
    },
    {},
    (finding) => {
      expect(finding.message).toBe('buffer "a" has 256 elements; element 256 is outside');
      expect(finding.accesses[0]?.lanes).toEqual([63]);
    },
  );

  negative(
    "the last workgroup writes without looking at n",
    "out-of-bounds",
    ["b.set(i, a.get(i.min(255)))"],
    ({ a, b }, gpu) => {
      const i = gpu.globalId.x;
      b.set(i, a.get(i.min(255)));
    },
    ({ a, b }, gpu) => {
      const i = gpu.globalId.x;
      gpu.if(i.lt(256), () => b.set(i, a.get(i.min(255))));
    },
    { workgroups: 5 },
    (finding) => expect(finding.accesses[0]?.workgroup).toEqual([4, 0, 0]),
  );

  negative(
    "an index below zero, which wraps",
    "out-of-bounds",
    ["b.set(i, a.get(i.sub(1)))"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      b.set(i, a.get(i.sub(1)));
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(i.gt(0), () => b.set(i, a.get(i.sub(1))));
    },
    {},
    (finding) => expect(finding.message).toContain("element 4294967295 is outside"),
  );

  negative(
    "a negative signed index",
    "out-of-bounds",
    ["b.set(0, a.get(gpu.workgroupId.x.toI32().sub(1)))"],
    ({ a, b }, gpu) => {
      gpu.if(gpu.localIndex.eq(0), () => {
        b.set(0, a.get(gpu.workgroupId.x.toI32().sub(1)));
      });
    },
    ({ a, b }, gpu) => {
      gpu.if(gpu.localIndex.eq(0), () => {
        b.set(0, a.get(gpu.workgroupId.x.toI32()));
      });
    },
    {},
    (finding) => expect(finding.message).toContain("element -1 is outside"),
  );

  negative(
    "shared memory too small for the halo",
    "out-of-bounds",
    ["s.set(gpu.localIndex.add(2), 1)"],
    (_, gpu) => {
      const s = gpu.shared(f32, 64);
      s.set(gpu.localIndex.add(2), 1);
    },
    (_, gpu) => {
      const s = gpu.shared(f32, 66);
      s.set(gpu.localIndex.add(2), 1);
    },
    {},
    (finding) => expect(finding.accesses[0]?.lanes).toEqual([62, 63]),
  );

  negative(
    "all lanes read one element outside",
    "out-of-bounds",
    ["b.set(gpu.localIndex, a.get(n))"],
    ({ a, b, n }, gpu) => b.set(gpu.localIndex, a.get(n)),
    ({ a, b, n }, gpu) => b.set(gpu.localIndex, a.get(n.sub(1))),
    { n: 256 },
  );

  negative(
    "an atomic outside",
    "out-of-bounds",
    ["flags.add(gpu.localIndex.add(1), 1)"],
    ({ flags }, gpu) => void flags.add(gpu.localIndex.add(1), 1),
    ({ flags }, gpu) => void flags.add(gpu.localIndex, 1),
  );

  negative(
    "a wide read that is not aligned",
    "misaligned-access",
    ["b.set(i, a.getVec(4, i.mul(2)).x)"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      b.set(i, a.getVec(4, i.mul(2)).x);
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      b.set(i, a.getVec(4, i.mul(4)).x);
    },
    {},
    (finding) => expect(finding.accesses[0]?.lanes).toContain(1),
  );

  test("reads outside give 0, writes go nowhere, the other lanes are served", async () => {
    const { b } = await simulate(
      ({ a, b }, gpu) => {
        const i = gpu.localIndex;
        b.set(i.mul(8), a.get(i.add(224)).add(1));
      },
      { checks: false },
    );
    expect(b[8]).toBe(226);
    expect(b[248]).toBe(256);
    expect(b.length).toBe(256);
  });
});

describe("uninitialised data", () => {
  negative(
    "shared memory of which only a part was written",
    "uninitialised-shared-memory",
    ["b.set(i, s.get(i))"],
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64, "tile");
      const i = gpu.localIndex;
      gpu.if(i.lt(60), () => s.set(i, a.get(i)));
      gpu.barrier();
      b.set(i, s.get(i));
    },
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64, "tile");
      const i = gpu.localIndex;
      s.set(i, a.get(i));
      gpu.barrier();
      b.set(i, s.get(i));
    },
    {},
    (finding) => {
      expect(finding.message).toContain('shared "tile"[60]');
      expect(finding.accesses[0]?.lanes).toEqual([60, 61, 62, 63]);
    },
  );

  negative(
    "shared memory does not outlive its workgroup",
    "uninitialised-shared-memory",
    ["gpu.if(i.ge(64), () => b.set(i, s.get(0)))"],
    ({ b }, gpu) => {
      const s = gpu.shared(f32, 1);
      const i = gpu.globalId.x;
      gpu.if(i.eq(0), () => s.set(0, 1));
      gpu.barrier();
      gpu.if(i.ge(64), () => b.set(i, s.get(0)));
    },
    ({ b }, gpu) => {
      const s = gpu.shared(f32, 1);
      const i = gpu.globalId.x;
      gpu.if(gpu.localIndex.eq(0), () => s.set(0, 1));
      gpu.barrier();
      gpu.if(i.ge(64), () => b.set(i, s.get(0)));
    },
    { workgroups: 2 },
  );

  negative(
    "a shared counter that nobody set to zero",
    "uninitialised-shared-memory",
    ["counter.add(0, 1)"],
    ({ b }, gpu) => {
      const counter = gpu.shared(atomic(u32), 1);
      counter.add(0, 1);
      gpu.barrier();
      b.set(gpu.localIndex, counter.get(0).toF32());
    },
    ({ b }, gpu) => {
      const counter = gpu.shared(atomic(u32), 1);
      gpu.if(gpu.localIndex.eq(0), () => counter.set(0, 0));
      gpu.barrier();
      counter.add(0, 1);
      gpu.barrier();
      b.set(gpu.localIndex, counter.get(0).toF32());
    },
  );

  negative(
    "a variable that only some lanes set",
    "uninitialised-variable",
    ["b.set(i, x.get())"],
    ({ b }, gpu) => {
      const i = gpu.localIndex;
      const x = gpu.var(f32, undefined, "x");
      gpu.if(i.lt(10), () => x.set(1));
      b.set(i, x.get());
    },
    ({ b }, gpu) => {
      const i = gpu.localIndex;
      const x = gpu.var(f32, undefined, "x");
      gpu.if(
        i.lt(10),
        () => x.set(1),
        () => x.set(2),
      );
      b.set(i, x.get());
    },
    {},
    (finding) => {
      expect(finding.message).toMatch(
        /^variable "x" is read before it was set, and the value is stored in b in line \d+$/,
      );
      expect(finding.accesses[0]?.lanes).toEqual(Array.from({ length: 54 }, (_, i) => 10 + i));
    },
  );

  negative(
    "a variable starts anew in each iteration",
    "uninitialised-variable",
    ["total.add(x.get())"],
    ({ b, n }, gpu) => {
      const total = gpu.var(f32, 0);
      gpu.for({ from: 0, to: n }, (i) => {
        const x = gpu.var(f32);
        gpu.if(i.eq(0), () => x.set(1));
        total.add(x.get());
      });
      b.set(gpu.localIndex, total.get());
    },
    ({ b, n }, gpu) => {
      const total = gpu.var(f32, 0);
      gpu.for({ from: 0, to: n }, (i) => {
        const x = gpu.var(f32, 0);
        gpu.if(i.eq(0), () => x.set(1));
        total.add(x.get());
      });
      b.set(gpu.localIndex, total.get());
    },
  );
});

describe("barriers that not all reach", () => {
  negative(
    "a barrier for half of a subgroup",
    "divergent-barrier",
    ["gpu.if(gpu.localIndex.lt(16), () => gpu.barrier())"],
    (_, gpu) => gpu.if(gpu.localIndex.lt(16), () => gpu.barrier()),
    (_, gpu) => gpu.barrier(),
    {},
    (finding) => {
      expect(finding.message).toContain("of the 64 invocations of the workgroup 16 wait");
      expect(finding.accesses[0]?.lanes).toEqual(Array.from({ length: 16 }, (_, i) => i));
    },
  );

  negative(
    "one subgroup finishes while another waits",
    "divergent-barrier",
    ["gpu.if(gpu.subgroupId.eq(1), () => gpu.barrier())"],
    (_, gpu) => gpu.if(gpu.subgroupId.eq(1), () => gpu.barrier()),
    (_, gpu) => gpu.if(gpu.workgroupId.x.eq(0), () => gpu.barrier()),
  );

  negative(
    "two subgroups wait at different barriers",
    "divergent-barrier",
    ["() => gpu.barrier(), // the first", "() => gpu.barrier(), // the second"],
    (_, gpu) =>
      gpu.if(
        gpu.subgroupId.eq(0),
        () => gpu.barrier(), // the first
        () => gpu.barrier(), // the second
      ),
    (_, gpu) => {
      gpu.if(
        gpu.subgroupId.eq(0),
        () => {},
        () => {},
      );
      gpu.barrier();
    },
    {},
    (finding) => expect(finding.message).toContain("2 different barriers"),
  );

  negative(
    "a barrier in a loop that lanes leave at different times",
    "divergent-barrier",
    ["gpu.for({ from: 0, to: gpu.localIndex }, () => gpu.barrier())"],
    (_, gpu) => gpu.for({ from: 0, to: gpu.localIndex }, () => gpu.barrier()),
    ({ n }, gpu) => gpu.for({ from: 0, to: n }, () => gpu.barrier()),
    { size: 32 },
  );

  negative(
    "a barrier after some lanes broke out of the loop",
    "divergent-barrier",
    ["gpu.barrier(); // in the loop"],
    (_, gpu) =>
      gpu.for({ from: 0, to: 2 }, () => {
        gpu.if(gpu.localIndex.eq(5), () => gpu.break());
        gpu.barrier(); // in the loop
      }),
    (_, gpu) =>
      gpu.for({ from: 0, to: 2 }, (i) => {
        gpu.if(i.eq(1), () => gpu.break());
        gpu.barrier(); // in the loop
      }),
    {},
    (finding) => expect(finding.accesses[0]?.lanes).not.toContain(5),
  );

  negative(
    "a uniform load that one subgroup does not reach",
    "divergent-barrier",
    ["b.set(i, gpu.uniformLoad(s, 0))"],
    ({ b }, gpu) => {
      const s = gpu.shared(f32, 1);
      const i = gpu.localIndex;
      gpu.if(i.eq(0), () => s.set(0, 7));
      gpu.if(gpu.subgroupId.eq(0), () => {
        b.set(i, gpu.uniformLoad(s, 0));
      });
    },
    ({ b }, gpu) => {
      const s = gpu.shared(f32, 1);
      const i = gpu.localIndex;
      gpu.if(i.eq(0), () => s.set(0, 7));
      b.set(i, gpu.uniformLoad(s, 0));
    },
  );
});

describe("waits without an end", () => {
  const acquire = { order: "acquire" } as const;
  const release = { order: "release" } as const;

  negative(
    "a flag that nobody sets",
    "deadlock",
    ["() => flags.get(0, acquire).eq(0),"],
    ({ flags }, gpu) =>
      gpu.while(
        () => flags.get(0, acquire).eq(0),
        () => {},
      ),
    ({ flags }, gpu) => {
      gpu.if(gpu.localIndex.eq(0), () => flags.set(0, 1, release));
      gpu.while(
        () => flags.get(0, acquire).eq(0),
        () => {},
      );
    },
    {},
    (finding) => expect(finding.message).toContain("2 of 2 subgroups wait forever"),
  );

  negative(
    "a workgroup waits for a later one",
    "deadlock",
    ["() => flags.get(gpu.workgroupIndex.add(1)).eq(0),"],
    ({ flags }, gpu) => {
      gpu.while(
        () => flags.get(gpu.workgroupIndex.add(1)).eq(0),
        () => {},
      );
      gpu.if(gpu.localIndex.eq(0), () => flags.set(gpu.workgroupIndex, 1));
    },
    ({ flags }, gpu) => {
      gpu.if(gpu.workgroupIndex.gt(0), () =>
        gpu.while(
          () => flags.get(gpu.workgroupIndex.sub(1)).eq(0),
          () => {},
        ),
      );
      gpu.if(gpu.localIndex.eq(0), () => flags.set(gpu.workgroupIndex, 1));
    },
    { workgroups: 3 },
  );

  negative(
    "a spin lock within a subgroup: the holder waits for lanes that wait for it",
    "deadlock",
    ["() => flags.compareExchange(0, 0, 1, acquire).ne(0),"],
    ({ b, flags }, gpu) => {
      gpu.while(
        () => flags.compareExchange(0, 0, 1, acquire).ne(0),
        () => {},
      );
      b.set(0, b.get(0).add(1));
      flags.set(0, 0, release);
    },
    ({ b, flags }, gpu) => {
      const done = gpu.var(u32, 0);
      gpu.while(
        () => done.get().eq(0),
        () =>
          gpu.if(flags.compareExchange(0, 0, 1, acquire).eq(0), () => {
            b.set(0, b.get(0).add(1));
            flags.set(0, 0, release);
            done.set(1);
          }),
      );
    },
  );

  negative(
    "a consumer role waits for more than the producer makes, the rest waits at a barrier",
    "deadlock",
    ["gpu.barrier();", "() => flags.get(0).lt(4),"],
    ({ flags }, gpu) => {
      gpu.roles([
        {
          name: "producer",
          subgroups: 1,
          body: () => gpu.if(gpu.lane.eq(0), () => gpu.for({ from: 0, to: 3 }, () => void flags.add(0, 1))),
        },
        {
          name: "consumer",
          subgroups: 1,
          body: () =>
            gpu.while(
              () => flags.get(0).lt(4),
              () => {},
            ),
        },
      ]);
      gpu.barrier();
    },
    ({ flags }, gpu) => {
      gpu.roles([
        {
          name: "producer",
          subgroups: 1,
          body: () => gpu.if(gpu.lane.eq(0), () => gpu.for({ from: 0, to: 4 }, () => void flags.add(0, 1))),
        },
        {
          name: "consumer",
          subgroups: 1,
          body: () =>
            gpu.while(
              () => flags.get(0).lt(4),
              () => {},
            ),
        },
      ]);
      gpu.barrier();
    },
  );

  test("waiting for a long computation of another subgroup is no deadlock", async () => {
    const { findings, flags } = await simulate(({ flags }, gpu) => {
      gpu.if(
        gpu.subgroupId.eq(0),
        () => {
          const x = gpu.var(u32, 1);
          gpu.for({ from: 0, to: 2_000_000 }, (i) => x.set(x.get().add(i)));
          flags.set(0, x.get().max(1), { order: "release" });
        },
        () =>
          gpu.while(
            () => flags.get(0, acquire).eq(0),
            () => {},
          ),
      );
    });
    expect(findings).toEqual([]);
    expect(flags[0]).toBeGreaterThan(0);
  });
});

describe("lanes that are not there", () => {
  negative(
    "a shuffle from a lane that the branch left out",
    "inactive-lane-read",
    ["b.set(i, gpu.subgroup.shuffleXor(a.get(i), 16))"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(gpu.lane.lt(16), () => {
        b.set(i, gpu.subgroup.shuffleXor(a.get(i), 16));
      });
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(gpu.lane.lt(16), () => {
        b.set(i, gpu.subgroup.shuffleXor(a.get(i), 8));
      });
    },
    {},
    (finding) =>
      expect(finding.message).toMatch(
        /^shuffleXor reads lane 16, which is not active, and the value is stored in b in line \d+$/,
      ),
  );

  negative(
    "a shuffle across the edge of the subgroup",
    "inactive-lane-read",
    ["b.set(i, gpu.subgroup.shuffleUp(a.get(i), 1))"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      b.set(i, gpu.subgroup.shuffleUp(a.get(i), 1));
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      b.set(i, gpu.subgroup.shuffle(a.get(i), gpu.lane.max(1).sub(1)));
    },
    {},
    (finding) => expect(finding.accesses[0]?.lanes).toEqual([0, 32]),
  );

  negative(
    "a broadcast of a lane that does not take part",
    "inactive-lane-read",
    ["b.set(i, gpu.subgroup.broadcast(a.get(i), 0))"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(gpu.lane.gt(0), () => {
        b.set(i, gpu.subgroup.broadcast(a.get(i), 0));
      });
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(gpu.lane.gt(0), () => {
        b.set(i, gpu.subgroup.broadcastFirst(a.get(i)));
      });
    },
  );
});

describe("arithmetic and loops", () => {
  negative(
    "a uniform divisor of 0",
    "division-by-zero",
    ["b.set(gpu.localIndex, gpu.localIndex.divTrunc(n).toF32())"],
    ({ b, n }, gpu) => b.set(gpu.localIndex, gpu.localIndex.divTrunc(n).toF32()),
    ({ b, n }, gpu) => b.set(gpu.localIndex, gpu.localIndex.divTrunc(n.max(1)).toF32()),
    { n: 0 },
  );

  negative(
    "a divisor that is 0 in one lane",
    "division-by-zero",
    ["b.set(i, n.remTrunc(i).toF32())"],
    ({ b, n }, gpu) => {
      const i = gpu.localIndex;
      b.set(i, n.remTrunc(i).toF32());
    },
    ({ b, n }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(i.gt(0), () => b.set(i, n.remTrunc(i).toF32()));
    },
    {},
    (finding) => {
      expect(finding.message).toBe("the divisor of an integer remTrunc is 0");
      expect(finding.accesses[0]?.lanes).toEqual([0]);
    },
  );

  negative(
    "a loop whose step is 0 at run time",
    "invalid-loop-step",
    ["gpu.for({ from: 0, to: 10, step }, () => count.add(1))"],
    ({ b, n }, gpu) => {
      const count = gpu.var(f32, 0);
      const step = n.mul(2);
      gpu.for({ from: 0, to: 10, step }, () => count.add(1));
      b.set(gpu.localIndex, count.get());
    },
    ({ b, n }, gpu) => {
      const count = gpu.var(f32, 0);
      gpu.for({ from: 0, to: 10, step: n.max(1) }, () => count.add(1));
      b.set(gpu.localIndex, count.get());
    },
    { n: 0 },
  );

  negative(
    "a step that is 0 in some lanes",
    "invalid-loop-step",
    ["gpu.for({ from: zero, to: 4, step }, () => count.add(1))"],
    ({ b }, gpu) => {
      const zero = gpu.constant(i32, 0);
      const step = gpu.localIndex.toI32().divTrunc(4).neg();
      const count = gpu.var(f32, 0);
      gpu.for({ from: zero, to: 4, step }, () => count.add(1));
      b.set(gpu.localIndex, count.get());
    },
    ({ b }, gpu) => {
      const zero = gpu.constant(i32, 0);
      const step = gpu.localIndex.toI32().neg().sub(1);
      const count = gpu.var(f32, 0);
      gpu.for({ from: zero, to: 4, step }, () => count.add(1));
      b.set(gpu.localIndex, count.get());
    },
    {},
    (finding) => expect(finding.accesses[0]?.lanes).toEqual([0, 1, 2, 3]),
  );
});
