/** What the language records: inline snapshots of printed IR, one feature each. */

import {
  add,
  atomic,
  bool,
  buffer,
  clamp,
  dot,
  f32,
  i32,
  kernel,
  max,
  padded,
  print,
  rowMajor,
  select,
  swizzled,
  u32,
  vec,
  visitNodes,
} from "@evolver/kernel";
import type { Gpu, KernelIR, Params, Symbols, U32 } from "@evolver/kernel";
import { describe, expect, test } from "vitest";

function build<const P extends Params>(
  params: P,
  body: (symbols: Symbols<P>, gpu: Gpu) => void,
  workgroup: [number, number?, number?] = [64],
): KernelIR {
  return kernel("k", { params, workgroup }, body).build({ subgroup: 32 });
}

/** The lines of a kernel's body. */
function body<const P extends Params>(
  params: P,
  record: (symbols: Symbols<P>, gpu: Gpu) => void,
  workgroup?: [number, number?, number?],
): string {
  const lines = print(build(params, record, workgroup)).split("\n");
  return lines
    .slice(1, -1)
    .map((line) => line.slice(2))
    .join("\n");
}

describe("scalars", () => {
  test("constants, parameters and built-ins stand in front, each once", () => {
    expect(
      body({ n: u32, y: buffer(u32, "write") }, ({ n, y }, gpu) => {
        y.set(gpu.lane, n.add(2).mul(n));
        y.set(gpu.lane, n.add(2));
      }),
    ).toMatchInlineSnapshot(`
      "%0: u32 = param n
      %1: u32 = lane
      %2: u32 = const 2
      %3: u32 = add %0, %2
      %4: u32 = mul %3, %0
      store y[%1] = %4
      %5: u32 = add %0, %2
      store y[%1] = %5"
    `);
  });

  test("a number takes the type beside it; neutral integers record nothing, neutral floats do", () => {
    expect(
      body({ a: f32, k: i32, y: buffer(f32, "write") }, ({ a, k, y }) => {
        y.set(0, a.add(0).mul(0.1));
        y.set(1, k.add(0).mul(1).shl(1).toF32());
      }),
    ).toMatchInlineSnapshot(`
      "%0: f32 = param a
      %1: i32 = param k
      %2: f32 = const 0
      %3: f32 = const 0.10000000149011612
      %4: u32 = const 0
      %5: u32 = const 1
      %6: f32 = add %0, %2
      %7: f32 = mul %6, %3
      store y[%4] = %7
      %8: i32 = shl %1, %5
      %9: f32 = toF32 %8
      store y[%5] = %9"
    `);
  });

  test("functions of several operands fold from the left", () => {
    expect(
      body({ a: f32, b: f32, y: buffer(f32, "write") }, ({ a, b, y }) => {
        y.set(0, add(a, b, 1));
        y.set(1, max(a, b, -1));
        y.set(2, clamp(a, 0, b));
        y.set(3, select(a.lt(b), 1, a));
        y.set(4, dot(vec(a, b), vec(b, a)));
      }),
    ).toMatchInlineSnapshot(`
      "%0: f32 = param a
      %1: f32 = param b
      %2: f32 = const 1
      %3: u32 = const 0
      %4: f32 = const -1
      %5: u32 = const 1
      %6: f32 = const 0
      %7: u32 = const 2
      %8: u32 = const 3
      %9: u32 = const 4
      %10: f32 = add %0, %1
      %11: f32 = add %10, %2
      store y[%3] = %11
      %12: f32 = max %0, %1
      %13: f32 = max %12, %4
      store y[%5] = %13
      %14: f32 = max %0, %6
      %15: f32 = min %14, %1
      store y[%7] = %15
      %16: bool = lt %0, %1
      %17: f32 = select %16, %2, %0
      store y[%8] = %17
      %18: f32 = fma %0, %1, %6
      %19: f32 = fma %1, %0, %18
      store y[%9] = %19"
    `);
  });

  test("conversions", () => {
    expect(
      body({ a: f32, k: i32, y: buffer(u32, "write") }, ({ a, k, y }) => {
        y.set(0, a.toU32());
        y.set(1, a.bitcast(u32));
        y.set(2, k.toU32().toU32());
        y.set(3, a.lt(1).toU32());
      }),
    ).toMatchInlineSnapshot(`
      "%0: f32 = param a
      %1: i32 = param k
      %2: u32 = const 0
      %3: u32 = const 1
      %4: u32 = const 2
      %5: f32 = const 1
      %6: u32 = const 3
      %7: u32 = toU32 %0
      store y[%2] = %7
      %8: u32 = bitcastU32 %0
      store y[%3] = %8
      %9: u32 = toU32 %1
      store y[%4] = %9
      %10: bool = lt %0, %5
      %11: u32 = toU32 %10
      store y[%6] = %11"
    `);
  });
});

