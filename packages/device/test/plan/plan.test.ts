/** Plans as data: what the builder makes and the compiler refuses, what is refused when a plan is bound, and sharing. */

import { atomic, buffer, f32, kernel, u32 } from "@evolver/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bindPlan,
  buildOf,
  buildPlan,
  checkPlan,
  openDevice,
  openSim,
  parsePlan,
  planHash,
  programFor,
  type Device,
  type Plan,
} from "@evolver/device";
import { COLUMNS, counting, invert, normalise, ROWS, rowsInput, scaleRows, sumRows } from "./kernels.ts";

let sim: Device;
let cpu: Device;
beforeAll(async () => {
  sim = await openDevice("sim");
  cpu = await openDevice("cpu");
});
afterAll(async () => {
  await sim.close();
  await cpu.close();
});

const code = (name: string) => expect.objectContaining({ code: name });

describe("the builder", () => {
  it("gives plain data, with a kernel that is launched twice once", () => {
    const plan = buildPlan({ subgroup: 32, forwardProgress: true })
      .scratch("x", f32, 4, true)
      .scratch("y", f32, 4, "once")
      .launch(invert, { workgroups: [1, 1], args: { x: "x", n: 4 } })
      .launch(invert, { workgroups: 2, args: { x: "y", n: 4 } })
      .done();
    expect(plan).toEqual({
      kernels: [invert.build({ subgroup: 32 })],
      buffers: [
        { name: "x", role: "scratch", element: "f32", length: 4, zeroed: true },
        { name: "y", role: "scratch", element: "f32", length: 4, zeroed: "once" },
      ],
      launches: [
        { kernel: 0, workgroups: [1, 1, 1], args: { x: { buffer: "x" }, n: 4 } },
        { kernel: 0, workgroups: [2, 1, 1], args: { x: { buffer: "y" }, n: 4 } },
      ],
    });
  });

  it("lets plans share a beginning", () => {
    const begun = buildPlan(buildOf(sim)).scratch("x", f32, 4, true);
    const launched = begun.launch(invert, { workgroups: 1, args: { x: "x", n: 4 } });
    expect(begun.done().launches).toHaveLength(0);
    expect(launched.done().launches).toHaveLength(1);
  });

  it("is held to the kernels' parameters by the compiler", () => {
    const begun = buildPlan(buildOf(sim)).input("x", f32, 4).scratch("n", u32, 4);
    const wrong = [
      // @ts-expect-error a buffer of another type
      () => begun.launch(invert, { workgroups: 1, args: { x: "n", n: 4 } }).done(),
      // @ts-expect-error a buffer that is not there
      () => begun.launch(invert, { workgroups: 1, args: { x: "y", n: 4 } }).done(),
      // @ts-expect-error a name for a scalar
      () => begun.launch(invert, { workgroups: 1, args: { x: "x", n: "n" } }).done(),
      // @ts-expect-error a parameter left out
      () => begun.launch(invert, { workgroups: 1, args: { x: "x" } }).done(),
      // @ts-expect-error a parameter too many
      () => begun.launch(invert, { workgroups: 1, args: { x: "x", n: 4, m: 4 } }).done(),
    ];
    for (const build of wrong) expect(build).toThrow(code("PLAN_INVALID") as Error);
    expect(() => begun.input("x", f32, 4).done()).toThrow("Two buffers are called x.");
    expect(() => begun.input("z", f32, -1).done()).toThrow("Buffer z has length -1.");
  });
});

