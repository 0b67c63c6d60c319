/** What a build refuses at run time, and the source lines that the message names. Editor errors: types.test.ts. */

import {
  add,
  atomic,
  bool,
  buffer,
  f32,
  fma,
  i32,
  kernel,
  padded,
  rowMajor,
  swizzled,
  u32,
  vec,
} from "@evolver/kernel";
import type { F32, Gpu, KernelIR, KernelOptions, Symbols, U32 } from "@evolver/kernel";
import { describe, expect, test } from "vitest";
import { blamed, errorFrom } from "./support/blame.ts";

const params = {
  a: f32,
  k: i32,
  n: u32,
  x: buffer(f32),
  y: buffer(f32, "read_write"),
  w: buffer(f32, "write"),
  counters: buffer(atomic(u32)),
  sums: buffer(atomic(f32)),
};
type Body = (symbols: Symbols<typeof params>, gpu: Gpu) => void;

const build = (body: Body, options: Partial<KernelOptions<typeof params>> = {}): unknown =>
  kernel("k", { params, workgroup: [64], ...options }, body).build({ subgroup: 32 });

/**
 * Checks that a body is refused with a code, that the error names source lines with the given texts, in order, and
 * that they stand in the message for people to click on.
 */
function refused(code: string, lines: readonly string[], body: Body): string {
  const error = errorFrom(() => build(body));
  expect(error.code).toBe(code);
  const found = blamed(error);
  expect(found.length).toBeGreaterThanOrEqual(lines.length);
  lines.forEach((line, i) => expect(found[i]).toContain(line));
  for (const { file, line } of error.where) expect(error.message).toContain(`${file}:${line}:`);
  return error.message;
}

describe("values and blocks", () => {
  test("a value used outside the block that made it", () => {
    const message = refused(
      "VALUE_OUTSIDE_BLOCK",
      ["y.set(0, inside)", "inside = a.mul(3)"],
      ({ a, n, y }, gpu) => {
        let inside: F32 = a;
        gpu.if(n.lt(1), () => {
          inside = a.mul(3);
        });
        y.set(0, inside);
      },
    );
    expect(message).toContain("outside the gpu.if block that made it");
    expect(message).toContain("carry it out in a gpu.var");
  });

  test("a loop's index used after the loop", () => {
    refused("VALUE_OUTSIDE_BLOCK", ["index.add(1)", "gpu.for({ from: 0, to: n }"], ({ n }, gpu) => {
      let index: U32 = n;
      gpu.for({ from: 0, to: n }, (i) => {
        index = i;
      });
      index.add(1);
    });
  });

  test("a value of the then block used in the else block", () => {
    refused("VALUE_OUTSIDE_BLOCK", ["y.set(0, inside)", "inside = a.mul(3)"], ({ a, n, y }, gpu) => {
      let inside: F32 = a;
      gpu.if(
        n.lt(1),
        () => {
          inside = a.mul(3);
        },
        () => {
          y.set(0, inside);
        },
      );
    });
  });

  test("a variable used outside its block", () => {
    refused("VALUE_OUTSIDE_BLOCK", ["late = () => v.get()", "const v = gpu.var"], ({ n }, gpu) => {
      let late = (): unknown => undefined;
      gpu.if(n.lt(1), () => {
        const v = gpu.var(f32, 0);
        late = () => v.get();
      });
      late();
    });
  });

  test("a value of another build", () => {
    let kept: F32 | undefined;
    build(({ a }) => {
      kept = a.mul(2);
    });
    refused("FOREIGN_VALUE", ["y.set(0, kept", "kept = a.mul(2)"], ({ y }) => {
      y.set(0, kept as F32);
    });
  });

  test("a value used after the build", () => {
    let kept: F32 | undefined;
    build(({ a }) => {
      kept = a.mul(2);
    });
    const error = errorFrom(() => kept?.mul(kept));
    expect(error.code).toBe("VALUE_OUTSIDE_BLOCK");
    expect(error.message).toContain("outside the kernel's body");
    expect(blamed(error)[0]).toContain("kept?.mul(kept)");
  });

  test("anything recorded after the build", () => {
    let kept: Gpu | undefined;
    build((_, gpu) => {
      kept = gpu;
    });
    for (const late of [() => kept?.barrier(), () => kept?.lane]) {
      const error = errorFrom(late);
      expect(error.code).toBe("RECORDING_FINISHED");
      expect(blamed(error)[0]).toContain("for (const late of");
    }
  });

  test("asynchronous bodies, whose later part would be missing", async () => {
    refused("ASYNC_BODY", [], async (_, gpu) => {
      await Promise.resolve();
      gpu.barrier();
    });
    const asynchronous: Record<string, Body> = {
      if: ({ n }, gpu) => gpu.if(n.lt(1), async () => gpu.barrier()),
      for: ({ n }, gpu) => gpu.for({ from: 0, to: n }, async () => gpu.barrier()),
      unroll: (_, gpu) => gpu.unroll(2, async () => gpu.barrier()),
      roles: (_, gpu) => gpu.roles([{ name: "one", subgroups: 1, body: async () => {} }]),
    };
    for (const [name, body] of Object.entries(asynchronous)) refused("ASYNC_BODY", [`${name}: (`], body);
    await Promise.resolve();
  });

  test("generators, of which nothing would run", () => {
    refused("ASYNC_BODY", [], function* (_, gpu) {
      gpu.barrier();
      yield;
    });
    refused("ASYNC_BODY", [], async function* (_, gpu) {
      gpu.barrier();
      yield;
    });
  });

  test("a JavaScript number as the result of one side of an if", () => {
    refused("TYPE_MISMATCH", ["gpu.if(", "y.get(0)"], ({ n, y }, gpu) => {
      gpu.if(
        n.lt(1),
        () => y.get(0),
        () => 0,
      );
    });
  });

  test("bodies that throw on their own, by the line that threw", () => {
    refused("BODY_THREW", ["undefined as unknown"], () => {
      (undefined as unknown as Gpu).barrier();
    });
    const error = errorFrom(() => build(() => expect.fail("mine")));
    expect(error.message).toMatch(/^the body of kernel ".*" threw: mine\n/);
    expect(error.cause).toMatchObject({ message: "mine" });
  });

  test("anything after a break in its block", () => {
    refused("UNREACHABLE_CODE", ["gpu.barrier()", "gpu.break()"], ({ n }, gpu) => {
      gpu.for({ from: 0, to: n }, () => {
        gpu.break();
        gpu.barrier();
      });
    });
  });
});