describe("memory", () => {
  test("views compute exact offsets, folding what is known", () => {
    expect(
      body({ x: buffer(f32), y: buffer(f32, "write"), s: u32 }, ({ x, y, s }, gpu) => {
        const view = x.view({ strides: [s, 8, 1], offset: 16 });
        const row = view.at(gpu.workgroupId.x);
        y.set(0, row.get(2, gpu.lane));
        y.set(1, view.get(0, 0, 3));
      }),
    ).toMatchInlineSnapshot(`
      "%0: u32 = param s
      %1: index = const 16
      %2: u32 = workgroupId.x
      %3: u32 = lane
      %4: u32 = const 0
      %5: index = const 3
      %6: u32 = const 1
      %7: index = toIndex %2
      %8: index = toIndex %0
      %9: index = mul %7, %8
      %10: index = add %1, %9
      %11: index = toIndex %3
      %12: index = add %10, %11
      %13: index = add %12, %1
      %14: f32 = load x[%13]
      store y[%4] = %14
      %15: index = add %1, %5
      %16: f32 = load x[%15]
      store y[%6] = %16"
    `);
  });

  test("layouts", () => {
    expect(
      body({ y: buffer(f32, "write"), n: u32 }, ({ y, n }, gpu) => {
        const plain = gpu.shared(f32, rowMajor([8, 32]), "plain");
        const wide = gpu.shared(f32, padded([8, 32], 4), "wide");
        const mixed = gpu.shared(f32, swizzled([8, 32], { vector: 4 }), "mixed");
        plain.set(n, gpu.lane, 1);
        wide.set(n, gpu.lane, 1);
        mixed.set(n, gpu.lane, 1);
        y.set(0, plain.get(1, 2));
        y.set(1, wide.get(1, 2));
        y.set(2, mixed.get(1, 2));
      }),
    ).toMatchInlineSnapshot(`
      "shared plain: f32[256]
      shared wide: f32[288]
      shared mixed: f32[256]
      %0: u32 = param n
      %1: u32 = lane
      %2: u32 = const 32
      %3: f32 = const 1
      %4: u32 = const 36
      %5: u32 = const 7
      %6: u32 = const 4
      %7: u32 = const 34
      %8: u32 = const 0
      %9: u32 = const 38
      %10: u32 = const 1
      %11: u32 = const 2
      %12: u32 = mul %0, %2
      %13: u32 = add %12, %1
      store plain[%13] = %3
      %14: u32 = mul %0, %4
      %15: u32 = add %14, %1
      store wide[%15] = %3
      %16: u32 = and %0, %5
      %17: u32 = mul %0, %2
      %18: u32 = mul %16, %6
      %19: u32 = xor %1, %18
      %20: u32 = add %17, %19
      store mixed[%20] = %3
      %21: f32 = load plain[%7]
      store y[%8] = %21
      %22: f32 = load wide[%9]
      store y[%10] = %22
      %23: f32 = load mixed[%9]
      store y[%11] = %23"
    `);
  });

  test("layouts know their size", () => {
    expect(rowMajor([4, 8]).size).toBe(32);
    expect(padded([4, 8], 1).size).toBe(36);
    expect(swizzled([4, 8]).size).toBe(32);
  });

  test("a swizzled tile of any width has one place for each element, and takes run-time indices", () => {
    for (const vector of [1, 2, 4] as const) {
      for (const columns of [1, 2, 3, 5, 6, 8, 10, 12, 20, 32, 40].map((count) => count * vector)) {
        const layout = swizzled([16, columns], { vector });
        const offsets = new Set<unknown>();
        for (let row = 0; row < 16; row++)
          for (let column = 0; column < columns; column++) offsets.add(layout.offset([row, column]));
        expect(offsets.size).toBe(16 * columns);
        expect(Math.max(...([...offsets] as number[]))).toBe(layout.size - 1);
        build({ y: buffer(f32, "write"), n: u32 }, ({ y, n }, gpu) => {
          y.set(0, gpu.shared(f32, layout).get(n, gpu.lane));
        });
      }
    }
  });

  test("vectors and atomics", () => {
    const params = { x: buffer(f32), y: buffer(f32, "write"), c: buffer(atomic(u32)) };
    expect(
      body(params, ({ x, y, c }, gpu) => {
        y.setVec(0, x.getVec(2, gpu.lane.mul(2)).add(1));
        const ticket = c.add(0, 1, { order: "acq_rel" });
        c.compareExchange(1, ticket, 7);
        c.set(2, c.get(3));
      }),
    ).toMatchInlineSnapshot(`
      "%0: u32 = lane
      %1: u32 = const 2
      %2: f32 = const 1
      %3: u32 = const 0
      %4: u32 = const 1
      %5: u32 = const 7
      %6: u32 = const 3
      %7: u32 = mul %0, %1
      %8, %9: f32 = load x[%7]
      %10: f32 = add %8, %2
      %11: f32 = add %9, %2
      store y[%3] = %10, %11
      %12: u32 = atomic add c[%3] %4 acq_rel
      %13: u32 = atomic compareExchange c[%4] %12, %5
      %14: u32 = atomic load c[%6]
      atomic store c[%1] %14"
    `);
  });
});

