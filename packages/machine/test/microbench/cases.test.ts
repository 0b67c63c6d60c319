/** Every case of every test gives right results, on several devices; and every check notices results that are not. */

import { openDevice, type Device } from "@evolver/device";
import { kernel } from "@evolver/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requireOptional } from "../../../../test/support/optional.ts";
import { hasSwiftShader, useSwiftShader } from "../../../../test/support/swiftshader.ts";
import { setupOf } from "@evolver/machine/internal";
import { Runner, type Outcome } from "@evolver/machine/internal";
import type { CaseSpec } from "@evolver/machine/internal";
import { randomise } from "@evolver/machine/internal";
import { tests } from "@evolver/machine/internal";
import type { TestPlan, Test } from "@evolver/machine/internal";

let device: Device;

/** Verifies only, unless repetitions are asked for. */
async function run(plan: TestPlan, repetitions = 0): Promise<Outcome[]> {
  const runner = new Runner(device, { multiprocessors: 2, repetitions, targetMs: 0.01 });
  try {
    for (const fill of plan.fills) await runner.launch(fill);
    return await runner.measure(plan.cases);
  } finally {
    runner.release();
  }
}

const tiny = (test: Test): TestPlan => test.plan(setupOf(device, "tiny", true));

const wrongOnes = (outcomes: readonly Outcome[]): string[] =>
  outcomes.filter(({ verified }) => !verified).map(({ spec, note }) => `${spec.id}: ${note}`);

const change = (plan: TestPlan, edit: (spec: CaseSpec) => CaseSpec): TestPlan => ({
  ...plan,
  cases: plan.cases.map(edit),
});

describe.each(["sim", "cpu"] as const)("on %s", (id) => {
  beforeAll(async () => {
    device = await openDevice(id);
  });
  afterAll(() => device.close());

  it.each(tests)("$id: all results are right", async (test) => {
    const outcomes = await run(tiny(test), id === "cpu" ? 2 : 0);
    expect(outcomes.length).toBeGreaterThan(0);
    expect(wrongOnes(outcomes)).toEqual([]);
    for (const { value, counters, spec } of outcomes) {
      if (id === "cpu") expect(value, spec.id).toBeGreaterThan(0);
      else expect([value, counters === null], spec.id).toEqual([null, false]);
    }
  });

  it.each(tests)("$id: a kernel that does nothing is found out, in every case", async (test) => {
    const nothing = kernel("nothing", { params: {}, workgroup: [1] }, () => {});
    const outcomes = await run(
      change(tiny(test), (spec) => ({ ...spec, launch: { ...spec.launch, kernel: nothing, args: {} } })),
    );
    expect(outcomes.filter(({ verified }) => verified).map(({ spec }) => spec.id)).toEqual([]);
    expect(outcomes[0]?.note).toMatch(/^\d+ wrong results, the first at index \d+$/);
  });
});

describe("on sim", () => {
  beforeAll(async () => {
    device = await openDevice("sim");
  });
  afterAll(() => device.close());

  /** What settles, repeats or meets comes out the same after any number of iterations. */
  const REPEATS = /^(exp2|exp2Flushed|log|sqrt|rsqrt|div|sin)\.|^cache\.|^barrier\./;

  it.each(tests)("$id: an iteration too many is found out", async (test) => {
    const plan = tiny(test);
    const looped = plan.cases.filter(({ iterations, id }) => iterations !== undefined && !REPEATS.test(id));
    const outcomes = await run({
      ...plan,
      cases: looped.map((spec) => {
        const { launch } = spec;
        return { ...spec, launch: { ...launch, args: { ...launch.args, iterations: 3 } } };
      }),
    });
    expect(outcomes.filter(({ verified }) => verified).map(({ spec }) => spec.id)).toEqual(
      // Where the number of steps is read from what the kernel wrote, it is right by its own account.
      looped.filter(({ id }) => id.startsWith("chase.")).map(({ id }) => id),
    );
  });

  it.each(tests.filter((test) => ["streams", "patterns", "occupancy", "copies"].includes(test.id)))(
    "$id: other inputs than those that the check expects are found out",
    async (test) => {
      const plan = tiny(test);
      const fills = plan.fills.map((fill) => {
        const { to } = fill.args;
        return typeof to === "object" ? randomise(to, 99) : fill;
      });
      const outcomes = await run({ ...plan, fills });
      const right = outcomes.filter(({ verified }) => verified).map(({ spec }) => spec.id);
      // What only writes has no inputs; maxima over many elements are mostly the same.
      expect(right.filter((id) => !/^(write|cache)\./.test(id))).toEqual([]);
    },
  );

  it("reads of 8 and 16 bytes take the passes that their figures name", async () => {
    const shared = tests.find(({ id }) => id === "shared") as Test;
    const { cases } = tiny(shared);
    const sharing = cases.filter(({ settings }) => settings["kind"] === "sharing");
    expect(sharing.length).toBe(10);
    // What fills the memory takes passes too: the difference between two lengths of the loop is the loop's.
    const counted = async (iterations: number): Promise<number[]> => {
      const outcomes = await run({
        ...tiny(shared),
        cases: sharing.map((spec) => ({ ...spec, iterations: { min: iterations, max: iterations } })),
      });
      return outcomes.map(({ counters }) => counters?.sharedPasses ?? Number.NaN);
    };
    const [few, many] = [await counted(2), await counted(5)];
    const reads = 3 * 8 * (256 / 32);
    expect(sharing.map(({ id }, k) => [id, ((many[k] as number) - (few[k] as number)) / reads])).toEqual(
      sharing.map(({ id, settings }) => [id, settings["passes"]]),
    );
  });

  it("padding and exclusive-or take away the conflicts that a column has", async () => {
    const shared = tests.find(({ id }) => id === "shared") as Test;
    const outcomes = await run(tiny(shared));
    const conflicts = (id: string): number | undefined =>
      outcomes.find(({ spec }) => spec.id === id)?.counters?.sharedConflicts;
    expect(conflicts("column.row-major.v1")).toBeGreaterThan(1000);
    expect(conflicts("column.padded.v1")).toBe(0);
    expect(conflicts("column.swizzled.v1")).toBe(0);
    expect(conflicts("stride.v1.s1")).toBe(0);
    expect(conflicts("stride.v1.s32")).toBe(31 * (conflicts("stride.v1.s2") as number));
  });
});

requireOptional(
  "SwiftShader",
  hasSwiftShader,
  "npm ci on Linux on x64",
)("on webgpu", () => {
  beforeAll(async () => {
    useSwiftShader();
    device = await openDevice("webgpu");
  });
  afterAll(() => device.close());

  it.each(tests.filter((test) => !["streams", "arithmetic"].includes(test.id)))(
    "$id: all results are right",
    async (test) => expect(wrongOnes(await run(tiny(test), 1))).toEqual([]),
  );

  it.each(["streams", "arithmetic"])("%s: some results, which are right", async (id) => {
    const plan = tiny(tests.find((test) => test.id === id) as Test);
    const cases = plan.cases.filter((_, k) => k % 4 === 0);
    expect(wrongOnes(await run({ ...plan, cases }, 1))).toEqual([]);
  });
});
