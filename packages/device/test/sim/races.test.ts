/**
 * Programs with data races, each beside a corrected twin. The kinds are those of Oclgrind's data-race kernels and of
 * compute-sanitizer's racecheck samples: missing barriers, barriers on one side of a loop only, trust in lockstep,
 * conflicts between workgroups, flags without release and acquire.
 */

import { atomic, f32, u32, vec } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { negative, simulate } from "./support.ts";

const acquire = { order: "acquire" } as const;
const release = { order: "release" } as const;

describe("races on shared memory", () => {
  negative(
    "a neighbour's element is read without a barrier",
    "data-race",
    ["b.set(i, s.get(i.xor(32)))", "s.set(i, a.get(i)); // wrong"],
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      s.set(i.xor(32), 0);
      gpu.barrier();
      s.set(i, a.get(i)); // wrong
      b.set(i, s.get(i.xor(32)));
    },
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      s.set(i.xor(32), 0);
      gpu.barrier();
      s.set(i, a.get(i));
      gpu.barrier();
      b.set(i, s.get(i.xor(32)));
    },
    {},
    (finding) => {
      expect(finding.message).toContain('shared "s"[0]');
      expect(finding.accesses.map(({ action }) => action)).toEqual(["read", "write"]);
      expect(finding.accesses[0]?.lanes).toEqual(Array.from({ length: 32 }, (_, i) => 32 + i));
      expect(finding.accesses[1]?.lanes).toEqual(Array.from({ length: 32 }, (_, i) => i));
    },
  );

  negative(
    "a tile is overwritten while others still read it: no barrier at the loop's end",
    "data-race",
    ["tile.set(i, a.get(i.add(t)))", "sum.add(tile.get(i.xor(32)))"],
    ({ a, b }, gpu) => {
      const tile = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      const sum = gpu.var(f32, 0);
      gpu.for({ from: 0, to: 3 }, (t) => {
        tile.set(i, a.get(i.add(t)));
        gpu.barrier();
        sum.add(tile.get(i.xor(32)));
      });
      b.set(i, sum.get());
    },
    ({ a, b }, gpu) => {
      const tile = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      const sum = gpu.var(f32, 0);
      gpu.for({ from: 0, to: 3 }, (t) => {
        tile.set(i, a.get(i.add(t)));
        gpu.barrier();
        sum.add(tile.get(i.xor(32)));
        gpu.barrier();
      });
      b.set(i, sum.get());
    },
  );

  negative(
    "two lanes of one instruction write one element",
    "data-race",
    ["s.set(i.shr(1), a.get(i))", "s.set(i.shr(1), a.get(i))"],
    ({ a }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      s.set(i.shr(1), a.get(i));
    },
    ({ a }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      s.set(i, a.get(i));
    },
    {},
    (finding) => expect(finding.message).toContain("write by lane 1, write by lane 0"),
  );

  negative(
    "all lanes write the same value to one element",
    "data-race",
    ["s.set(0, 1)", "s.set(0, 1)"],
    (_, gpu) => {
      const s = gpu.shared(f32, 1);
      s.set(0, 1);
    },
    (_, gpu) => {
      const s = gpu.shared(f32, 1);
      gpu.if(gpu.localIndex.eq(0), () => s.set(0, 1));
    },
  );

  negative(
    "a tree reduction without barriers between its levels",
    "data-race",
    ["s.set(i, s.get(i).add(s.get(i.add(half))))", "s.set(i, s.get(i).add(s.get(i.add(half))))"],
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 128);
      const i = gpu.localIndex;
      s.set(i, a.get(i));
      s.set(i.add(64), 0);
      gpu.barrier();
      for (const half of [32, 16, 8, 4, 2, 1])
        gpu.if(i.lt(half), () => s.set(i, s.get(i).add(s.get(i.add(half)))));
      gpu.if(i.eq(0), () => b.set(0, s.get(0)));
    },
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 128);
      const i = gpu.localIndex;
      s.set(i, a.get(i));
      for (const half of [32, 16, 8, 4, 2, 1]) {
        gpu.barrier();
        gpu.if(i.lt(half), () => s.set(i, s.get(i).add(s.get(i.add(half)))));
      }
      gpu.if(i.eq(0), () => b.set(0, s.get(0)));
    },
  );

  negative(
    "trust in lockstep: lanes of one subgroup exchange through memory without a barrier",
    "data-race",
    ["b.set(i, s.get(i.xor(1)))", "s.set(i, a.get(i))"],
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 32);
      const i = gpu.localIndex;
      s.set(i, a.get(i));
      b.set(i, s.get(i.xor(1)));
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      b.set(i, gpu.subgroup.shuffleXor(a.get(i), 1));
    },
    { size: 32 },
  );

  negative(
    "a barrier of the subgroup orders what was read before it, not a second read after it",
    "data-race",
    ["s.set(i.xor(1), 1)", "b.set(i, s.get(i)); // again"],
    ({ b }, gpu) => {
      const s = gpu.shared(f32, 32);
      const i = gpu.localIndex;
      s.set(i, 0);
      b.set(i, s.get(i));
      gpu.subgroup.barrier();
      b.set(i, s.get(i)); // again
      s.set(i.xor(1), 1);
    },
    ({ b }, gpu) => {
      const s = gpu.shared(f32, 32);
      const i = gpu.localIndex;
      s.set(i, 0);
      b.set(i, s.get(i));
      b.set(i, s.get(i));
      gpu.subgroup.barrier();
      s.set(i.xor(1), 1);
    },
    { size: 32 },
  );

  negative(
    "a subgroup operation orders no memory",
    "data-race",
    ["b.set(i, s.get(i.xor(1)).add(total))", "s.set(i, a.get(i))"],
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 32);
      const i = gpu.localIndex;
      s.set(i, a.get(i));
      const total = gpu.subgroup.sum(a.get(i));
      b.set(i, s.get(i.xor(1)).add(total));
    },
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 32);
      const i = gpu.localIndex;
      s.set(i, a.get(i));
      const total = gpu.subgroup.sum(a.get(i));
      gpu.barrier();
      b.set(i, s.get(i.xor(1)).add(total));
    },
    { size: 32 },
  );

  negative(
    "a histogram that adds without atomics",
    "data-race",
    ["bins.set(bin, bins.get(bin).add(1))", "bins.set(bin, bins.get(bin).add(1))"],
    ({ b }, gpu) => {
      const bins = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      bins.set(i, 0);
      gpu.barrier();
      const bin = i.remTrunc(4);
      bins.set(bin, bins.get(bin).add(1));
      gpu.barrier();
      b.set(i, bins.get(i));
    },
    ({ b }, gpu) => {
      const bins = gpu.shared(atomic(u32), 64);
      const i = gpu.localIndex;
      bins.set(i, 0);
      gpu.barrier();
      bins.add(i.remTrunc(4), 1);
      gpu.barrier();
      b.set(i, bins.get(i).toF32());
    },
  );

  negative(
    "one subgroup writes what another reads, in different branches",
    "data-race",
    ["b.set(i, s.get(0))", "s.set(0, 5)"],
    ({ b }, gpu) => {
      const s = gpu.shared(f32, 1);
      const i = gpu.localIndex;
      gpu.if(
        i.eq(0),
        () => s.set(0, 5),
        () => b.set(i, s.get(0)),
      );
    },
    ({ b }, gpu) => {
      const s = gpu.shared(f32, 1);
      const i = gpu.localIndex;
      gpu.if(i.eq(0), () => s.set(0, 5));
      gpu.barrier();
      gpu.if(i.ne(0), () => b.set(i, s.get(0)));
    },
  );

  negative(
    "a wide write overlaps a neighbour's element",
    "data-race",
    ["s.set(i.mul(2).sub(63), 1)", "s.setVec(i.mul(2), vec(a.get(i), a.get(i)))"],
    ({ a }, gpu) => {
      const s = gpu.shared(f32, 128);
      const i = gpu.localIndex;
      s.setVec(i.mul(2), vec(a.get(i), a.get(i)));
      gpu.if(i.ge(32), () => {
        s.set(i.mul(2).sub(63), 1);
      });
    },
    ({ a }, gpu) => {
      const s = gpu.shared(f32, 128);
      const i = gpu.localIndex;
      s.setVec(i.mul(2), vec(a.get(i), a.get(i)));
      gpu.barrier();
      gpu.if(i.ge(32), () => s.set(i.mul(2).sub(63), 1));
    },
  );
});

