/**
 * What the editor says. tsc checks this file: each `@ts-expect-error` is an error if the line below it is none. The
 * tests run nothing but what is right; errors.test.ts runs what is wrong.
 */

import {
  abs,
  add,
  atomic,
  bf16,
  bool,
  buffer,
  dot,
  f16,
  f32,
  fma,
  i32,
  kernel,
  padded,
  select,
  u32,
  vec,
} from "@evolver/kernel";
import type {
  Args,
  BF16,
  Bool,
  BufferArgument,
  F16,
  F32,
  Gpu,
  I32,
  Symbols,
  U32,
  Vec,
} from "@evolver/kernel";
import { describe, expect, expectTypeOf, test } from "vitest";

const params = {
  a: f32,
  k: i32,
  n: u32,
  x: buffer(f32),
  y: buffer(f32, "read_write"),
  w: buffer(u32, "write"),
  counters: buffer(atomic(u32)),
};
type Body = (symbols: Symbols<typeof params>, gpu: Gpu) => void;

/** Records a body that is right. */
function right(body: Body): void {
  expect(() => kernel("k", { params, workgroup: [64] }, body).build({ subgroup: 32 })).not.toThrow();
}

/** Takes a body for its types alone. */
function checked(body: Body): void {
  expectTypeOf(body).toBeFunction();
}

describe("scalars", () => {
  test("operations keep the type, comparisons give bool", () => {
    right(({ a, k, n, y }) => {
      expectTypeOf(a.mul(2).add(a)).toEqualTypeOf<F32>();
      expectTypeOf(k.divTrunc(2)).toEqualTypeOf<I32>();
      expectTypeOf(n.and(1)).toEqualTypeOf<U32>();
      expectTypeOf(n.toF32()).toEqualTypeOf<F32>();
      expectTypeOf(a.bitcast(u32)).toEqualTypeOf<U32>();
      expectTypeOf(add(n, 1, n)).toEqualTypeOf<U32>();
      expectTypeOf(fma(a, 2, 1)).toEqualTypeOf<F32>();
      const less = a.lt(1);
      expectTypeOf(less).toEqualTypeOf<Bool>();
      const literals = less.and(true).or(false).xor(true);
      expectTypeOf(literals).toEqualTypeOf<Bool>();
      y.set(0, select(literals, a, 0));
    });
  });

  test("types do not mix", () => {
    checked(({ a, k, n }) => {
      // @ts-expect-error i32 beside f32
      a.add(k);
      // @ts-expect-error f32 beside i32
      k.mul(a);
      // @ts-expect-error u32 beside i32
      k.lt(n);
      // @ts-expect-error i32 in a formula of f32
      fma(a, k, 1);
      // @ts-expect-error u32 in a sum of f32
      add(a, 1, n);
      // @ts-expect-error a string
      a.add("1");
      // @ts-expect-error a comparison is not a number
      a.add(a.lt(1));
    });
  });

  test("operations that a type does not have", () => {
    checked(({ a, k, n }) => {
      // @ts-expect-error integers divide with divTrunc or divFloor
      k.div(2);
      // @ts-expect-error integers divide with divTrunc or divFloor
      n.div(n);
      // @ts-expect-error f32 has div
      a.divTrunc(2);
      // @ts-expect-error no bits of f32
      a.and(1);
      // @ts-expect-error u32 has no sign
      n.neg();
      // @ts-expect-error a bool has no sum
      a.lt(1).add(1);
    });
  });

  test("JavaScript operators do not take them", () => {
    checked(({ a, n }, gpu) => {
      // @ts-expect-error a + 1
      void (a + 1);
      // @ts-expect-error a * a
      void (a * a);
      // @ts-expect-error a run-time index of an array
      void [1, 2, 3][n];
      // @ts-expect-error a build-time condition
      gpu.if(true, () => {});
    });
  });
});

describe("memory", () => {
  test("elements have the buffer's type", () => {
    right(({ x, y, w, counters, n }, gpu) => {
      expectTypeOf(x.get(n)).toEqualTypeOf<F32>();
      expectTypeOf(x.getVec(4, 0)).toEqualTypeOf<Vec<"f32", 4>>();
      expectTypeOf(x.getVec(4, 0).w).toEqualTypeOf<F32>();
      expectTypeOf(counters.add(0, 1)).toEqualTypeOf<U32>();
      expectTypeOf(gpu.shared(i32, padded([8, 8], 1)).get(0, 0)).toEqualTypeOf<I32>();
      y.set(n, 1);
      y.setVec(0, x.getVec(2, 0));
      w.set(0, n);
    });
  });

  test("access as declared, where the parameters stand in the call of kernel", () => {
    kernel("k", { params: { x: buffer(f32), y: buffer(f32, "read_write") }, workgroup: [64] }, ({ x, y }) => {
      // @ts-expect-error a read-only buffer is not written
      x.set(0, 1);
      // @ts-expect-error nor through a view
      x.view({ strides: [1] }).set(0, 1);
      y.set(0, x.get(0));
    });
  });

  test("access as declared", () => {
    checked(({ x, y, w, counters, a }) => {
      // @ts-expect-error a read-only buffer is not written
      x.set(0, 1);
      // @ts-expect-error nor by vectors
      x.setVec(0, vec(a, a));
      // @ts-expect-error nor through a view
      x.view({ strides: [1] }).set(0, 1);
      const row = x.view({ strides: [8, 1] }).at(0);
      // @ts-expect-error nor through a view of a view
      row.set(0, 1);
      // @ts-expect-error a write-only buffer is not read
      w.get(0);
      // @ts-expect-error nor through a view
      w.view({ strides: [1] }).get(0);
      // @ts-expect-error atomic memory has no views
      counters.view({ strides: [1] });
      // @ts-expect-error a store takes the element's type
      w.set(0, a);
      // @ts-expect-error an index is an integer
      y.get(a);
      // @ts-expect-error vectors have 2 or 4 components
      y.getVec(3, 0);
    });
  });
});

