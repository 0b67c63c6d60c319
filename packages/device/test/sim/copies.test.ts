/** What exactly asynchronous copies and phase barriers mean on the simulator, and what each misuse is told. */

import { f32, select } from "@evolver/kernel";
import type { Gpu, SharedArray, U32 } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { negative, simulate } from "./support.ts";
import type { Body } from "./support.ts";

const messages = (findings: readonly { readonly message: string }[]): string[] =>
  findings.map(({ message }) => message);

/** Copies a[i] to s[i], one element per lane. */
function start(gpu: Gpu, from: Parameters<Body>[0]["a"], to: SharedArray<"f32">, at: U32, index = at): void {
  gpu.copies.start({ to, at: [at], from, index: [index], width: 1 });
}

describe("copies", () => {
  test("land when they are waited for, those of no group too", async () => {
    const { b, findings } = await simulate(({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      s.set(i, -1);
      gpu.barrier();
      start(gpu, a, s, i);
      gpu.copies.await();
      b.set(i, s.get(i));
    });
    expect(messages(findings)).toEqual([]);
    expect(b.slice(0, 64)).toEqual(Float32Array.from({ length: 64 }, (_, i) => i));
  });

  test("leave the old contents until then", async () => {
    const { b, findings } = await simulate(({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      s.set(i, -1);
      gpu.barrier();
      start(gpu, a, s, i);
      gpu.copies.commit();
      b.set(i, s.get(i));
      gpu.copies.await();
    });
    expect(findings.map(({ kind }) => kind)).toEqual(["copy-in-flight"]);
    expect(findings[0]?.accesses.map(({ action, lanes }) => [action, lanes.length])).toEqual([
      ["read", 64],
      ["copy", 64],
    ]);
    expect(new Set(b.slice(0, 64))).toEqual(new Set([-1]));
  });

  test("write zeros and read nothing where they are not active", async () => {
    const { b, findings, counters } = await simulate(({ a, b }, gpu) => {
      const s = gpu.shared(f32, 256);
      const at = gpu.localIndex.mul(4);
      const active = gpu.localIndex.lt(3);
      // Far outside where not active.
      const index = select(active, at, 1 << 20);
      gpu.copies.start({ to: s, at: [at], from: a, index: [index], width: 4, active });
      gpu.copies.commit({ bytes: 1024 });
      gpu.copies.await();
      b.setVec(at, s.getVec(4, at));
    });
    expect(messages(findings)).toEqual([]);
    expect(b).toEqual(Float32Array.from({ length: 256 }, (_, i) => (i < 12 ? i : 0)));
    expect(counters.memory.a).toMatchObject({ readBytes: 48, readRequests: 1, readSectors: 2 });
    expect(counters.memory.s).toMatchObject({ writeBytes: 1024, writeRequests: 2, passes: 16 });
    expect(counters.asyncCopies).toBe(2);
    // Two subgroups each start a copy, wait, read and write.
    expect(counters.issuedMemory).toBe(8);
  });

  test("conflict on banks as stores do", async () => {
    const { counters } = await simulate(({ a }, gpu) => {
      const s = gpu.shared(f32, 2048);
      start(gpu, a, s, gpu.localIndex.mul(32), gpu.localIndex);
      gpu.copies.commit();
      gpu.copies.await();
    });
    expect(counters.memory.s).toMatchObject({ passes: 64, conflicts: 62 });
  });

  test("are grouped by lane, whichever lane waits", async () => {
    const { b, findings } = await simulate(
      ({ a, b }, gpu) => {
        const s = gpu.shared(f32, 64);
        const i = gpu.localIndex;
        start(gpu, a, s, i);
        gpu.copies.commit();
        gpu.if(i.lt(8), () => {
          start(gpu, a, s, i.add(32));
          gpu.copies.commit();
        });
        // The lanes with two groups have the first one then, the others none.
        gpu.copies.await(1);
        gpu.if(i.lt(8), () => b.set(i, s.get(i)));
        gpu.copies.await();
        gpu.if(i.ge(8), () => b.set(i, s.get(i)));
        gpu.if(i.lt(8), () => b.set(i.add(32), s.get(i.add(32))));
      },
      { size: 32 },
    );
    expect(messages(findings)).toEqual([]);
    expect(b.slice(0, 40)).toEqual(Float32Array.from({ length: 40 }, (_, i) => i));
  });

  test("that one lane waits for land for that lane", async () => {
    const { findings } = await simulate(
      ({ a, b }, gpu) => {
        const s = gpu.shared(f32, 32);
        const i = gpu.localIndex;
        start(gpu, a, s, i);
        gpu.copies.commit();
        gpu.if(i.lt(8), () => gpu.copies.await());
        b.set(i, s.get(i));
        gpu.copies.await();
      },
      { size: 32 },
    );
    const flying = findings.filter(({ kind }) => kind === "copy-in-flight");
    expect(flying).toHaveLength(1);
    expect(flying[0]?.accesses[0]?.lanes).toEqual(Array.from({ length: 24 }, (_, i) => 8 + i));
  });

  negative(
    "what lands is written by the lane that copied it",
    "data-race",
    ["b.set(i, s.get(i.xor(1)))", "gpu.copies.start({"],
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      s.set(i.xor(1), 0);
      gpu.barrier();
      start(gpu, a, s, i);
      gpu.copies.commit();
      gpu.copies.await();
      b.set(i, s.get(i.xor(1)));
    },
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      start(gpu, a, s, i);
      gpu.copies.commit();
      gpu.copies.await();
      gpu.subgroup.barrier();
      b.set(i, s.get(i.xor(1)));
    },
    {},
    (finding) => expect(finding.message).toContain("copy by lane"),
  );

  negative(
    "a copy may not start where others still read",
    "data-race",
    ["gpu.copies.start({", "b.set(i, s.get(i.xor(1))); // before"],
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      s.set(i, 0);
      gpu.barrier();
      b.set(i, s.get(i.xor(1))); // before
      start(gpu, a, s, i);
      gpu.copies.commit();
      gpu.copies.await();
    },
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      s.set(i, 0);
      gpu.barrier();
      b.set(i, s.get(i.xor(1)));
      gpu.barrier();
      start(gpu, a, s, i);
      gpu.copies.commit();
      gpu.copies.await();
    },
  );

  negative(
    "a copy reads global memory when it starts",
    "data-race",
    ["gpu.copies.start({", "a.set(i.xor(1), 7); // unordered"],
    ({ a }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      a.set(i.xor(1), 7); // unordered
      start(gpu, a, s, i);
      gpu.copies.commit();
      gpu.copies.await();
    },
    ({ a }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      a.set(i.xor(1), 7);
      gpu.barrier();
      start(gpu, a, s, i);
      gpu.copies.commit();
      gpu.copies.await();
    },
  );

  negative(
    "two lanes may not copy to one element",
    "copy-in-flight",
    ["gpu.copies.start({", "gpu.copies.start({"],
    ({ a }, gpu) => {
      const s = gpu.shared(f32, 64);
      start(gpu, a, s, gpu.localIndex.shr(1));
      gpu.copies.commit();
      gpu.copies.await();
    },
    ({ a }, gpu) => {
      const s = gpu.shared(f32, 64);
      start(gpu, a, s, gpu.localIndex);
      gpu.copies.commit();
      gpu.copies.await();
    },
  );

  negative(
    "nobody may write where a copy is under way",
    "copy-in-flight",
    ["s.set(i, 1); // too early", "gpu.copies.start({"],
    ({ a }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      start(gpu, a, s, i);
      gpu.copies.commit();
      s.set(i, 1); // too early
      gpu.copies.await();
    },
    ({ a }, gpu) => {
      const s = gpu.shared(f32, 64);
      const i = gpu.localIndex;
      start(gpu, a, s, i);
      gpu.copies.commit();
      gpu.copies.await();
      s.set(i, 1);
    },
  );

  test.each([
    [
      "read outside a buffer",
      "out-of-bounds",
      200,
      0,
      /buffer "a" has 256 elements; elements 256 to 259 are/,
    ],
    ["written outside an array", "out-of-bounds", 0, 100, /shared "s" has 256 elements; elements 256 to/],
    [
      "read at an index that is not aligned",
      "misaligned-access",
      1,
      0,
      /access to buffer "a" starts at 1, which/,
    ],
    ["written at one", "misaligned-access", 0, 2, /access to shared "s" starts at 2, which/],
  ] as const)("%s", async (_, kind, fromOffset, toOffset, message) => {
    const { findings } = await simulate(
      ({ a }, gpu) => {
        const s = gpu.shared(f32, 256);
        const at = gpu.localIndex.mul(4);
        const [index, target] = [at.add(fromOffset), at.add(toOffset)];
        gpu.copies.start({ to: s, at: [target], from: a, index: [index], width: 4 });
        gpu.copies.commit();
        gpu.copies.await();
      },
      { size: 64 },
    );
    expect(findings.map((finding) => finding.kind)).toEqual([kind]);
    expect(findings[0]?.message).toMatch(message);
    expect(findings[0]?.accesses[0]?.action).toBe("copy");
  });

  test("a group that is empty has the right size, and so has one that is shared by all", async () => {
    const { findings } = await simulate(({ a, n }, gpu) => {
      const s = gpu.shared(f32, 64);
      gpu.if(n.eq(64), () => start(gpu, a, s, gpu.localIndex));
      gpu.copies.commit({ bytes: 256 });
      gpu.copies.commit({ bytes: 256 });
      gpu.copies.await();
    });
    expect(messages(findings)).toEqual([]);
  });

  test("a group that some subgroups never end is checked at the end", async () => {
    const { findings } = await simulate(({ a }, gpu) => {
      const s = gpu.shared(f32, 64);
      gpu.if(gpu.localIndex.lt(32), () => {
        start(gpu, a, s, gpu.localIndex);
        gpu.copies.commit({ bytes: 256 });
        gpu.copies.await();
      });
    });
    expect(messages(findings)).toEqual([
      "group 0 of the workgroup's copies has 128 bytes, and 256 are expected",
    ]);
    expect(findings[0]?.accesses[0]?.lanes).toHaveLength(32);
  });

  test("what a workgroup leaves under way does not trouble the next", async () => {
    const { findings } = await simulate(
      ({ a, b }, gpu) => {
        const s = gpu.shared(f32, 64);
        const i = gpu.localIndex;
        gpu.if(gpu.workgroupIndex.eq(0), () => start(gpu, a, s, i));
        gpu.if(gpu.workgroupIndex.eq(1), () => {
          s.set(i, 1);
          b.set(i, s.get(i));
        });
      },
      { workgroups: 2 },
    );
    expect(messages(findings)).toEqual([
      'the copy to shared "s"[0] was not awaited before the workgroup ended',
    ]);
  });
});

