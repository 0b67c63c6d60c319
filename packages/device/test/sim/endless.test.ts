/** Loops that come round to where they were, in however many iterations, and loops that only look like them. */

import { atomic, buffer, kernel, u32 } from "@evolver/kernel";
import { explore } from "@evolver/device";
import { describe, expect, test } from "vitest";
import { negative, simulate } from "./support.ts";
import type { Body } from "./support.ts";

const acquire = { order: "acquire" } as const;
const release = { order: "release" } as const;
const found = async (body: Body): Promise<string[]> => {
  const { findings } = await simulate(body);
  return findings.map(({ kind, message, accesses }) => `${kind} (${accesses[0]?.action}): ${message}`);
};

describe("a loop comes round", () => {
  negative(
    "to the first of several flags",
    "deadlock",
    ["() => flags.get(at.get()).eq(0),"],
    ({ flags }, gpu) => {
      const at = gpu.var(u32, 0);
      gpu.while(
        () => flags.get(at.get()).eq(0),
        () => at.set(at.get().add(1).remTrunc(37)),
      );
    },
    ({ flags }, gpu) => {
      const at = gpu.var(u32, 0);
      gpu.while(
        () => flags.get(at.get()).eq(0).and(at.get().lt(36)),
        () => at.set(at.get().add(1).remTrunc(37)),
      );
    },
  );

  negative(
    "and counts how often",
    "deadlock",
    ["() => flags.get(0, acquire).eq(0),"],
    ({ flags, b }, gpu) => {
      const polls = gpu.var(u32, 0);
      gpu.while(
        () => flags.get(0, acquire).eq(0),
        () => polls.add(1),
      );
      b.set(gpu.localIndex, polls.get().toF32());
    },
    ({ flags, b }, gpu) => {
      const polls = gpu.var(u32, 0);
      gpu.while(
        () => flags.get(0, acquire).eq(0).and(polls.get().lt(30_000)),
        () => polls.add(1),
      );
      b.set(gpu.localIndex, polls.get().toF32());
    },
  );

  test("in some lanes, while others add up what nobody looks at", async () => {
    const body: Body = ({ a, b, n }, gpu) => {
      const i = gpu.var(u32, 0);
      const sum = gpu.var(u32, 0);
      gpu.while(
        () => i.get().lt(n),
        () => {
          gpu.if(gpu.lane.lt(16), () => i.add(1));
          sum.add(a.get(i.get().min(63)).toU32());
        },
      );
      b.set(gpu.localIndex, sum.get().toF32());
    };
    expect(await found(body)).toEqual([
      expect.stringMatching(
        /^deadlock \(loop\): .* a loop comes back to the same values, and reads no memory/,
      ),
    ]);
  });

  test("over registers alone", async () => {
    const body: Body = ({ n }, gpu) => {
      const x = gpu.var(u32, n);
      gpu.while(
        () => x.get().ne(1),
        () => x.set(x.get().mul(5).and(63)),
      );
    };
    expect(await found(body)).toEqual([
      expect.stringMatching(
        /^deadlock \(loop\): .* a loop comes back to the same values, and reads no memory/,
      ),
    ]);
  });
});

describe("a loop goes on", () => {
  test("until another subgroup ends it, however often it came round", async () => {
    const { findings, b } = await simulate(({ flags, b }, gpu) => {
      gpu.if(
        gpu.subgroupId.eq(0),
        () => {
          const x = gpu.var(u32, 1);
          gpu.for({ from: 0, to: 100_000 }, (i) => x.set(x.get().add(i)));
          b.set(gpu.localIndex, x.get().toF32());
          gpu.if(gpu.lane.eq(0), () => flags.set(5, 1, release));
        },
        () => {
          const at = gpu.var(u32, 0);
          gpu.while(
            () => flags.get(at.get(), acquire).eq(0),
            () => at.set(at.get().add(1).and(7)),
          );
          b.set(gpu.localIndex, at.get().toF32());
        },
      );
    });
    expect(findings).toEqual([]);
    expect(b[63]).toBe(5);
  });

  test("through the values of a long sequence", async () => {
    const { findings, b } = await simulate(({ flags, b }, gpu) => {
      const x = gpu.var(u32, 1);
      const steps = gpu.var(u32, 0);
      gpu.while(
        () => x.get().ne(0).and(steps.get().lt(50_000)),
        () => {
          steps.add(1);
          x.set(x.get().mul(1_664_525).add(flags.get(0)).add(1_013_904_223));
        },
      );
      b.set(gpu.localIndex, steps.get().toF32());
    });
    expect(findings).toEqual([]);
    expect(b[0]).toBe(50_000);
  });
});

test("a loop that only maxSteps ends is run once", async () => {
  const counting = kernel(
    "counting",
    { params: { count: buffer(atomic(u32)) }, workgroup: [32] },
    ({ count }, gpu) =>
      gpu.while(
        () => count.get(1).eq(0),
        () => void count.add(0, 1),
      ),
  );
  const { findings, launches } = await explore(
    counting,
    (device) => ({ workgroups: 1, args: { count: device.createBuffer("u32", 2) } }),
    { maxSteps: 10_000 },
  );
  expect(findings.map(({ kind, message }) => `${kind}: ${message}`)).toEqual([
    "deadlock: subgroup 0 has run 10000 loop iterations without an end (option maxSteps)",
  ]);
  expect(launches).toBe(1);
});