describe("asynchronous copies", () => {
  test("take what can be read, and shared memory of its type", () => {
    right(({ x, y }, gpu) => {
      const tile = gpu.shared(f32, 64);
      gpu.copies.start({ to: tile, at: [0], from: x, index: [0], width: 4 });
      gpu.copies.start({ to: tile, at: [4], from: y.view({ strides: [8, 1] }), index: [0, 4], width: 2 });
    });
  });

  test("and nothing else", () => {
    checked(({ x, w, counters, a }, gpu) => {
      const [tile, numbers] = [gpu.shared(f32, 64), gpu.shared(i32, 64)];
      const rest = { at: [0], index: [0], width: 4 } as const;
      // @ts-expect-error a write-only buffer is not read
      gpu.copies.start({ to: tile, from: w, ...rest });
      // @ts-expect-error nor through a view
      gpu.copies.start({ to: tile, from: w.view({ strides: [1] }), ...rest });
      // @ts-expect-error a copy does not convert
      gpu.copies.start({ to: numbers, from: x, ...rest });
      // @ts-expect-error atomic memory is not copied
      gpu.copies.start({ to: numbers, from: counters, ...rest });
      // @ts-expect-error a buffer is no shared memory
      gpu.copies.start({ to: x, from: x, ...rest });
      // @ts-expect-error 8 is no width
      gpu.copies.start({ to: tile, from: x, ...rest, width: 8 });
      // @ts-expect-error a number is no condition
      gpu.copies.start({ to: tile, from: x, ...rest, active: a });
      // @ts-expect-error the number of a fill is a u32
      gpu.pipeline({ stages: 2, producers: 32, consumers: 32 }).wait(a);
    });
  });
});

describe("variables and control flow", () => {
  test("types follow", () => {
    right(({ a, k, n }, gpu) => {
      const v = gpu.var(f32, 0);
      expectTypeOf(v.get()).toEqualTypeOf<F32>();
      const flag = gpu.var(bool, false);
      flag.set(a.lt(1));
      gpu.if(flag.get(), () => v.set(a));
      expectTypeOf(gpu.registers(u32, 4).get(0)).toEqualTypeOf<U32>();
      gpu.for({ from: 0, to: n }, (i) => expectTypeOf(i).toEqualTypeOf<U32>());
      gpu.for({ from: k, to: 0, step: -1 }, (i) => expectTypeOf(i).toEqualTypeOf<I32>());
      const chosen = gpu.if(
        n.lt(1),
        () => a,
        () => a.mul(2),
      );
      expectTypeOf(chosen).toEqualTypeOf<F32>();
    });
  });

  test("and are kept", () => {
    checked(({ a, k, n }, gpu) => {
      // @ts-expect-error a variable of f32
      gpu.var(f32, 0).set(k);
      // @ts-expect-error a variable of f32, started with u32
      gpu.var(f32, n);
      // @ts-expect-error nothing adds to a bool
      gpu.var(bool, false).add(true);
      // @ts-expect-error a register's index is a JavaScript number
      gpu.registers(f32, 4, 0).get(n);
      // @ts-expect-error a loop over i32 and u32
      gpu.for({ from: k, to: n }, () => {});
      // @ts-expect-error a loop over f32
      gpu.for({ from: a, to: a }, () => {});
      // @ts-expect-error a condition of u32
      gpu.if(n, () => {});
      // @ts-expect-error bool cannot live in shared memory
      gpu.shared(bool, 4);
      // @ts-expect-error a sum of bool
      gpu.subgroup.sum(a.lt(1));
      // @ts-expect-error any of f32
      gpu.subgroup.any(a);
      // @ts-expect-error a shuffle by f32
      gpu.subgroup.shuffle(a, a);
    });
  });
});