describe("races on global memory", () => {
  negative(
    "a neighbour's element in a buffer, within the workgroup",
    "data-race",
    ["b.set(i, a.get(i.xor(1)))", "a.set(i, 1)"],
    ({ a, b }, gpu) => {
      const i = gpu.globalId.x;
      a.set(i, 1);
      b.set(i, a.get(i.xor(1)));
    },
    ({ a, b }, gpu) => {
      const i = gpu.globalId.x;
      a.set(i, 1);
      gpu.barrier();
      b.set(i, a.get(i.xor(1)));
    },
    {},
    (finding) => expect(finding.message).toContain('buffer "a"'),
  );

  negative(
    "two workgroups write one element",
    "data-race",
    ["b.set(gpu.localIndex, 1)", "b.set(gpu.localIndex, 1)"],
    ({ b }, gpu) => b.set(gpu.localIndex, 1),
    ({ b }, gpu) => b.set(gpu.globalId.x, 1),
    { workgroups: 2 },
    (finding) => {
      expect(finding.accesses.map(({ workgroup }) => workgroup)).toEqual([
        [1, 0, 0],
        [0, 0, 0],
      ]);
      expect(finding.message).toContain("no release and acquire");
    },
  );

  negative(
    "a workgroup reads what an earlier one wrote",
    "data-race",
    ["b.set(i, a.get(i.xor(64)))", "a.set(i, 1)"],
    ({ a, b }, gpu) => {
      const i = gpu.globalId.x;
      a.set(i, 1);
      b.set(i, a.get(i.xor(64)));
    },
    ({ a, b }, gpu) => {
      const i = gpu.globalId.x;
      a.set(i, 1);
      b.set(i, a.get(i));
    },
    { workgroups: 2 },
  );

  negative(
    "a workgroup writes what an earlier one read, with a later reader in between",
    "data-race",
    ["a.set(0, 1)", "b.set(i, a.get(0))"],
    ({ a, b }, gpu) => {
      const i = gpu.globalId.x;
      b.set(i, a.get(0));
      gpu.barrier();
      gpu.if(i.eq(128), () => a.set(0, 1));
    },
    ({ a, b }, gpu) => {
      const i = gpu.globalId.x;
      b.set(i, a.get(0));
      gpu.barrier();
      gpu.if(i.eq(128), () => a.set(255, 1));
    },
    { workgroups: 3 },
    // Either of the earlier readers will do.
    (finding) => expect([0, 1]).toContain(finding.accesses[1]?.workgroup[0]),
  );

  negative(
    "a barrier does not order workgroups",
    "data-race",
    ["gpu.if(i.eq(64), () => b.set(1, a.get(0)))", "gpu.if(i.eq(0), () => a.set(0, 1))"],
    ({ a, b }, gpu) => {
      const i = gpu.globalId.x;
      gpu.if(i.eq(0), () => a.set(0, 1));
      gpu.barrier();
      gpu.if(i.eq(64), () => b.set(1, a.get(0)));
    },
    ({ a, b }, gpu) => {
      const i = gpu.globalId.x;
      gpu.if(i.eq(0), () => a.set(0, 1));
      gpu.barrier();
      gpu.if(i.eq(1), () => b.set(1, a.get(0)));
    },
    { workgroups: 2 },
  );
});

