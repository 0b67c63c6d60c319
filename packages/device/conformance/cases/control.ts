/** Control flow at run time: branches, loops, what leaves them, and variables that live through them. */

import { bool, buffer, f32, i32, kernel, u32, type Gpu, type I32, type U32 } from "@evolver/kernel";
import { array, launch, noise, type Case, type KernelCase } from "../case.ts";

/**
 * A case of one input and one output per lane: `body` gives the lane's result for its input x and index i, and `expect`
 * says it again in JavaScript. Lanes take different ways, as the inputs look random.
 */
function perLane(
  name: string,
  body: (x: I32, i: U32, gpu: Gpu, n: I32) => I32,
  expect: (x: number, i: number, n: number) => number,
): KernelCase {
  return {
    name,
    prepare({ width }) {
      const length = 5 * width;
      const n = 9;
      const x = array(i32, length, (i) => (noise(i) % 64) - 20);
      return launch({
        kernel: kernel(
          "perLane",
          { params: { x: buffer(i32), y: buffer(i32, "write"), n: i32 }, workgroup: [width] },
          ({ x, y, n }, gpu) => {
            const i = gpu.globalId.x;
            y.set(i, body(x.get(i), i, gpu, n));
          },
        ),
        workgroups: 5,
        args: { x, y: array(i32, length), n },
        expected: { y: array(i32, length, (i) => expect(x[i] as number, i, n)) },
      });
    },
  };
}

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

export const controlCases: readonly Case[] = [...branches, ...loops, ...state];
