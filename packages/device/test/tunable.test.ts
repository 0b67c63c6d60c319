/** Kernels and plans that can be improved: their plans for sizes and choices, their data, and the truth about them. */

import {
  baselineOf,
  bindPlan,
  buildPlan,
  openSim,
  tunable,
  tunableOf,
  type PlanBuild,
} from "@evolver/device";
import { atomic, buffer, f32, kernel, u32, type Kernel } from "@evolver/kernel";
import { describe, expect, it } from "vitest";

const build: PlanBuild = { subgroup: 8, forwardProgress: true };
const same = (value: number): number => value;

const axpy = kernel(
  "axpy",
  {
    params: { a: f32, x: buffer(f32), y: buffer(f32, "read_write"), n: u32 },
    tune: { width: [32, 64] },
    sizes: { n: 100 },
    workgroup: ({ tune }) => [tune.width],
    example: ({ n }, { width }) => ({
      workgroups: Math.ceil(n / width),
      args: { a: { oneOf: [2, 0] }, x: n, y: { length: n, value: 1 }, n },
    }),
    reference: ({ a, x, y }, round) => ({ y: y.map((value, i) => round(round(a * (x[i] ?? 0)) + value)) }),
    variants: { wide: { width: 64 } },
  },
  ({ a, x, y, n }, gpu) => {
    const i = gpu.globalId.x;
    gpu.if(i.lt(n), () => y.set(i, a.mul(x.get(i)).add(y.get(i))));
  },
);

describe("a kernel", () => {
  const problem = { sizes: { n: 5 }, scalars: { a: 3 } };

  it("is a plan of one launch, with what it changes in place as inout", () => {
    const subject = tunableOf(axpy);
    expect(subject.scalars({ n: 5 })).toEqual({ a: [2, 0] });
    expect(subject.variants).toEqual({ wide: { width: 64 } });
    expect(baselineOf(subject)).toEqual({ width: 32 });
    const plan = subject.plan(problem, { width: 64 }, build);
    expect(plan.buffers).toEqual([
      { name: "x", role: "input", element: "f32", length: 5 },
      { name: "y", role: "inout", element: "f32", length: 5 },
    ]);
    expect(plan.launches).toEqual([
      { kernel: 0, workgroups: [1, 1, 1], args: { a: 3, x: { buffer: "x" }, y: { buffer: "y" }, n: 5 } },
    ]);
    expect(subject.contents({ n: 5 })).toEqual({ x: 5, y: { length: 5, value: 1 } });
  });

  it("runs, and gives what its reference gives", async () => {
    const subject = tunableOf(axpy);
    const sim = openSim({ subgroup: 8 });
    const [x, y] = [Float32Array.of(1, 2, 3, 4, 5), Float32Array.of(1, 1, 1, 1, 1)];
    const bound = await bindPlan(sim, subject.plan(problem, { width: 32 }, build), { inputs: { x, y } });
    await bound.run();
    const inputs = { x: Float64Array.from(x), y: Float64Array.from(y) };
    const truth = subject.reference(inputs, problem, same);
    expect([...(await bound.read("y"))]).toEqual([4, 7, 10, 13, 16]);
    expect(Array.from(truth["y"] ?? [])).toEqual([4, 7, 10, 13, 16]);
    await sim.close();
  });

  const count = (reference: object): Kernel =>
    kernel(
      "count",
      {
        params: { x: buffer(f32), bins: buffer(atomic(u32)), work: buffer(f32, "read_write") },
        workgroup: [32],
        example: { workgroups: 1, args: { x: 32, bins: new Uint32Array(4), work: 8 } },
        ...reference,
      },
      ({ bins }) => void bins.add(0, 1),
    );

  it("has scratch where the reference gives nothing and the example no contents", () => {
    const subject = tunableOf(count({ reference: () => ({ bins: [32, 0, 0, 0] }) }));
    const { buffers } = subject.plan({ sizes: {}, scalars: {} }, {}, build);
    expect(buffers.map(({ name, role }) => [name, role])).toEqual([
      ["x", "input"],
      ["bins", "inout"],
      ["work", "scratch"],
    ]);
  });

  it.each([
    [{}, "REFERENCE_MISSING", 'kernel "count" has no reference'],
    [{ reference: () => undefined }, "REFERENCE_INVALID", "gives no output"],
    [
      {
        reference: () => {
          throw new TypeError("not yet");
        },
      },
      "FUNCTION_THREW",
      'the reference of "count" threw: not yet',
    ],
    [{ reference: () => ({ work: [] }) }, "REFERENCE_INVALID", 'gives nothing for "bins"'],
    [
      { reference: () => ({ x: [], bins: [] }) },
      "REFERENCE_INVALID",
      'gives "x", which the kernel only reads',
    ],
    [
      { reference: () => ({ y: [], bins: [] }) },
      "REFERENCE_INVALID",
      'gives "y", which is none of its buffers',
    ],
    [{ reference: () => ({ bins: [] }), example: undefined }, "EXAMPLE_MISSING", "has no example"],
  ])("is refused with %o", (options, code, message) => {
    expect(() => tunableOf(count(options))).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });
});

describe("several launches", () => {
  const twice = kernel(
    "twice",
    {
      params: { x: buffer(f32), y: buffer(f32, "write"), n: u32 },
      tune: { width: [32, 64] },
      workgroup: ({ tune }) => [tune.width],
    },
    ({ x, y, n }, gpu) => {
      const i = gpu.globalId.x;
      gpu.if(i.lt(n), () => y.set(i, x.get(i).mul(2)));
    },
  );
  const fourTimes = tunable("four times", {
    sizes: { n: 1000 },
    tune: { width: [32, 64] },
    plan({ n }, { width }, own) {
      const workgroups = Math.ceil(n / width);
      return buildPlan(own)
        .input("x", f32, n)
        .scratch("half", f32, n)
        .output("y", f32, n)
        .launch(twice.at({ width }), { workgroups, args: { x: "x", y: "half", n } })
        .launch(twice.at({ width }), { workgroups, args: { x: "half", y: "y", n } })
        .done();
    },
    contents: ({ n }) => ({ x: { length: n, min: 0, max: 1 } }),
    reference: ({ x }, _, round) => ({ y: x.map((value) => round(4 * value)) }),
    work: ({ n }) => ({ flops: n }),
  });

  it("are a plan for sizes and choices", () => {
    const plan = fourTimes.plan({ sizes: { n: 70 }, scalars: {} }, { width: 64 }, build);
    expect(plan.launches.map(({ workgroups }) => workgroups)).toEqual([
      [2, 1, 1],
      [2, 1, 1],
    ]);
    expect(plan.kernels).toHaveLength(1);
    expect(fourTimes.work({ n: 70 })).toEqual({ flops: 70 });
    expect(fourTimes.contents({ n: 70 })).toEqual({ x: { length: 70, min: 0, max: 1 } });
    expect(fourTimes.site.location.file).toMatch(/tunable\.test\.ts$/);
  });

  it("are refused where something is missing", () => {
    // @ts-expect-error: there is no reference
    expect(() => tunable("none", { plan: () => buildPlan(build).done() })).toThrow("it has no `reference`");
  });
});