describe("callers without types are told what is wrong, where, and what to do", () => {
  interface Untyped {
    input(...args: unknown[]): Untyped;
    launch(...args: unknown[]): Untyped;
    done(): Plan;
  }
  const begun = buildPlan({ subgroup: 32, forwardProgress: true })
    .input("x", f32, 4)
    .scratch("y", f32, 4) as unknown as Untyped;
  const launched = (args: unknown) => begun.launch(sumRows, { workgroups: 1, args }).done();
  it.each<[string, () => unknown, string]>([
    ["no type", () => begun.input("z", undefined, 64), 'Buffer "z" has undefined for its type.'],
    ["no name", () => begun.input(undefined, f32, 64).done(), "A buffer is called undefined."],
    ["no options", () => begun.launch(invert), "Launch 0 of invert has undefined for workgroups and args."],
    [
      "no workgroups",
      () => begun.launch(invert, { args: {} }),
      "Launch 0 of invert has undefined for workgroups.",
    ],
    ["no args", () => begun.launch(invert, { workgroups: 2 }), "Launch 0 of invert has undefined for args."],
    ["no kernel", () => begun.launch(null, {}), "Launch 0 is of null, which is no kernel."],
    ["another object", () => begun.launch({}, {}), "Launch 0 is of an Object, which is no kernel."],
    [
      "a name that is not there",
      () => launched({ x: "x", sums: "nope", columns: 1 }),
      'Launch 0 of sumRows, parameter sums: there is no buffer "nope"; the plan has x, y.',
    ],
    [
      "a number for a buffer",
      () => launched({ x: 4, sums: "y", columns: 1 }),
      "Launch 0 of sumRows passes 4 for x, which is a buffer of f32.",
    ],
    [
      "text for a scalar",
      () => launched({ x: "x", sums: "y", columns: "64" }),
      'Launch 0 of sumRows passes "64" for columns, which is u32.',
    ],
    [
      "a parameter that is not there",
      () => launched({ x: "x", sums: "y", columns: 1, m: 2 }),
      "Kernel sumRows has no parameter m.",
    ],
  ])("%s", (_, act, message) => {
    expect(act).toThrow(message);
    expect(act).toThrow(code("PLAN_INVALID") as Error);
    expect(act).toThrow("\n  help: ");
  });

  it("no build, no device and no plan", async () => {
    expect(() => (buildPlan as () => unknown)()).toThrow("help: write buildPlan(buildOf(device))");
    expect(() => (buildPlan as () => unknown)()).toThrow(code("INVALID_ARGUMENT") as Error);
    const bind = bindPlan as (...args: unknown[]) => Promise<unknown>;
    for (const [device, given] of [
      ["sim", '"sim"'],
      [null, "null"],
    ]) {
      await expect(bind(device, normalise(sim))).rejects.toThrow(`wants a device first, not ${given}`);
      await expect(bind(device, normalise(sim))).rejects.toThrow(code("INVALID_ARGUMENT") as Error);
    }
    for (const plan of [undefined, begun])
      await expect(bind(sim, plan)).rejects.toThrow("help: pass what `done()` of a builder gives");
  });
});