describe("races where atomics should order", () => {
  negative(
    "message passing with a relaxed flag",
    "data-race",
    ["b.set(0, a.get(0))", "a.set(0, 42)"],
    ({ a, b, flags }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(i.eq(0), () => {
        a.set(0, 42);
        flags.set(0, 1);
      });
      gpu.if(i.eq(32), () => {
        gpu.while(
          () => flags.get(0, acquire).eq(0),
          () => {},
        );
        b.set(0, a.get(0));
      });
    },
    ({ a, b, flags }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(i.eq(0), () => {
        a.set(0, 42);
        flags.set(0, 1, release);
      });
      gpu.if(i.eq(32), () => {
        gpu.while(
          () => flags.get(0, acquire).eq(0),
          () => {},
        );
        b.set(0, a.get(0));
      });
    },
  );

  negative(
    "message passing that releases but does not acquire",
    "data-race",
    ["b.set(0, a.get(0))", "a.set(0, 42)"],
    ({ a, b, flags }, gpu) => {
      gpu.if(gpu.localIndex.eq(0), () => {
        a.set(0, 42);
        flags.set(0, 1, release);
      });
      gpu.if(gpu.localIndex.eq(32), () => {
        gpu.while(
          () => flags.get(0).eq(0),
          () => {},
        );
        b.set(0, a.get(0));
      });
    },
    ({ a, b, flags }, gpu) => {
      gpu.if(gpu.localIndex.eq(0), () => {
        a.set(0, 42);
        flags.set(0, 1, release);
      });
      gpu.if(gpu.localIndex.eq(32), () => {
        gpu.while(
          () => flags.get(0, acquire).eq(0),
          () => {},
        );
        b.set(0, a.get(0));
      });
    },
  );

  negative(
    "the last workgroup sums partial results without acquiring them",
    "data-race",
    ["b.set(255, b.get(0).add(b.get(1)))", "b.set(gpu.workgroupIndex, 1)"],
    ({ b, flags }, gpu) => {
      gpu.if(gpu.localIndex.eq(0), () => {
        b.set(gpu.workgroupIndex, 1);
        const ticket = flags.add(0, 1);
        gpu.if(ticket.eq(1), () => {
          b.set(255, b.get(0).add(b.get(1)));
        });
      });
    },
    ({ b, flags }, gpu) => {
      gpu.if(gpu.localIndex.eq(0), () => {
        b.set(gpu.workgroupIndex, 1);
        const ticket = flags.add(0, 1, { order: "acq_rel" });
        gpu.if(ticket.eq(1), () => {
          b.set(255, b.get(0).add(b.get(1)));
        });
      });
    },
    { workgroups: 2 },
  );

  negative(
    "a release by one lane does not publish what others wrote",
    "data-race",
    ["b.set(i, a.get(i.sub(32)))", "a.set(i, 7)"],
    ({ a, b, flags }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(
        i.lt(32),
        () => {
          a.set(i, 7);
          gpu.if(i.eq(0), () => flags.set(0, 1, release));
        },
        () => {
          gpu.while(
            () => flags.get(0, acquire).eq(0),
            () => {},
          );
          b.set(i, a.get(i.sub(32)));
        },
      );
    },
    ({ a, b, flags }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(
        i.lt(32),
        () => {
          a.set(i, 7);
          flags.add(0, 1, release);
        },
        () => {
          gpu.while(
            () => flags.get(0, acquire).ne(32),
            () => {},
          );
          b.set(i, a.get(i.sub(32)));
        },
      );
    },
  );

  test("a relaxed read-modify-write keeps an earlier release; a relaxed store ends it", async () => {
    const chain = (between: "add" | "set"): Promise<{ findings: readonly unknown[] }> =>
      simulate(
        ({ a, b, flags }, gpu) => {
          const i = gpu.localIndex;
          gpu.if(i.eq(0), () => {
            a.set(0, 42);
            flags.set(0, 1, release);
          });
          gpu.if(i.eq(32), () => {
            gpu.while(
              () => flags.get(0).ne(1),
              () => {},
            );
            if (between === "add") flags.add(0, 1);
            else flags.set(0, 2);
          });
          gpu.if(i.eq(64), () => {
            gpu.while(
              () => flags.get(0).ne(2),
              () => {},
            );
            b.set(1, flags.get(0, acquire).toF32());
            b.set(0, a.get(0));
          });
        },
        { size: 96 },
      );
    expect((await chain("add")).findings).toEqual([]);
    expect((await chain("set")).findings).toHaveLength(1);
  });
});

describe("what is no race", () => {
  test("reads of one element by everybody, and a lane's own elements", async () => {
    const { findings } = await simulate(
      ({ a, b }, gpu) => {
        const i = gpu.globalId.x;
        b.set(i, a.get(0));
        b.set(i, b.get(i).add(a.get(0)));
      },
      { workgroups: 3 },
    );
    expect(findings).toEqual([]);
  });

  test("launches follow each other: nothing is remembered", async () => {
    const first = await simulate(({ a }, gpu) => a.set(gpu.localIndex, 1));
    expect(first.findings).toEqual([]);
  });

  test("a finding is counted, not repeated", async () => {
    const { findings } = await simulate(({ b }, gpu) => gpu.for({ from: 0, to: 10 }, (i) => b.set(i, 1)));
    expect(findings).toHaveLength(1);
    expect(findings[0]?.count).toBe(20);
  });
});
