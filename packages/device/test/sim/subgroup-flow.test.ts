/** Subgroup operations that a part of the subgroup executes, in kernels whose flow is left to the simulator. */

import { f32 } from "@evolver/kernel";
import { describe, expect } from "vitest";
import { negative } from "./support.ts";

describe("operations that combine all lanes", () => {
  negative(
    "a sum behind the check for the ragged end",
    "divergent-subgroup-operation",
    ["b.set(i, gpu.subgroup.sum(a.get(i)))"],
    ({ a, b, n }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(i.lt(n), () => {
        b.set(i, gpu.subgroup.sum(a.get(i)));
      });
    },
    ({ a, b, n }, gpu) => {
      const i = gpu.localIndex;
      const mine = gpu.if(
        i.lt(n),
        () => a.get(i),
        () => gpu.constant(f32, 0),
      );
      const total = gpu.subgroup.sum(mine);
      gpu.if(i.lt(n), () => b.set(i, total));
    },
    { n: 45 },
    ({ message, accesses }) => {
      expect(message).toBe(
        "of the 32 lanes of subgroup 1 only 13 take part in subgroup.sum, which combines them all",
      );
      expect(accesses[0]?.lanes).toEqual([32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44]);
    },
  );

  negative(
    "a vote in a loop that lanes leave at different times",
    "divergent-subgroup-operation",
    ["const some = gpu.subgroup.any(i.gt(k))"],
    ({ b }, gpu) => {
      const i = gpu.localIndex;
      gpu.for({ from: 0, to: i.remTrunc(3).add(1) }, (k) => {
        const some = gpu.subgroup.any(i.gt(k));
        b.set(i, some.toF32());
      });
    },
    ({ b }, gpu) => {
      const i = gpu.localIndex;
      gpu.for({ from: 0, to: 3 }, (k) => {
        const some = gpu.subgroup.any(i.gt(k));
        gpu.if(k.le(i.remTrunc(3)), () => b.set(i, some.toF32()));
      });
    },
  );

  negative(
    "a scan in one of two branches, where the other subgroup is whole",
    "divergent-subgroup-operation",
    ["b.set(i, gpu.subgroup.exclusiveSum(a.get(i)))"],
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(i.lt(48), () => {
        b.set(i, gpu.subgroup.exclusiveSum(a.get(i)));
      });
    },
    ({ a, b }, gpu) => {
      const i = gpu.localIndex;
      gpu.if(i.lt(32), () => {
        b.set(i, gpu.subgroup.exclusiveSum(a.get(i)));
      });
    },
    {},
    ({ count }) => expect(count).toBe(1),
  );
});
