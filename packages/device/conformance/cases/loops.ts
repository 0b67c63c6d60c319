/** Loops with a counter: their bounds, their steps, the ends of their types, and what leaves them. */

import { i32, u32, type I32 } from "@evolver/kernel";
import type { Case, KernelCase } from "../case.ts";
import { perLane } from "./per-lane.ts";

const loops: readonly KernelCase[] = [
  perLane(
    "for with bounds of lanes, some of them empty",
    (x, i, gpu) => {
      const sum = gpu.var(i32, 0);
      gpu.for({ from: i.toI32().and(3), to: x }, (k) => sum.add(k.mul(k)));
      return sum.get();
    },
    (x, i) => {
      let sum = 0;
      for (let k = i & 3; k < x; k++) sum += k * k;
      return sum;
    },
  ),
  perLane(
    "for with a step, known and at run time",
    (x, _, gpu, n) => {
      const sum = gpu.var(i32, 0);
      gpu.for({ from: -4, to: x, step: 3 }, (k) => sum.add(k));
      gpu.for({ from: x, to: 60, step: n }, (k) => sum.add(k.mul(100)));
      return sum.get();
    },
    (x, _, n) => {
      let sum = 0;
      for (let k = -4; k < x; k += 3) sum += k;
      for (let k = x; k < 60; k += n) sum += 100 * k;
      return sum;
    },
  ),
  perLane(
    "for that counts down, past zero",
    (x, _, gpu) => {
      const sum = gpu.var(i32, 0);
      gpu.for({ from: x, to: -3, step: -2 }, (k) => sum.set(sum.get().mul(3).add(k)));
      return sum.get();
    },
    (x) => {
      let sum = 0;
      for (let k = x; k > -3; k -= 2) sum = (Math.imul(sum, 3) + k) | 0;
      return sum;
    },
  ),
  perLane(
    "for that starts above and ends at the ends of its type",
    (x, i, gpu) => {
      const count = gpu.var(i32, 0);
      gpu.for({ from: gpu.constant(u32, 4294967290).add(i.and(3)), to: gpu.constant(u32, 4294967295) }, () =>
        count.add(1),
      );
      gpu.for({ from: gpu.constant(i32, -2147483648).add(3), to: -2147483648, step: -1 }, () =>
        count.add(10),
      );
      gpu.for({ from: 5, to: gpu.constant(i32, 5).min(x) }, () => count.add(100));
      return count.get();
    },
    (_, i) => 5 - (i & 3) + 30,
  ),
  perLane(
    "for that asks to be unrolled, wholly and by a factor",
    (x, _, gpu) => {
      const r = gpu.var(i32, x);
      gpu.for({ from: 0, to: 4, unroll: true }, (k) => r.set(r.get().xor(k.toI32().add(r.get().shl(1)))));
      gpu.for({ from: 0, to: 7, unroll: 2 }, (k) => r.add(k.toI32()));
      gpu.for({ from: 0, to: 3, unroll: false }, () => r.add(1));
      gpu.unroll(3, (k) => r.set(r.get().mul(k + 1)));
      return r.get();
    },
    (x) => {
      let r = x;
      for (let k = 0; k < 4; k++) r ^= (k + (r << 1)) | 0;
      return Math.imul(r + 21 + 3, 6);
    },
  ),
  perLane(
    "loops in loops, whose bounds depend on the outer one",
    (x, _, gpu) => {
      const sum = gpu.var(i32, 0);
      gpu.for({ from: 0, to: x.and(7) }, (a) =>
        gpu.for({ from: a, to: 6 }, (b) => {
          const inner = gpu.var(i32, 1);
          gpu.for({ from: b, to: a.add(2), step: -1 }, () => inner.add(1));
          gpu.if(a.add(b).and(1).eq(1), () => sum.add(inner.get().mul(a).add(b)));
        }),
      );
      return sum.get();
    },
    (x) => {
      let sum = 0;
      for (let a = 0; a < (x & 7); a++)
        for (let b = a; b < 6; b++) {
          let inner = 1;
          for (let k = b; k > a + 2; k--) inner++;
          if (((a + b) & 1) === 1) sum += inner * a + b;
        }
      return sum;
    },
  ),
  perLane(
    "while, with a condition of several steps",
    (x, _, gpu) => {
      const n = gpu.var(i32, x.add(21));
      const steps = gpu.var(i32, 0);
      gpu.while(
        () => {
          const now = n.get();
          const isLow = now.lt(1000);
          return isLow.and(now.ne(1));
        },
        () => {
          const now = n.get();
          n.set(
            gpu.if(
              now.and(1).eq(0),
              () => now.shr(1),
              () => now.mul(3).add(1),
            ),
          );
          steps.add(1);
        },
      );
      return steps.get();
    },
    (x) => {
      let n = x + 21;
      let steps = 0;
      for (; n < 1000 && n !== 1; steps++) n = n % 2 === 0 ? n / 2 : 3 * n + 1;
      return steps;
    },
  ),
  perLane(
    "break and continue in for",
    (x, i, gpu) => {
      const sum = gpu.var(i32, 0);
      gpu.for({ from: 0, to: 40 }, (k) => {
        gpu.if(k.toI32().gt(x), () => gpu.break());
        gpu.if(k.and(3).eq(i.and(3)), () => gpu.continue());
        sum.add(k.toI32());
        gpu.if(sum.get().gt(200), () => {
          sum.add(1000);
          gpu.break();
        });
      });
      return sum.get();
    },
    (x, i) => {
      let sum = 0;
      for (let k = 0; k < 40; k++) {
        if (k > x) break;
        if ((k & 3) === (i & 3)) continue;
        sum += k;
        if (sum > 200) {
          sum += 1000;
          break;
        }
      }
      return sum;
    },
  ),
  perLane(
    "break and continue in while, and in loops inside one another",
    (x, i, gpu) => {
      const k = gpu.var(i32, 0);
      const sum = gpu.var(i32, 0);
      gpu.while(
        () => k.get().lt(30),
        () => {
          k.add(1);
          gpu.if(k.get().and(1).eq(i.toI32().and(1)), () => gpu.continue());
          gpu.for({ from: 0, to: 10 }, (j) => {
            gpu.if(j.toI32().gt(k.get()), () => gpu.break());
            gpu.if(j.eq(3), () => gpu.continue());
            sum.add(j.toI32());
          });
          gpu.if(sum.get().gt(x.mul(5)), () => gpu.break());
          sum.add(1);
        },
      );
      return sum.get().mul(100).add(k.get());
    },
    (x, i) => {
      let k = 0;
      let sum = 0;
      while (k < 30) {
        k++;
        if ((k & 1) === (i & 1)) continue;
        for (let j = 0; j < 10; j++) {
          if (j > k) break;
          if (j === 3) continue;
          sum += j;
        }
        if (sum > 5 * x) break;
        sum++;
      }
      return sum * 100 + k;
    },
  ),
  perLane(
    "an endless loop that lanes leave one after another",
    (x, _, gpu) => {
      const k = gpu.var(i32, 0);
      gpu.while(
        () => gpu.constant(i32, 0).eq(0),
        () => {
          k.add(1);
          gpu.if(k.get().gt(x), () => gpu.break());
        },
      );
      return k.get();
    },
    (x) => Math.max(1, x + 1),
  ),
  perLane(
    "for whose last step would lead past the end of its type",
    (x, i, gpu, n) => {
      const count = gpu.var(i32, 0);
      const few = i.and(3);
      const nearTop = gpu.constant(u32, 4294967240).add(few);
      gpu.for({ from: nearTop, to: few.add(4294967290), step: 7 }, () => count.add(1));
      gpu.for({ from: nearTop, to: 4294967295, step: n.toU32() }, () => count.add(100));
      gpu.for({ from: few.toI32().add(2147483600), to: 2147483647, step: 16 }, () => count.add(10_000));
      gpu.for({ from: few.toI32().sub(2147483600), to: -2147483648, step: -16 }, () => count.add(1_000_000));
      gpu.for({ from: few, to: x.toU32().or(2147483648), step: 4294967295 }, () => count.add(100_000_000));
      return count.get();
    },
    (_, i, n) =>
      8 +
      100 * Math.ceil((55 - (i & 3)) / n) +
      10_000 * Math.ceil((47 - (i & 3)) / 16) +
      1_000_000 * Math.ceil((48 + (i & 3)) / 16) +
      100_000_000,
  ),
  perLane(
    "for over all of a type in a few turns",
    (_, i, gpu) => {
      const sum = gpu.var(i32, 0);
      const least = gpu.constant(i32, -2147483648);
      gpu.for({ from: least.add(i.toI32().and(1)), to: 2147483647, step: 2000000000 }, (k) =>
        sum.set(sum.get().mul(3).add(k)),
      );
      return sum.get();
    },
    (_, i) => {
      let sum = 0;
      for (let k = -2147483648 + (i & 1); k < 2147483647; k += 2000000000) sum = (Math.imul(sum, 3) + k) | 0;
      return sum;
    },
  ),
  perLane(
    "for that goes on after a continue, up to the end of its type",
    (x, i, gpu) => {
      const count = gpu.var(i32, 0);
      gpu.for({ from: i.and(3).add(4294967200), to: 4294967295, step: 9 }, (k) => {
        gpu.if(k.and(1).eq(x.toU32().and(1)), () => gpu.continue());
        count.add(1);
        gpu.if(count.get().ge(4), () => gpu.break());
      });
      return count.get();
    },
    (x, i) => {
      let count = 0;
      for (let k = 4294967200 + (i & 3); k < 4294967295 && count < 4; k += 9)
        if ((k & 1) !== (x & 1)) count++;
      return count;
    },
  ),
  perLane(
    "for with a step whose sign is known at run time, the same or not for all lanes",
    (x, i, gpu, n) => {
      const sum = gpu.var(i32, 0);
      const add = (k: I32): void => sum.set(sum.get().mul(3).add(k));
      gpu.for({ from: 20, to: x, step: n.neg() }, add);
      gpu.for({ from: x, to: 20, step: i.toI32().and(7).sub(3).mul(2).add(1) }, add);
      gpu.for({ from: 2147483640, to: 2147483647, step: n }, add);
      gpu.for({ from: -2147483640, to: -2147483648, step: n.neg() }, add);
      return sum.get();
    },
    (x, i, n) => {
      let sum = 0;
      const add = (from: number, to: number, step: number): void => {
        for (let k = from; step > 0 ? k < to : k > to; k += step) sum = (Math.imul(sum, 3) + k) | 0;
      };
      add(20, x, -n);
      add(x, 20, 2 * ((i & 7) - 3) + 1);
      add(2147483640, 2147483647, n);
      add(-2147483640, -2147483648, -n);
      return sum;
    },
  ),
];

export const loopCases: readonly Case[] = loops;