describe("phase barriers", () => {
  /** Lanes of subgroup 0 run one body, those of subgroup 1 another. */
  const two = (gpu: Gpu, first: () => void, second: () => void): void =>
    gpu.roles([
      { name: "first", subgroups: 1, body: first },
      { name: "second", subgroups: 1, body: second },
    ]);

  test("parity: phase 0 is waited for with 0, and 1 passes before it", async () => {
    for (const [parity, arrivals, waits] of [
      [0, 0, true],
      [1, 0, false],
      [0, 1, false],
      [1, 1, true],
      [0, 2, true],
      [1, 2, false],
    ] as const) {
      const { findings } = await simulate(
        (_, gpu) => {
          const phases = gpu.phaseBarriers({ count: 1, arrivals: 32 });
          for (let k = 0; k < arrivals; k++) phases.arrive(0);
          phases.wait(0, parity);
        },
        { size: 32 },
      );
      expect(findings.map(({ kind }) => kind)).toEqual(waits ? ["deadlock"] : []);
    }
  });

  test("arrivals beyond a phase count for the next", async () => {
    const { findings } = await simulate((_, gpu) => {
      const phases = gpu.phaseBarriers({ count: 1, arrivals: 48 });
      two(
        gpu,
        () => {
          phases.arrive(0);
          phases.wait(0, 0);
          // 16 of the second subgroup's arrivals are in the next phase, as are these.
          phases.arrive(0);
          phases.wait(0, 1);
        },
        () => phases.arrive(0),
      );
    });
    expect(messages(findings)).toEqual([]);
  });

  test("a finding says how far a phase is", async () => {
    const { findings } = await simulate((_, gpu) => {
      const phases = gpu.phaseBarriers({ count: 2, arrivals: 33, name: "turn" });
      gpu.if(gpu.subgroupId.eq(0), () => phases.arrive(1));
      phases.wait(1, 0);
    });
    expect(messages(findings)).toEqual([
      '2 of 2 subgroups wait forever: "turn"[1] has completed 0 phases and has 32 of 33 arrivals of the next',
    ]);
    expect(findings[0]?.accesses).toMatchObject([{ action: "wait", lanes: { length: 64 } }]);
  });

  test("a deadlock: some wait for a phase and others at a barrier", async () => {
    const { findings } = await simulate((_, gpu) => {
      const phases = gpu.phaseBarriers({ count: 1, arrivals: 64 });
      gpu.if(gpu.subgroupId.eq(0), () => {
        phases.arrive(0);
        phases.wait(0, 0);
      });
      gpu.barrier();
    });
    expect(findings.map(({ kind }) => kind)).toEqual(["deadlock"]);
    expect(findings[0]?.accesses.map(({ action }) => action).sort()).toEqual(["barrier", "wait"]);
  });

  test("lanes arrive at and wait for barriers of their own", async () => {
    const { b, findings } = await simulate(({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const phases = gpu.phaseBarriers({ count: 4, arrivals: 8 });
      const i = gpu.localIndex;
      two(
        gpu,
        () => {
          s.set(i, a.get(i));
          phases.arrive(i.and(3));
        },
        () => {
          const from = i.sub(32);
          phases.wait(from.and(3), 0);
          b.set(from, s.get(from.xor(4)));
        },
      );
    });
    expect(messages(findings)).toEqual([]);
    expect(b.slice(0, 32)).toEqual(Float32Array.from({ length: 32 }, (_, i) => i ^ 4));
  });

  negative(
    "waiting for one barrier does not order what another tells",
    "data-race",
    ["b.set(i.sub(32), s.get(i.xor(33))); // wrong", "s.set(i, 1)"],
    ({ b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const phases = gpu.phaseBarriers({ count: 2, arrivals: 16 });
      const i = gpu.localIndex;
      s.set(i, 0);
      gpu.barrier();
      two(
        gpu,
        () => {
          s.set(i, 1);
          phases.arrive(i.and(1));
        },
        () => {
          phases.wait(i.and(1), 0);
          b.set(i.sub(32), s.get(i.xor(33))); // wrong
        },
      );
    },
    ({ b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const phases = gpu.phaseBarriers({ count: 2, arrivals: 16 });
      const i = gpu.localIndex;
      two(
        gpu,
        () => {
          s.set(i, 1);
          phases.arrive(i.and(1));
        },
        () => {
          phases.wait(i.and(1), 0);
          b.set(i.sub(32), s.get(i.xor(32)));
        },
      );
    },
  );

  negative(
    "a release does not cover a second read of the same element after it",
    "data-race",
    ["s.set(i.sub(32), 2)", "b.set(i, s.get(i)); // again"],
    ({ b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const done = gpu.phaseBarriers({ count: 1, arrivals: 32 });
      const i = gpu.localIndex;
      two(
        gpu,
        () => {
          s.set(i, 1);
          b.set(i, s.get(i));
          done.arrive(0);
          b.set(i, s.get(i)); // again
        },
        () => {
          done.wait(0, 0);
          s.set(i.sub(32), 2);
        },
      );
    },
    ({ b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const done = gpu.phaseBarriers({ count: 1, arrivals: 32 });
      const i = gpu.localIndex;
      two(
        gpu,
        () => {
          s.set(i, 1);
          b.set(i, s.get(i));
          b.set(i, s.get(i));
          done.arrive(0);
        },
        () => {
          done.wait(0, 0);
          s.set(i.sub(32), 2);
        },
      );
    },
  );

  for (const [which, at] of [
    ["the same element", () => 0],
    ["elements of their own", (i: U32) => i.sub(32)],
  ] as const)
    negative(
      `one lane that waits does not wait for the others, who read ${which}`,
      "data-race",
      ["b.set(i, s.get(at(i))); // did not wait", "s.set(i, 1)"],
      ({ b }, gpu) => {
        const s = gpu.shared(f32, 64);
        const full = gpu.phaseBarriers({ count: 1, arrivals: 32 });
        const i = gpu.localIndex;
        two(
          gpu,
          () => {
            s.set(i, 1);
            full.arrive(0);
          },
          () => {
            gpu.if(gpu.lane.eq(0), () => full.wait(0, 0));
            b.set(i, s.get(at(i))); // did not wait
          },
        );
      },
      ({ b }, gpu) => {
        const s = gpu.shared(f32, 64);
        const full = gpu.phaseBarriers({ count: 1, arrivals: 32 });
        const i = gpu.localIndex;
        two(
          gpu,
          () => {
            s.set(i, 1);
            full.arrive(0);
          },
          () => {
            gpu.if(gpu.lane.eq(0), () => full.wait(0, 0));
            gpu.subgroup.barrier();
            b.set(i, s.get(at(i)));
          },
        );
      },
      {},
      (finding) => expect(finding.accesses[0]?.lanes).toEqual(Array.from({ length: 31 }, (_, k) => 33 + k)),
    );

  test("an index outside an array of barriers", async () => {
    const { findings } = await simulate(
      ({ n }, gpu) => {
        const phases = gpu.phaseBarriers({ count: 2, arrivals: 32, name: "turn" });
        phases.arrive(n);
        phases.wait(n, 0);
      },
      { size: 32, n: 7 },
    );
    expect(findings.map(({ kind }) => kind)).toEqual(["out-of-bounds", "out-of-bounds"]);
    expect(findings[0]?.message).toBe('"turn" has 2 phase barriers; 7 is outside');
    expect(findings.map(({ accesses }) => accesses[0]?.action)).toEqual(["arrive", "wait"]);
  });

  negative(
    "a lane has to wait for its own copies too, even if others have",
    "data-race",
    ["b.set(i, s.get(i)); // too early", "gpu.copies.start({"],
    ({ a, b, flags }, gpu) => {
      const s = gpu.shared(f32, 64);
      const full = gpu.phaseBarriers({ count: 1, arrivals: 32 });
      const i = gpu.localIndex;
      two(
        gpu,
        () => {
          start(gpu, a, s, i);
          full.arriveAfterCopies(0);
          // Relaxed: it tells that others have seen the copies, and makes nothing visible.
          gpu.while(
            () => flags.get(0).eq(0),
            () => {},
          );
          b.set(i, s.get(i)); // too early
        },
        () => {
          full.wait(0, 0);
          flags.set(0, 1);
        },
      );
    },
    ({ a, b }, gpu) => {
      const s = gpu.shared(f32, 64);
      const full = gpu.phaseBarriers({ count: 2, arrivals: 32 });
      const i = gpu.localIndex;
      two(
        gpu,
        () => {
          start(gpu, a, s, i);
          full.arriveAfterCopies(0);
          full.wait(0, 0);
          b.set(i, s.get(i));
        },
        () => full.wait(0, 0),
      );
    },
  );

  test("a lane that waits for its own copies sees them, in any order of the lanes", async () => {
    for (const first of [false, true]) {
      const { b, findings } = await simulate(({ a, b, flags }, gpu) => {
        const s = gpu.shared(f32, 64);
        const full = gpu.phaseBarriers({ count: 1, arrivals: 32 });
        const i = gpu.localIndex;
        two(
          gpu,
          () => {
            start(gpu, a, s, i);
            gpu.copies.commit();
            full.arriveAfterCopies(0);
            if (!first)
              gpu.while(
                () => flags.get(0).eq(0),
                () => {},
              );
            gpu.copies.await();
            b.set(i, s.get(i));
          },
          () => {
            full.wait(0, 0);
            b.set(i, s.get(i.sub(32)));
            flags.set(0, 1);
          },
        );
      });
      expect(messages(findings)).toEqual([]);
      expect(b.slice(0, 64)).toEqual(Float32Array.from({ length: 64 }, (_, i) => i % 32));
    }
  });

  test("arrivals and waits count once per subgroup", async () => {
    const { counters, findings } = await simulate((_, gpu) => {
      const phases = gpu.phaseBarriers({ count: 1, arrivals: 64 });
      gpu.for({ from: 0, to: 3 }, (n) => {
        phases.arrive(0);
        phases.wait(0, n.toU32().and(1));
      });
    });
    expect(messages(findings)).toEqual([]);
    expect(counters.issuedMemory).toBe(2 * 3 * 2);
  });
});
