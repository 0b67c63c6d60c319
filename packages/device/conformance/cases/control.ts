/** Control flow at run time: branches, what leaves loops, and variables that live through them. */

import { bool, f32, i32, u32 } from "@evolver/kernel";
import type { Case, KernelCase } from "../case.ts";
import { perLane } from "./per-lane.ts";

const branches: readonly KernelCase[] = [
  perLane(
    "if without else, with else, nested",
    (x, i, gpu) => {
      const r = gpu.var(i32, 1);
      gpu.if(x.gt(0), () => {
        r.set(x);
        gpu.if(
          i.and(1).eq(0),
          () => r.set(r.get().mul(2)),
          () => gpu.if(x.gt(20), () => r.set(-5)),
        );
      });
      gpu.if(
        x.lt(-10),
        () => r.add(100),
        () => r.add(1),
      );
      return r.get();
    },
    (x, i) => {
      let r = 1;
      if (x > 0) {
        r = x;
        if ((i & 1) === 0) r *= 2;
        else if (x > 20) r = -5;
      }
      return r + (x < -10 ? 100 : 1);
    },
  ),
  perLane(
    "if with a result, nested, and of a bool",
    (x, i, gpu) => {
      const size = gpu.if(
        x.gt(10),
        () =>
          gpu.if(
            x.gt(30),
            () => x.mul(3),
            () => x.add(1),
          ),
        () => gpu.constant(i32, -7),
      );
      const odd = gpu.if(
        size.lt(0),
        () => i.and(1).eq(1),
        () => size.and(1).eq(1),
      );
      return size.mul(2).add(odd.toI32());
    },
    (x, i) => {
      const size = x > 10 ? (x > 30 ? 3 * x : x + 1) : -7;
      return 2 * size + (size < 0 ? i & 1 : size & 1);
    },
  ),
  perLane(
    "if with several results of different types",
    (x, i, gpu) => {
      const [a, b, c] = gpu.if(
        x.ge(0),
        () => [x.toF32().mul(0.5), x, i] as const,
        () => [gpu.constant(f32, 100), x.neg(), i.add(1)] as const,
      );
      return a.toI32().add(b.mul(3)).add(c.toI32());
    },
    (x, i) => (x >= 0 ? Math.trunc(x / 2) + 3 * x + i : 100 - 3 * x + i + 1),
  ),
];

const state: readonly KernelCase[] = [
  perLane(
    "a variable in a loop starts anew in each iteration",
    (x, _, gpu) => {
      const total = gpu.var(i32, 0);
      gpu.for({ from: 0, to: x.and(7) }, (k) => {
        const fresh = gpu.var(i32, 1);
        gpu.if(k.and(1).eq(0), () => fresh.add(k));
        total.add(fresh.get());
      });
      return total.get();
    },
    (x) => {
      let total = 0;
      for (let k = 0; k < (x & 7); k++) total += 1 + (k % 2 === 0 ? k : 0);
      return total;
    },
  ),
  perLane(
    "variables of every type; one without a first value that is set before it is read",
    (x, i, gpu) => {
      const f = gpu.var(f32, 0.5);
      const u = gpu.var(u32, 4294967295);
      const b = gpu.var(bool, true);
      const late = gpu.var(i32);
      gpu.for({ from: 0, to: 5 }, (k) => {
        f.add(x.toF32());
        u.add(k);
        b.set(b.get().xor(k.eq(i.and(7))));
      });
      late.set(f.get().toI32());
      return late.get().add(u.get().bitcast(i32)).add(b.get().toI32().mul(1000));
    },
    (x, i) => Math.trunc(0.5 + 5 * x) + 9 + ((i & 7) < 5 ? 0 : 1000),
  ),
  perLane(
    "what a variable held when it was read stays",
    (x, _, gpu) => {
      const v = gpu.var(i32, x);
      const before = v.get();
      v.set(v.get().add(1));
      const between = v.get();
      gpu.if(x.gt(0), () => v.set(0));
      return before.mul(10000).add(between.mul(100)).add(v.get());
    },
    (x) => x * 10000 + (x + 1) * 100 + (x > 0 ? 0 : x + 1),
  ),
  perLane(
    "register arrays, shifted and summed",
    (x, i, gpu) => {
      const r = gpu.registers(i32, 6, 0);
      for (let k = 0; k < 6; k++) r.set(k, x.mul(k + 1));
      gpu.for({ from: 0, to: i.and(7) }, (j) => {
        const first = r.get(0);
        for (let k = 0; k < 5; k++) r.set(k, r.get(k + 1));
        r.set(5, first.sub(j.toI32()));
      });
      const sum = gpu.var(i32, 0);
      for (let k = 0; k < 6; k++) sum.set(sum.get().mul(7).add(r.get(k)));
      r.add(2, 1);
      return sum.get().add(r.at(2).get());
    },
    (x, i) => {
      const r = Array.from({ length: 6 }, (_, k) => x * (k + 1));
      for (let j = 0; j < (i & 7); j++) r.push((r.shift() as number) - j);
      return (r.reduce((sum, v) => (Math.imul(sum, 7) + v) | 0, 0) + (r[2] as number) + 1) | 0;
    },
  ),
];

export const controlCases: readonly Case[] = [...branches, ...state];