describe("control flow", () => {
  test("a value-returning if goes through a variable", () => {
    expect(
      body({ a: f32, n: u32, y: buffer(f32, "write") }, ({ a, n, y }, gpu) => {
        const chosen = gpu.if(
          n.lt(3),
          () => a.mul(2),
          () => a,
        );
        y.set(0, chosen);
      }),
    ).toMatchInlineSnapshot(`
      "%0: f32 = param a
      %1: u32 = param n
      %2: u32 = const 3
      %3: f32 = const 2
      %4: u32 = const 0
      %5: bool = lt %1, %2
      var $chosen: f32
      if %5 {
        %6: f32 = mul %0, %3
        set $chosen = %6
      } else {
        set $chosen = %0
      }
      %7: f32 = get $chosen
      store y[%4] = %7"
    `);
  });

  test("for, while, break and continue", () => {
    expect(
      body({ n: u32, y: buffer(u32, "write") }, ({ n, y }, gpu) => {
        const count = gpu.var(u32, 0, "count");
        const done = gpu.var(bool, false, "done");
        gpu.for({ from: 0, to: n, step: 2, unroll: 4 }, (i) => {
          gpu.if(i.eq(4), () => gpu.continue());
          count.add(i);
        });
        gpu.while(
          () => done.get().not(),
          () => {
            gpu.if(count.get().ge(9), () => gpu.break());
            count.add(1);
          },
        );
        y.set(0, count.get());
      }),
    ).toMatchInlineSnapshot(`
      "%0: u32 = param n
      %1: u32 = const 0
      %2: bool = const false
      %3: u32 = const 2
      %4: u32 = const 4
      %5: u32 = const 9
      %6: u32 = const 1
      var $count: u32 = %1
      var $done: bool = %2
      for %7: u32 = %1 to %0 step %3 unroll 4 {
        %8: bool = eq %7, %4
        if %8 {
          continue
        }
        %9: u32 = get $count
        %10: u32 = add %9, %7
        set $count = %10
      }
      while {
        %11: bool = get $done
        %12: bool = not %11
        test %12
      } do {
        %13: u32 = get $count
        %14: bool = ge %13, %5
        if %14 {
          break
        }
        %15: u32 = get $count
        %16: u32 = add %15, %6
        set $count = %16
      }
      %17: u32 = get $count
      store y[%1] = %17"
    `);
  });

  test("JavaScript's own loops and branches run while recording", () => {
    expect(
      body({ y: buffer(f32, "write") }, ({ y }, gpu) => {
        const squares = gpu.registers(f32, 3, 0);
        gpu.unroll(3, (k) => {
          if (k !== 1) squares.set(k, k * k);
        });
        y.set(0, squares.get(2));
      }),
    ).toMatchInlineSnapshot(`
      "%0: f32 = const 0
      %1: f32 = const 4
      %2: u32 = const 0
      var $squares0: f32 = %0
      var $squares1: f32 = %0
      var $squares2: f32 = %0
      // unrolled 1 of 3
      set $squares0 = %0
      // unrolled 2 of 3
      // unrolled 3 of 3
      set $squares2 = %1
      %3: f32 = get $squares2
      store y[%2] = %3"
    `);
  });

  test("roles take subgroups in order", () => {
    expect(
      body(
        { y: buffer(f32, "write") },
        ({ y }, gpu) => {
          gpu.roles([
            { name: "producer", subgroups: 1, body: () => y.set(0, 1) },
            { name: "consumer", subgroups: 2, body: () => y.set(gpu.subgroupId, 2) },
          ]);
        },
        [128],
      ),
    ).toMatchInlineSnapshot(`
      "%0: u32 = const 0
      %1: f32 = const 1
      %2: u32 = subgroupId
      %3: f32 = const 2
      roles {
        role producer subgroups 0 to 0 {
          store y[%0] = %1
        }
        role consumer subgroups 1 to 2 {
          store y[%2] = %3
        }
      }"
    `);
  });
});