describe("build time and run time mixed up", () => {
  test("a run-time boolean that nothing uses", () => {
    const message = refused("UNUSED_CONDITION", ["a.lt(1)", 'kernel("k"'], ({ a }) => {
      a.lt(1);
    });
    expect(message).toContain("gpu.if");
  });

  test("a JavaScript if on a run-time boolean", () => {
    refused("UNUSED_CONDITION", ["if (n.lt(3)) y.set(0, 1)"], ({ n, y }) => {
      if (n.lt(3)) y.set(0, 1);
    });
  });

  test("a JavaScript if on a boolean from a variable or a subgroup", () => {
    refused("UNUSED_CONDITION", ["if (done.get())"], ({ y }, gpu) => {
      const done = gpu.var(bool, false);
      if (done.get()) y.set(0, 1);
    });
    refused("UNUSED_CONDITION", ["if (gpu.subgroup.any("], ({ a, y }, gpu) => {
      if (gpu.subgroup.any(a.lt(1))) y.set(0, 1);
    });
  });

  test("a template string, arithmetic and a comparison on a run-time value", () => {
    refused("NOT_A_NUMBER", ["`${scaled as never}`", "const scaled = a.mul(2)"], ({ a }, gpu) => {
      const scaled = a.mul(2);
      gpu.comment(`${scaled as never}`);
    });
    refused("NOT_A_NUMBER", ["(a as never) + 1"], ({ a, y }) => y.set(0, (a as never) + 1));
    refused("NOT_A_NUMBER", ["(a as never) < 1"], ({ a, y }) => y.set((a as never) < 1 ? 0 : 1, 0));
  });

  test("a register array indexed by a run-time value", () => {
    const message = refused(
      "DYNAMIC_REGISTER_INDEX",
      ["registers.get(i as never)", "const registers = ", "gpu.for({ from: 0, to: 4 }"],
      (_, gpu) => {
        const registers = gpu.registers(f32, 4, 0);
        gpu.for({ from: 0, to: 4 }, (i) => {
          registers.get(i as never);
        });
      },
    );
    expect(message).toContain("run-time u32");
  });

  test("a register array indexed beyond its end", () => {
    refused("INVALID_REGISTERS", ["registers.get(4)", "const registers = "], (_, gpu) => {
      const registers = gpu.registers(f32, 4, 0);
      registers.get(4);
    });
  });

  test("a build-time boolean where a run-time one belongs", () => {
    const message = refused("TYPE_MISMATCH", ["gpu.if(true as never"], (_, gpu) => {
      gpu.if(true as never, () => {});
    });
    expect(message).toContain("a build-time condition belongs in a JavaScript if");
  });

  test("a function of build-time numbers only", () => {
    refused("NO_RUNTIME_OPERAND", ["fma(1, 2, 3)"], () => void fma(1, 2, 3));
  });
});