describe("what would fail at a launch is found before", () => {
  const begun = buildPlan({ subgroup: 32, forwardProgress: true })
    .input("x", f32, ROWS * COLUMNS)
    .scratch("sums", f32, ROWS);
  it.each<[string, () => unknown, string, string]>([
    [
      "one buffer to read and to write",
      () => begun.launch(sumRows, { workgroups: 1, args: { x: "x", sums: "x", columns: 1 } }).done(),
      "ALIASED_BUFFER",
      'one buffer is passed to "sumRows" as "x" and as "sums"',
    ],
    [
      "a scalar that is not of its type",
      () => begun.launch(sumRows, { workgroups: 1, args: { x: "x", sums: "sums", columns: -1 } }).done(),
      "INVALID_ARGUMENT",
      'parameter "columns" of "sumRows" is u32; -1 is not one',
    ],
    [
      "an output that no launch writes",
      () => begun.output("y", f32, 4).done(),
      "PLAN_INVALID",
      "No launch writes the output y.",
    ],
  ])("%s", (_, act, name, message) => {
    expect(act).toThrow(message);
    expect(act).toThrow(code(name) as Error);
  });

  it("an input is written by no launch, and read by one that only declares to write it", () => {
    const inPlace = begun.launch(invert, { workgroups: 1, args: { x: "x", n: 4 } });
    expect(() => inPlace.done()).toThrow("Launch 0 of invert writes the input x.");
    expect(() => inPlace.done()).toThrow(code("PLAN_WRITES_INPUT") as Error);
    const declared = kernel(
      "declared",
      { params: { x: buffer(f32, "read_write"), sums: buffer(f32, "write") }, workgroup: [32] },
      ({ x, sums }, gpu) => {
        const i = gpu.globalId.x;
        gpu.if(i.lt(ROWS), () => sums.set(i, x.get(i)));
      },
    );
    const reads = begun.launch(declared, { workgroups: 1, args: { x: "x", sums: "sums" } }).done();
    expect(reads.launches).toHaveLength(1);
  });

  describe("scratch is read after something wrote it", () => {
    const added = kernel("added", { params: { sums: buffer(atomic(f32)) }, workgroup: [32] }, ({ sums }) => {
      sums.add(0, 1);
    });
    const own = kernel("own", { params: { sums: buffer(f32, "read_write") }, workgroup: [1] }, ({ sums }) => {
      sums.set(0, 1);
      sums.set(1, sums.get(0));
    });
    const output = begun.output("y", f32, ROWS * COLUMNS);
    const last = {
      workgroups: ROWS,
      args: { x: "x", factors: "sums", y: "y", columns: COLUMNS, gain: 1 },
    } as const;
    const zeroed = buildPlan({ subgroup: 32, forwardProgress: true })
      .input("x", f32, ROWS * COLUMNS)
      .scratch("sums", f32, ROWS, true)
      .output("y", f32, ROWS * COLUMNS);
    it.each<[string, () => unknown]>([
      ["by no launch", () => output.launch(scaleRows, last).done()],
      [
        "by a later launch alone",
        () =>
          output
            .launch(scaleRows, last)
            .launch(sumRows, { workgroups: ROWS, args: { x: "x", sums: "sums", columns: COLUMNS } })
            .done(),
      ],
      [
        "by an atomic operation on garbage",
        () =>
          output
            .launch(added, { workgroups: 1, args: { sums: "sums" } })
            .launch(scaleRows, last)
            .done(),
      ],
    ])("refused: written %s", (_, act) => {
      expect(act).toThrow("reads the scratch sums, which no launch before has written.");
      expect(act).toThrow(code("PLAN_READS_UNWRITTEN") as Error);
    });
    it.each<[string, () => unknown]>([
      ["zeros", () => zeroed.launch(scaleRows, last).done()],
      [
        "atomic operations on zeros",
        () =>
          zeroed
            .launch(added, { workgroups: 1, args: { sums: "sums" } })
            .launch(scaleRows, last)
            .done(),
      ],
      [
        "a kernel that reads what it wrote itself",
        () =>
          output
            .launch(own, { workgroups: 1, args: { sums: "sums" } })
            .launch(scaleRows, last)
            .done(),
      ],
    ])("taken: %s", (_, act) => {
      expect(act).not.toThrow();
    });
  });

  it("one buffer of a device under two names", async () => {
    const x = sim.createBuffer("f32", ROWS * COLUMNS);
    const binding = bindPlan(sim, normalise(sim), { buffers: { x, sums: x } });
    await expect(binding).rejects.toThrow(code("ALIASED_BUFFER") as Error);
  });
});