describe("builds", () => {
  test("the body runs once for each width, and the same build comes back", () => {
    let runs = 0;
    const counted = kernel(
      "counted",
      { params: {}, workgroup: ({ subgroup }) => [2 * subgroup] },
      (_, gpu) => {
        runs++;
        expect(gpu.numSubgroups).toBe(2);
        gpu.barrier();
      },
    );
    const first = counted.build({ subgroup: 8 });
    expect(counted.build({ subgroup: 8 })).toBe(first);
    expect(counted.build({ subgroup: 64 }).workgroupSize).toEqual([128, 1, 1]);
    expect(runs).toBe(2);
  });

  test("a failed build leaves the kernel as it was", () => {
    let fail = true;
    const flaky = kernel("flaky", { params: { n: u32 }, workgroup: [64] }, ({ n }, gpu) => {
      gpu.if(n.lt(1), () => {
        if (fail) throw new Error("not now");
      });
    });
    expect(() => flaky.build({ subgroup: 32 })).toThrow("not now");
    fail = false;
    expect(() => flaky.build({ subgroup: 32 })).not.toThrow();
  });

  test("nodes are frozen", () => {
    const ir = build({ n: u32, y: buffer(f32, "write") }, ({ n, y }, gpu) => {
      gpu.if(n.lt(3), () => y.set(0, 1));
    });
    visitNodes(ir.body, (node) => expect(Object.isFrozen(node)).toBe(true));
    expect(Object.isFrozen(ir)).toBe(true);
    expect(Object.isFrozen(ir.body.nodes)).toBe(true);
  });

  test("every node names the user's file, however deep the library is in between", () => {
    const ir = build({ x: buffer(f32), y: buffer(f32, "read_write"), n: u32 }, ({ x, y, n }, gpu) => {
      const layout = swizzled([8, 32], { vector: 4 });
      const offset = layout.offset([n, gpu.lane]);
      gpu.shared(f32, layout).set(gpu.lane, n, 1);
      const sum = gpu.var(f32, 0);
      sum.add(x.getVec(4, 0).add(x.getVec(4, 4)).mul(0.5).x);
      const picked = gpu.if(
        n.lt(1),
        () => x.get(1),
        () => x.get(2),
      );
      const view = y.view({ strides: [n, 1], offset: 5 }).at(3);
      view.set(offset as U32, dot(vec(picked, picked), vec(sum.get(), sum.get())));
    });
    const files = new Set<string>();
    visitNodes(ir.body, ({ site }) => files.add(site.location.file));
    expect([...files]).toEqual([expect.stringMatching(/\/language\.test\.ts$/)]);
  });
});