describe("parameters", () => {
  const floats: BufferArgument<"f32"> = { element: "f32", length: 4 };
  const unsigned: BufferArgument<"u32"> = { element: "u32", length: 4 };

  test("a launch passes what was declared", () => {
    const args: Args<typeof params> = {
      a: 1,
      k: -1,
      n: 4,
      x: floats,
      y: floats,
      w: unsigned,
      counters: unsigned,
    };
    expect(Object.keys(args)).toEqual(Object.keys(params));
  });

  test("and nothing else", () => {
    const small = { a: f32, x: buffer(f32) };
    const launches: Args<typeof small>[] = [
      // @ts-expect-error a buffer of the wrong type
      { a: 1, x: unsigned },
      // @ts-expect-error a number for a buffer
      { a: 1, x: 3 },
      // @ts-expect-error a buffer for a number
      { a: floats, x: floats },
      // @ts-expect-error a parameter missing
      { a: 1 },
      // @ts-expect-error a parameter too many
      { a: 1, x: floats, b: 2 },
    ];
    expect(launches).toHaveLength(5);
  });

  test("a body sees its parameters only, by their types", () => {
    kernel("k", { params: { a: f32 }, workgroup: [64] }, (symbols) => {
      expectTypeOf(symbols.a).toEqualTypeOf<F32>();
      // @ts-expect-error no such parameter
      void symbols.b;
    });
    // @ts-expect-error bool is no type of a parameter
    kernel("k", { params: { on: bool }, workgroup: [64] }, () => {});
    // @ts-expect-error bool cannot live in a buffer
    expect(buffer(bool).kind).toBe("buffer");
    // @ts-expect-error an access that does not exist
    expect(buffer(f32, "readwrite").kind).toBe("buffer");
    // @ts-expect-error a workgroup has a size
    expect(() => kernel("k", { params: {} }, () => {})).toThrow(/not a list such as \[64\]/);
  });
});

describe("f16 and bf16", () => {
  const halves = {
    h: buffer(f16, "read_write"),
    b: buffer(bf16, "read_write"),
    x: buffer(f32, "read_write"),
  };
  type HalfBody = (symbols: Symbols<typeof halves>, gpu: Gpu) => void;
  const halvesOf = (body: HalfBody): void => {
    expectTypeOf(body).toBeFunction();
  };

  test("operations and conversions keep and change the type", () => {
    const body: HalfBody = ({ h, b, x }, gpu) => {
      const a = h.get(0);
      expectTypeOf(a).toEqualTypeOf<F16>();
      expectTypeOf(b.get(0)).toEqualTypeOf<BF16>();
      expectTypeOf(a.mul(2).add(a).div(a).neg()).toEqualTypeOf<F16>();
      expectTypeOf(fma(a, 2, a)).toEqualTypeOf<F16>();
      expectTypeOf(fma(b.get(0), b.get(1), 1)).toEqualTypeOf<BF16>();
      expectTypeOf(abs(a)).toEqualTypeOf<F16>();
      expectTypeOf(a.toF32()).toEqualTypeOf<F32>();
      expectTypeOf(a.toBF16()).toEqualTypeOf<BF16>();
      expectTypeOf(x.get(0).toF16()).toEqualTypeOf<F16>();
      expectTypeOf(gpu.lane.toBF16()).toEqualTypeOf<BF16>();
      expectTypeOf(a.toI32()).toEqualTypeOf<I32>();
      expectTypeOf(h.getVec(8, 0)).toEqualTypeOf<Vec<"f16", 8>>();
      expectTypeOf(dot(h.getVec(2, 0), h.getVec(2, 2))).toEqualTypeOf<F16>();
      expectTypeOf(gpu.subgroup.sum(a)).toEqualTypeOf<F16>();
      expectTypeOf(gpu.var(bf16, 0).get()).toEqualTypeOf<BF16>();
      const less = a.lt(1);
      h.set(0, select(less, a, 0));
    };
    const built = kernel("k", { params: halves, workgroup: [64] }, body).build({ subgroup: 32 });
    expect(built.params).toHaveLength(3);
  });

  test("types do not mix", () => {
    halvesOf(({ h, b, x }, gpu) => {
      const [half, brain, float] = [h.get(0), b.get(0), x.get(0)];
      // @ts-expect-error f32 beside f16
      half.add(float);
      // @ts-expect-error f16 beside f32
      float.mul(half);
      // @ts-expect-error bf16 beside f16
      half.lt(brain);
      // @ts-expect-error bf16 in a formula of f16
      fma(half, brain, 1);
      // @ts-expect-error f32 in a sum of bf16
      add(brain, float);
      // @ts-expect-error an f32 in a buffer of f16
      h.set(0, float);
      // @ts-expect-error a vector of f32 in a buffer of bf16
      b.setVec(0, x.getVec(2, 0));
      // @ts-expect-error an f16 in a variable of f32
      gpu.var(f32, half);
    });
  });

  test("what a type does not have", () => {
    halvesOf(({ h, x }, gpu) => {
      // @ts-expect-error 16 bits have no other type
      h.get(0).bitcast(u32);
      // @ts-expect-error 32 bytes at once
      x.getVec(8, 0);
      // @ts-expect-error atomics of f16
      gpu.shared(atomic(f16), 4);
      // @ts-expect-error a scalar parameter of f16
      kernel("k", { params: { a: f16 }, workgroup: [64] }, () => {});
    });
  });
});
