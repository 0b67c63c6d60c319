/** Kernels with free choices, sizes and a reference: what their body is given, and what is refused. */

import { atomic, buffer, f32, i32, kernel, raggedSizes, u32, type ExampleLaunch } from "@evolver/kernel";
import { describe, expect, expectTypeOf, it } from "vitest";

const scale = kernel(
  "scale",
  {
    params: { x: buffer(f32), y: buffer(f32, "write"), hits: buffer(atomic(u32)), n: u32, a: f32 },
    tune: { width: [32, 64, 128], order: ["forward", "backward"] },
    sizes: { n: 1000, rows: { value: 64, multipleOf: 8 }, depth: { value: 16, oneOf: [1, 4, 16, 64] } },
    workgroup: ({ tune }) => {
      expectTypeOf(tune.width).toEqualTypeOf<32 | 64 | 128>();
      return [tune.width];
    },
    example: ({ n }, { width, order }) => {
      expectTypeOf(order).toEqualTypeOf<"forward" | "backward">();
      return {
        workgroups: Math.ceil(n / width),
        args: { x: { length: n, min: 2, max: 3 }, y: n, hits: new Uint32Array(1), n, a: { oneOf: [2, -1] } },
      };
    },
    reference({ x, n, a }, round) {
      expectTypeOf(x).toEqualTypeOf<Float64Array>();
      expectTypeOf(n).toEqualTypeOf<number>();
      return { y: x.map((value) => round(a * value)), hits: [n] };
    },
    work: ({ n }) => ({ flops: n }),
    variants: { wide: { width: 128 } },
  },
  ({ x, y, hits, n, a }, gpu, { order }) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => {
      const at = order === "forward" ? i : n.sub(1).sub(i);
      y.set(at, x.get(at).mul(a));
      hits.add(0, 1);
    });
  },
);

describe("a kernel with choices", () => {
  it("has the first value of each by default", () => {
    expect(scale.choices).toEqual({ width: 32, order: "forward" });
    expect(scale.build({ subgroup: 32 }).workgroupSize).toEqual([32, 1, 1]);
  });

  it("is another kernel at other choices, and the same one each time", () => {
    const wide = scale.at({ width: 128 });
    expect(wide.choices).toEqual({ width: 128, order: "forward" });
    expect(wide.build({ subgroup: 32 }).workgroupSize).toEqual([128, 1, 1]);
    expect(scale.at({ width: 128 })).toBe(wide);
    expect(wide.at({ width: 32 })).toBe(scale);
    expect(wide.at({ order: "backward" }).choices).toEqual({ width: 128, order: "backward" });
  });

  it("gives the body its choices", () => {
    const nodes = (order: "forward" | "backward"): number =>
      JSON.stringify(scale.at({ order }).build({ subgroup: 32 }).body.nodes.length).length;
    expect(nodes("forward")).toBeGreaterThan(0);
    expect(scale.at({ order: "backward" }).build({ subgroup: 32 }).valueCount).toBeGreaterThan(
      scale.build({ subgroup: 32 }).valueCount,
    );
  });

  it("refuses what it does not have", () => {
    // @ts-expect-error: 48 is no value of width
    expect(() => scale.at({ width: 48 })).toThrow('width of kernel "scale" cannot be 48');
    // @ts-expect-error: there is no tile
    expect(() => scale.at({ tile: 8 })).toThrow('kernel "scale" has no choice "tile"');
    // @ts-expect-error: a property that every object has is no choice either
    expect(() => scale.at({ constructor: 8 })).toThrow('no choice "constructor"');
  });
});

describe("sizes", () => {
  it("give an example for any sizes", () => {
    expect(scale.launch({ n: 100 })?.workgroups).toBe(4);
    expect(scale.at({ width: 128 }).launch()?.workgroups).toBe(8);
    expect(() => scale.launch({ n: 0 })).toThrow("n is 0, and must be a whole number from 1 on");
    expect(() => scale.launch({ rows: 12 })).toThrow("rows is 12, and must be a multiple of 8");
    expect(() => scale.launch({ depth: 2 })).toThrow("depth is 2, and must be one of 1, 4, 16, 64");
    expect(() => scale.launch({ columns: 2 })).toThrow("there is no columns, only n, rows, depth");
  });

  it("are small and ragged for tools, as far as the rules allow", () => {
    expect(raggedSizes(scale.sizes)).toEqual({ n: 37, rows: 16, depth: 16 });
    const { args, workgroups } = scale.example ?? { args: {}, workgroups: 0 };
    expect(workgroups).toBe(2);
    expect(args).toMatchObject({ y: 37, n: 37, a: 2 });
    const x = args["x"] as Float32Array;
    expect(x.length).toBe(37);
    expect(x.every((value) => value >= 2 && value <= 3)).toBe(true);
  });
});

describe("a definition that is wrong", () => {
  const define = (options: object) => () =>
    kernel("wrong", { params: { x: buffer(i32, "write") }, workgroup: [32], ...options }, () => {});

  it.each([
    [{ tune: { tile: [] } }, "`tune.tile` is not a list with at least one value"],
    [{ tune: { tile: 8 } }, "`tune.tile` is not a list with at least one value"],
    [{ tune: { tile: [8, 8] } }, "`tune.tile` has a value twice"],
    [{ tune: { tile: [Number.NaN] } }, "`tune.tile` has a value that is neither a number nor a text"],
    [{ sizes: { n: 0 } }, "n is 0, and must be a whole number from 1 on"],
    [{ sizes: { n: { value: 10, multipleOf: 4 } } }, "n is 10, and must be a multiple of 4"],
    [{ sizes: { n: "10" } }, "`sizes.n` is neither a number nor a rule"],
  ])("is refused: %o", (options, message) => expect(define(options)).toThrow(message));
});

it("is what an example without sizes was before", () => {
  const plain = kernel(
    "plain",
    {
      params: { x: buffer(f32, "read_write") },
      workgroup: [32],
      example: { workgroups: 2, args: { x: 64 } },
    },
    ({ x }, gpu) => x.set(gpu.globalId.x, 1),
  );
  expectTypeOf(plain.launch()).toExtend<ExampleLaunch<typeof plain.params> | null>();
  expect(plain.example).toEqual({ workgroups: 2, args: { x: 64 } });
});