describe("types that the editor was told to ignore", () => {
  test("f32 mixed with i32", () => {
    const message = refused(
      "TYPE_MISMATCH",
      ["sum.add(other as never)", "a.mul(2)", "k.mul(3)"],
      ({ a, k }) => {
        const sum = a.mul(2);
        const other = k.mul(3);
        sum.add(other as never);
      },
    );
    expect(message).toContain("add does not take (f32, i32)");
    expect(message).toContain("toF32()");
    refused("TYPE_MISMATCH", ["add(a, k as never)"], ({ a, k }) => void add(a, k as never));
  });

  test("a number that does not fit the type beside it", () => {
    refused("INVALID_LITERAL", ["k.add(1.5)"], ({ k }) => void k.add(1.5));
    refused("INVALID_LITERAL", ["n.add(-1)"], ({ n }) => void n.add(-1));
    refused("INVALID_LITERAL", ["k.add(2 ** 31)"], ({ k }) => void k.add(2 ** 31));
    refused("INVALID_INDEX", ["x.get(0.5)"], ({ x }) => void x.get(0.5));
    refused("NOT_A_VALUE", ['a.add("1" as never)'], ({ a }) => void a.add("1" as never));
  });

  test("a variable or memory set to another type", () => {
    refused("TYPE_MISMATCH", ["v.set(k as never)", "const v = gpu.var(f32, 0)"], ({ k }, gpu) => {
      const v = gpu.var(f32, 0);
      v.set(k as never);
    });
    refused("TYPE_MISMATCH", ["y.set(0, k as never)"], ({ k, y }) => y.set(0, k as never));
  });

  test("the two sides of a value-returning if of different types", () => {
    refused("TYPE_MISMATCH", ["gpu.if(", "a.mul(2)", "k.mul(2)"], ({ a, k, n }, gpu) => {
      gpu.if(
        n.lt(1),
        () => a.mul(2),
        () => k.mul(2) as never,
      );
    });
  });

  test("loops over two types, or in the wrong direction", () => {
    refused("TYPE_MISMATCH", ["gpu.for({ from: k"], ({ k, n }, gpu) => {
      gpu.for({ from: k as never, to: n }, () => {});
    });
    refused("INVALID_LOOP", ["step: 0"], ({ n }, gpu) => gpu.for({ from: 0, to: n, step: 0 }, () => {}));
    refused("INVALID_LOOP", ["step: -1"], ({ n }, gpu) => gpu.for({ from: n, to: 0, step: -1 }, () => {}));
  });

  test("a subgroup operation on what it does not take", () => {
    const message = refused(
      "TYPE_MISMATCH",
      ["gpu.subgroup.sum(small as never)", "const small"],
      ({ a }, gpu) => {
        const small = a.lt(1);
        gpu.subgroup.sum(small as never);
      },
    );
    expect(message).toContain("subgroup.sum does not take (bool)");
  });
});

describe("memory", () => {
  test("access against the declaration", () => {
    refused("ACCESS_DENIED", ["(x as never as"], ({ x, y }) => (x as never as typeof y).set(0, 1));
    refused("ACCESS_DENIED", ["(w as never as"], ({ w, y }) => void (w as never as typeof y).get(0));
  });

  test("a uniform load of what is not plain shared memory", () => {
    refused("TYPE_MISMATCH", ["gpu.uniformLoad(x as never"], ({ x }, gpu) => {
      gpu.uniformLoad(x as never, 0);
    });
  });

  test("an atomic operation that f32 does not have", () => {
    refused("TYPE_MISMATCH", ["sums.max(0, 1)"], ({ sums }) => void sums.max(0, 1));
  });

  test("the wrong number of indices", () => {
    refused("INVALID_INDEX", ["tile.get(0)"], (_, gpu) => {
      const tile = gpu.shared(f32, padded([8, 8], 1));
      tile.get(0);
    });
    refused("INVALID_INDEX", ["view.get(0)"], ({ x }) => {
      const view = x.view({ strides: [8, 1] });
      view.get(0);
    });
    refused("INVALID_INDEX", [".at(0, 0)"], ({ x }) => void x.view({ strides: [8, 1] }).at(0, 0));
  });

  test("layouts and vectors that cannot be", () => {
    refused("INVALID_REGISTERS", ["registers(f32, 1.5)"], (_, gpu) => void gpu.registers(f32, 1.5));
    refused("INVALID_LAYOUT", ["rowMajor([0, 8])"], () => void rowMajor([0, 8]));
    refused("INVALID_LAYOUT", ["padded([8, 8], -1)"], (_, gpu) => void gpu.shared(f32, padded([8, 8], -1)));
    refused("INVALID_LAYOUT", ["swizzled([8, 6]"], () => void swizzled([8, 6], { vector: 4 }));
    refused("INVALID_VECTOR", ["vec(a, a).z"], ({ a }) => void vec(a, a).z);
    refused("INVALID_VECTOR", ["vec(...three)"], ({ a }) => {
      const three = [a, a, a] as unknown as readonly [F32, F32];
      vec(...three);
    });
  });
});