describe("a plan is not well-formed", () => {
  const good = normalise(openSim());
  it.each<[string, Partial<Record<keyof Plan, unknown>>, string]>([
    ["without lists", { launches: null }, "A plan has lists of kernels, buffers and launches."],
    [
      "with a type that there is not",
      { buffers: [{ ...good.buffers[0], element: "f64" }] },
      "Buffer x has element type f64.",
    ],
    [
      "with a role that there is not",
      { buffers: [{ ...good.buffers[0], role: "spare" }] },
      "Buffer x is not an input, output, inout or scratch.",
    ],
    ["without its kernel", { kernels: [] }, "Launch 0 is of kernel 0, and there are 0."],
    [
      "with half a workgroup",
      { launches: [{ ...good.launches[0], workgroups: [0.5, 1, 1] }] },
      "Launch 0 of sumRows has workgroups [0.5, 1, 1].",
    ],
    [
      "without a number",
      { launches: [{ ...good.launches[0], args: { x: { buffer: "x" }, sums: { buffer: "sums" } } }] },
      "Launch 0 of sumRows lacks a number for columns.",
    ],
    [
      "with a length that is text",
      { buffers: [{ ...good.buffers[0], length: "64" }] },
      'Buffer x has length "64".',
    ],
    ["with null for a buffer", { buffers: [null] }, "A buffer is null."],
    ["with null for a launch", { launches: [null] }, "Launch 0 is null."],
    [
      "without workgroups",
      { launches: [{ kernel: 0, args: {} }] },
      "Launch 0 of sumRows has undefined for workgroups.",
    ],
    [
      "without arguments",
      { launches: [{ ...good.launches[0], args: null }] },
      "Launch 0 of sumRows has null for args.",
    ],
    [
      "with null for a buffer's name",
      { launches: [{ ...good.launches[0], args: { x: null } }] },
      "Launch 0 of sumRows passes null for x, which is a buffer of f32.",
    ],
  ])("%s", (_, change, message) => {
    const plan = { ...good, ...change } as Plan;
    expect(() => checkPlan(plan)).toThrow(message);
    expect(() => checkPlan(plan)).toThrow(code("PLAN_INVALID") as Error);
    expect(() => checkPlan(plan)).toThrow("\n  help: ");
  });

  it("as text", () => {
    expect(() => parsePlan("{")).toThrow("The plan is not JSON.");
    expect(() => parsePlan("[]")).toThrow("The plan has no list of kernels.");
  });
});

it("the hash of a plan depends on what it does, and not on the names of its scratch", () => {
  const plan = normalise(sim);
  const renamed = JSON.parse(JSON.stringify(plan).replaceAll('"sums"', '"totals"')) as Plan;
  const argument = {
    ...plan.launches[0],
    args: { x: { buffer: "x" }, sums: { buffer: "totals" }, columns: 7 },
  };
  const launches = [
    argument,
    { ...plan.launches[1], args: { ...plan.launches[1]?.args, x: { buffer: "totals" } } },
    { ...plan.launches[2], args: { ...plan.launches[2]?.args, factors: { buffer: "totals" } } },
  ];
  const other = { ...plan, buffers: renamed.buffers, launches } as Plan;
  expect(planHash(other)).toBe(planHash(plan));
  expect(planHash(normalise(sim, 2))).not.toBe(planHash(plan));
  expect(planHash(counting(sim, true))).not.toBe(planHash(counting(sim, "once")));
});

