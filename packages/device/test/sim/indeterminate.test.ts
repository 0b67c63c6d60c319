/** Values that nothing determines: they are findings where they reach a result, an address or a decision, and only there. */

import { f32, select, u32 } from "@evolver/kernel";
import type { F32, Gpu, Var } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { negative, simulate } from "./support.ts";

/** Inclusive sums of a subgroup; each step asks the lane `step` below, which for the first lanes is not there. */
function scan(gpu: Gpu, value: F32, add: (sum: Var<"f32">, below: F32, step: number) => void): F32 {
  const sum = gpu.var(f32, value);
  for (let step = 1; step < gpu.subgroupSize; step *= 2) {
    const below = gpu.subgroup.shuffleUp(sum.get(), step);
    add(sum, below, step);
  }
  return sum.get();
}

describe("lanes beyond the ends of the subgroup", () => {
  negative(
    "a scan that forgets to leave the first lanes alone",
    "inactive-lane-read",
    ["const below = gpu.subgroup.shuffleUp(sum.get(), step)"],
    ({ a, b }, gpu) => {
      const sum = scan(gpu, a.get(gpu.localIndex), (t, below) => t.add(below));
      b.set(gpu.localIndex, sum);
    },
    ({ a, b }, gpu) => {
      const sum = scan(gpu, a.get(gpu.localIndex), (t, below, step) =>
        t.add(select(gpu.lane.ge(step), below, 0)),
      );
      b.set(gpu.localIndex, sum);
    },
    {},
    ({ message }) => expect(message).toMatch(/and the value is stored in b in line \d+$/),
  );

  test("a scan with a branch in the place of the choice is right, and its sums too", async () => {
    const { b, findings } = await simulate(({ a, b }, gpu) => {
      const sum = scan(gpu, a.get(gpu.localIndex), (t, below, step) =>
        gpu.if(gpu.lane.ge(step), () => t.add(below)),
      );
      b.set(gpu.localIndex, sum);
    });
    expect(findings).toEqual([]);
    expect(b[33]).toBe(32 + 33);
  });

  negative(
    "a scan without a branch: what a product or a mask with 0 leaves is determined",
    "inactive-lane-read",
    ["const below = gpu.subgroup.shuffleUp(a.get(gpu.localIndex).toU32(), 1)"],
    ({ a, b }, gpu) => {
      const below = gpu.subgroup.shuffleUp(a.get(gpu.localIndex).toU32(), 1);
      b.set(gpu.localIndex, below.mul(gpu.lane.min(1).add(1)).toF32());
    },
    ({ a, b }, gpu) => {
      const below = gpu.subgroup.shuffleUp(a.get(gpu.localIndex).toU32(), 1);
      const keep = gpu.lane.min(1);
      const masked = below.and(gpu.constant(u32, 0).sub(keep));
      const full = below.or(keep.sub(1));
      b.set(gpu.localIndex, below.mul(keep).add(masked).add(full).toF32());
    },
  );

  negative(
    "a reduction towards lane 0 of which another lane's sum is used",
    "inactive-lane-read",
    ["t.add(gpu.subgroup.shuffleDown(t.get(), d))"],
    ({ a, b }, gpu) => {
      const t = gpu.var(f32, a.get(gpu.localIndex));
      for (let d = gpu.subgroupSize / 2; d >= 1; d /= 2) {
        t.add(gpu.subgroup.shuffleDown(t.get(), d));
      }
      gpu.if(gpu.lane.eq(1), () => b.set(gpu.subgroupId, t.get()));
    },
    ({ a, b }, gpu) => {
      const t = gpu.var(f32, a.get(gpu.localIndex));
      for (let d = gpu.subgroupSize / 2; d >= 1; d /= 2) t.add(gpu.subgroup.shuffleDown(t.get(), d));
      gpu.if(gpu.lane.eq(0), () => b.set(gpu.subgroupId, t.get()));
    },
  );

  negative(
    "the place of the largest, found by branches that only set variables",
    "inactive-lane-read",
    ["const value = gpu.subgroup.shuffleDown(best.get(), d)"],
    ({ a, b }, gpu) => {
      const best = gpu.var(f32, a.get(gpu.localIndex));
      const at = gpu.var(u32, gpu.lane);
      for (let d = gpu.subgroupSize / 2; d >= 1; d /= 2) {
        const value = gpu.subgroup.shuffleDown(best.get(), d);
        gpu.if(value.gt(best.get()), () => {
          best.set(value);
          at.set(at.get().add(d));
        });
      }
      b.set(gpu.localIndex, at.get().toF32());
    },
    ({ a, b }, gpu) => {
      const best = gpu.var(f32, a.get(gpu.localIndex));
      const at = gpu.var(u32, gpu.lane);
      for (let d = gpu.subgroupSize / 2; d >= 1; d /= 2) {
        const value = gpu.subgroup.shuffleDown(best.get(), d);
        gpu.if(value.gt(best.get()), () => {
          best.set(value);
          at.set(at.get().add(d));
        });
      }
      gpu.if(gpu.lane.eq(0), () => b.set(gpu.subgroupId, at.get().toF32()));
    },
  );

  negative(
    "a sum that goes through shared memory, of which the wrong element is read",
    "inactive-lane-read",
    ["const other = gpu.subgroup.shuffleDown(a.get(i), 1)"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const kept = gpu.shared(f32, 64);
      const other = gpu.subgroup.shuffleDown(a.get(i), 1);
      kept.set(i, other);
      gpu.barrier();
      gpu.if(i.eq(0), () => b.set(0, kept.get(31)));
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const kept = gpu.shared(f32, 64);
      const other = gpu.subgroup.shuffleDown(a.get(i), 1);
      kept.set(i, other);
      gpu.barrier();
      gpu.if(i.eq(0), () => b.set(0, kept.get(30)));
    },
  );

  negative(
    "an element of shared memory that is written again with what is determined",
    "inactive-lane-read",
    ["kept.set(i, gpu.subgroup.shuffleUp(a.get(i), 1))"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const kept = gpu.shared(f32, 64);
      kept.set(i, gpu.subgroup.shuffleUp(a.get(i), 1));
      b.set(i, kept.get(i));
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const kept = gpu.shared(f32, 64);
      kept.set(i, gpu.subgroup.shuffleUp(a.get(i), 1));
      gpu.if(gpu.lane.eq(0), () => kept.set(i, 0));
      b.set(i, kept.get(i));
    },
  );
});