describe("control flow", () => {
  test("a break outside a loop", () => {
    refused("OUTSIDE_LOOP", ["gpu.break()", 'kernel("k"'], (_, gpu) => gpu.break());
    refused("OUTSIDE_LOOP", ["gpu.continue()"], ({ n }, gpu) => gpu.if(n.lt(1), () => gpu.continue()));
  });

  test("a barrier in divergent flow", () => {
    const lines = ["gpu.barrier()", "gpu.if(first", "const first = gpu.lane.eq(0)"];
    const message = refused("DIVERGENT_BARRIER", lines, (_, gpu) => {
      const first = gpu.lane.eq(0);
      gpu.if(first, () => {
        gpu.barrier();
      });
    });
    expect(message).toContain("depends on lane");
  });

  test("more roles than subgroups", () => {
    refused("INVALID_ROLES", ["gpu.roles("], (_, gpu) => {
      gpu.roles([{ name: "all", subgroups: 3, body: () => {} }]);
    });
  });
});

describe("sizes", () => {
  test("too many operations, naming the line that records them and the block that holds most", () => {
    const message = refused(
      "KERNEL_TOO_LARGE",
      ["gpu.registers(f32, 50_000, 0)", "gpu.for({ from: 0, to: n }"],
      ({ n }, gpu) => {
        gpu.for({ from: 0, to: n }, () => {
          for (let i = 0; i < 100; i++) gpu.registers(f32, 50_000, 0);
        });
      },
    );
    expect(message).toContain("the body of gpu.for");
    expect(message).toContain("use gpu.for for long loops");
  });

  test.each<[string, [number, number?, number?], number, RegExp]>([
    ["INVALID_SUBGROUP", [64], 24, /24 is not a subgroup width/],
    ["INVALID_WORKGROUP", [0], 32, /\[0, 1, 1\] is not a workgroup size/],
    ["INVALID_WORKGROUP", [64, 32], 32, /\[64, 32, 1\] is not a workgroup size/],
    ["INVALID_WORKGROUP", [1.5], 32, /\[1\.5, 1, 1\] is not a workgroup size/],
  ])("%s: %j at width %d", (code, workgroup, subgroup, message) => {
    const error = errorFrom(() => kernel("k", { params, workgroup }, () => {}).build({ subgroup }));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });

  test("shared memory of a size that only the run knows", () => {
    refused("INVALID_LAYOUT", ["gpu.shared(f32, n"], ({ n }, gpu) => {
      gpu.shared(f32, n as unknown as number);
    });
  });

  test("a last subgroup with fewer lanes, for subgroup operations alone", () => {
    const sized = (body: (gpu: Gpu) => void): KernelIR =>
      kernel("k", { params: {}, workgroup: [48] }, (_, gpu) => body(gpu)).build({ subgroup: 32 });
    const ir = sized((gpu) => {
      const roles = [0, 1].map((s) => ({ name: `role ${s}`, subgroups: 1, body: () => gpu.comment("here") }));
      gpu.roles(roles);
    });
    expect(ir.workgroupSize).toEqual([48, 1, 1]);
    const error = errorFrom(() => sized((gpu) => gpu.subgroup.sum(gpu.lane)));
    expect(error.code).toBe("INVALID_WORKGROUP");
    expect(error.message).toMatch(
      /subgroup.sum wants full subgroups of 32, which a workgroup of 48 does not/,
    );
    expect(error.where).toHaveLength(2);
  });

  test("names that emitted code cannot have", () => {
    const error = errorFrom(() =>
      kernel("my kernel", { params, workgroup: [64] }, () => {}).build({ subgroup: 32 }),
    );
    expect(error.message).toMatch(/"my kernel" is not an identifier/);
    expect(blamed(error)[0]).toContain('kernel("my kernel"');
    refused("INVALID_IR", [], (_, gpu) => void gpu.shared(f32, 4, "x"));
  });
});