describe("what is given for a plan's buffers", () => {
  const f = (length: number) => sim.createBuffer("f32", length);
  it.each<[string, () => Parameters<typeof bindPlan>[2], string]>([
    ["nothing for an input", () => ({}), 'nothing is given for the input "x"'],
    [
      "too little for an input",
      () => ({ inputs: { x: rowsInput.subarray(1) } }),
      'the contents of "x" are 34 elements; the plan says 35 f32',
    ],
    [
      "an input too many",
      () => ({ inputs: { x: rowsInput, Y: rowsInput } }),
      '`inputs` has "Y", which is no buffer of the plan\n  help: its inputs are x',
    ],
    [
      "an output among the inputs",
      () => ({ inputs: { x: rowsInput, y: rowsInput } }),
      '`inputs` has "y", which is an output of the plan',
    ],
    ["null for an input", () => ({ inputs: { x: null as never } }), 'the contents of "x" are null'],
    ["null for the inputs", () => ({ inputs: null as never }), "`inputs` is null"],
    ["null for a buffer", () => ({ buffers: { x: null as never } }), 'the buffer given for "x" is null'],
    ["a buffer too many", () => ({ buffers: { z: f(1) } }), 'the plan has no buffer "z"'],
    [
      "a short buffer",
      () => ({ buffers: { x: f(34) } }),
      'the buffer given for "x" holds 34 f32; the plan says 35 f32',
    ],
    [
      "a buffer of another type",
      () => ({ buffers: { x: sim.createBuffer("u32", 35) } }),
      'the buffer given for "x" holds 35 u32; the plan says 35 f32',
    ],
  ])("%s", async (_, options, message) => {
    const binding = bindPlan(sim, normalise(sim), options());
    await expect(binding).rejects.toThrow(message);
    await expect(binding).rejects.toThrow(code("PLAN_BUFFER") as Error);
  });

  it("wrong arrays are refused, and nothing stays allocated", async () => {
    const x = new Int32Array(ROWS * COLUMNS);
    await expect(bindPlan(sim, normalise(sim), { inputs: { x } })).rejects.toThrow(
      code("INVALID_ARGUMENT") as Error,
    );
    const bound = await bindPlan(sim, normalise(sim), { inputs: { x: rowsInput } });
    await expect(bound.read("z" as "y")).rejects.toThrow('the plan has no buffer "z"');
    expect(() => bound.runChanged({ launch: 3 })).toThrow("the plan has no launch 3");
    expect(bound.capture()).toBeNull();
    const foreign = await bindPlan(sim, normalise(sim), { buffers: { x: cpu.createBuffer("f32", 35) } });
    await expect(foreign.run()).rejects.toThrow("a buffer of another device");
  });
});

it("on sim, a sample of a launch's workgroups runs", async () => {
  const bound = await bindPlan(sim, normalise(sim), { inputs: { x: rowsInput }, fill: "nan" });
  const results = await bound.run((launch) => (launch === 2 ? [1, 3] : null));
  expect(results.map(({ counters }) => counters?.workgroups)).toEqual([ROWS, 1, 2]);
  const written = (await bound.read("y")).map((value) => (Number.isNaN(value) ? 0 : 1));
  expect([...written]).toEqual(
    rowsInput
      .map((_, i) => ([1, 3].includes(Math.floor(i / COLUMNS)) ? 1 : 0))
      .reduce<number[]>((all, x) => [...all, x], []),
  );
  const { counters } = await bound.runChanged({ launch: 0, sample: [4] });
  expect(counters?.workgroups).toBe(1);
});

describe("programs are shared", () => {
  const twin = (name: string) =>
    kernel(name, { params: { x: buffer(f32, "write") }, workgroup: [32] }, ({ x }, gpu) =>
      x.set(gpu.localIndex, 1),
    );

  it("by plans of one kernel, and where the device reports nothing by kernels that do the same", async () => {
    for (const device of [sim, cpu]) {
      expect(await programFor(device, scaleRows)).toBe(await programFor(device, scaleRows));
      expect(await programFor(device, sumRows)).not.toBe(await programFor(device, scaleRows));
    }
    const [a, b] = [twin("a"), twin("b")];
    expect(await programFor(cpu, a)).toBe(await programFor(cpu, b));
    expect((await programFor(sim, b)).ir.name).toBe("b");
    expect(await programFor(sim, a)).not.toBe(await programFor(sim, b));
  });

  it("not after a failure", async () => {
    const broken = kernel("broken", { params: { x: buffer(f32, "write") }, workgroup: [32] }, ({ x }, gpu) =>
      x.set(gpu.localIndex, 1),
    ).build({ subgroup: 32 });
    const narrow = openSim({ subgroup: 8 });
    const sized = { ...broken, workgroupSize: [2048, 1, 1] as const };
    for (let i = 0; i < 2; i++)
      await expect(programFor(narrow, sized)).rejects.toThrow(code("WORKGROUP_TOO_LARGE") as Error);
  });
});