describe("what such a value decides", () => {
  negative(
    "an address",
    "inactive-lane-read",
    ["const at = gpu.subgroup.shuffleUp(i, 1)"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const at = gpu.subgroup.shuffleUp(i, 1);
      b.set(i, select(gpu.lane.gt(0), a.get(at), 0));
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const at = gpu.subgroup.shuffleUp(i, 1);
      b.set(i, a.get(select(gpu.lane.gt(0), at, 0)));
    },
    {},
    ({ message }) => expect(message).toMatch(/is an index into a in line/),
  );

  negative(
    "a branch with a store in it",
    "inactive-lane-read",
    ["const below = gpu.subgroup.shuffleUp(a.get(i), 1)"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const below = gpu.subgroup.shuffleUp(a.get(i), 1);
      gpu.if(below.ne(a.get(i)), () => b.set(i, 1));
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const below = gpu.subgroup.shuffleUp(a.get(i), 1);
      gpu.if(gpu.lane.eq(0).or(below.ne(a.get(i))), () => b.set(i, 1));
    },
    {},
    ({ message, accesses }) => {
      expect(message).toMatch(/decides a branch in line/);
      expect(accesses[0]?.lanes).toEqual([0, 32]);
    },
  );

  negative(
    "how often a loop runs",
    "inactive-lane-read",
    ["const turns = gpu.subgroup.shuffleDown(i, 1)"],
    ({ b }, gpu) => {
      const i = gpu.localIndex;
      const turns = gpu.subgroup.shuffleDown(i, 1);
      gpu.for({ from: 0, to: turns.and(3) }, (k) => b.set(i, k.toF32()));
    },
    ({ b }, gpu) => {
      const i = gpu.localIndex;
      const turns = gpu.subgroup.shuffleDown(i, 1);
      gpu.for({ from: 0, to: select(gpu.lane.lt(31), turns, 0).and(3) }, (k) => b.set(i, k.toF32()));
    },
  );

  negative(
    "a sum of the subgroup",
    "inactive-lane-read",
    ["const other = gpu.subgroup.shuffleDown(a.get(i), 1)"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const other = gpu.subgroup.shuffleDown(a.get(i), 1);
      const total = gpu.subgroup.sum(other);
      gpu.if(gpu.lane.eq(0), () => b.set(i, total));
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const other = gpu.subgroup.shuffleDown(a.get(i), 1);
      const total = gpu.subgroup.sum(select(gpu.lane.lt(31), other, 0));
      gpu.if(gpu.lane.eq(0), () => b.set(i, total));
    },
  );
});

describe("data that nobody wrote", () => {
  negative(
    "a variable that only some lanes set, and that only they should use",
    "uninitialised-variable",
    ["const seen = found.get()"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const found = gpu.var(f32);
      gpu.if(i.lt(40), () => found.set(a.get(i)));
      const seen = found.get();
      b.set(i, select(i.lt(50), seen, 0));
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const found = gpu.var(f32);
      gpu.if(i.lt(40), () => found.set(a.get(i)));
      const seen = found.get();
      b.set(i, select(i.lt(40), seen, 0));
    },
    {},
    ({ accesses }) => expect(accesses[0]?.lanes).toEqual([40, 41, 42, 43, 44, 45, 46, 47, 48, 49]),
  );

  negative(
    "the element behind a tile, read by all and wanted by all but one",
    "uninitialised-shared-memory",
    ["const next = tile.get(i.add(1))"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const tile = gpu.shared(f32, 65);
      tile.set(i, a.get(i));
      gpu.barrier();
      const next = tile.get(i.add(1));
      b.set(i, tile.get(i).add(next));
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      const tile = gpu.shared(f32, 65);
      tile.set(i, a.get(i));
      gpu.barrier();
      const next = tile.get(i.add(1));
      b.set(i, tile.get(i).add(select(i.lt(63), next, 0)));
    },
    {},
    ({ accesses }) => expect(accesses[0]?.lanes).toEqual([63]),
  );
});

test("a launch that runs again begins with the contents that it was given", async () => {
  const { a, counters } = await simulate(({ a }, gpu) => {
    const below = gpu.subgroup.shuffleUp(a.get(gpu.localIndex), 1);
    a.set(gpu.localIndex, a.get(gpu.localIndex).add(select(gpu.lane.gt(0), below, 0)));
  });
  expect([...a.slice(0, 4)]).toEqual([0, 1, 3, 5]);
  expect(counters.workgroups).toBe(1);
});
