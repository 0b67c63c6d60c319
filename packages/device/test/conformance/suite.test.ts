/** The conformance suite itself: what it must not let pass. */

import { afterAll, describe, expect, test } from "vitest";
import { cases } from "../../conformance/cases/index.ts";
import { difference, unitInLastPlace } from "../../conformance/compare.ts";
import { runConformance, targetOf } from "../../conformance/run.ts";
import { openSim, type Device, type Program } from "@evolver/device";

const sim = openSim({ subgroup: 8 });
afterAll(() => sim.close());

/** A simulator whose programs are changed. */
function changed(run: (program: Program) => Program["run"]): Device {
  return new Proxy(sim, {
    get: (target, name) => {
      if (name !== "compile") {
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      }
      return async (kernel: never) => {
        const program = await target.compile(kernel);
        return { ir: program.ir, run: run(program as unknown as Program) };
      };
    },
  });
}

describe("a device that is wrong fails", () => {
  test("one that runs nothing passes only what leaves all buffers as they are", async () => {
    const lazy = changed(() => async () => ({ timeMs: null, counters: null, findings: [] }));
    const results = await runConformance(lazy);
    const passed = results.filter(({ status }) => status === "passed").map(({ name }) => name);
    expect(passed.filter((name) => !name.startsWith("device: "))).toEqual([
      "a kernel that writes no buffer leaves them as they are",
      "a kernel without parameters",
      "0 workgroups",
      "3 × 0 × 2 workgroups",
    ]);
    expect(results.find(({ status }) => status === "failed")?.detail).toContain("[2] is 0, not 1");
  });

  test("one whose launches have a workgroup too few fails wherever there is more than one", async () => {
    const short = changed((program) => (launch) => {
      const counts = typeof launch.workgroups === "number" ? [launch.workgroups] : [...launch.workgroups];
      const total = counts.reduce<number>((product, count) => product * (count ?? 1), 1);
      return program.run({ ...launch, sample: Array.from({ length: Math.max(1, total - 1) }, (_, i) => i) });
    });
    const results = await runConformance(short, { filter: "all indices" });
    expect(results.length).toBeGreaterThan(4);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["failed"]));
  });
});

describe("comparing", () => {
  const exact = targetOf(sim);
  const flushing = { ...exact, capabilities: new Set<never>() };

  test.each([
    ["a zero of the other sign", Float32Array.of(0), Float32Array.of(-0)],
    ["a number for NaN", Float32Array.of(1), Float32Array.of(NaN)],
    ["the neighbour", Float32Array.of(1), Float32Array.of(1 + 2 ** -23)],
    ["a subnormal flushed", Float32Array.of(0), Float32Array.of(1e-40)],
    ["another length", Float32Array.of(0, 0), Float32Array.of(0)],
    ["another type", Int32Array.of(0), Float32Array.of(0)],
  ])("finds %s", (_, got, wanted) => {
    expect(difference("x", got, wanted, exact)).toContain('"x"');
  });

  test("allows what a rule says, and no more", () => {
    const values = Float32Array.of(8);
    const within = { values, tolerance: () => ({ ulps: 2 }) };
    expect(difference("x", Float32Array.of(8 + 2 * unitInLastPlace(8)), within, exact)).toBeNull();
    expect(difference("x", Float32Array.of(8 + 3 * unitInLastPlace(8)), within, exact)).toContain(
      "[0] is 8.0",
    );
    expect(difference("x", Float32Array.of(NaN), within, exact)).toContain("[0] is NaN");
    const absolute = { values, tolerance: () => ({ absolute: 0.5 }) };
    expect(difference("x", Float32Array.of(8.5), absolute, exact)).toBeNull();
    expect(difference("x", Float32Array.of(8.6), absolute, exact)).not.toBeNull();
    const anyOrder = { values: Uint32Array.of(3, 1, 2), anyOrder: true };
    expect(difference("x", Uint32Array.of(1, 2, 3), anyOrder, exact)).toBeNull();
    expect(difference("x", Uint32Array.of(1, 2, 2), anyOrder, exact)).not.toBeNull();
    expect(
      difference("x", Float32Array.of(-0), { values: Float32Array.of(0), zeros: true }, exact),
    ).toBeNull();
    expect(difference("x", Float32Array.of(-0), Float32Array.of(1e-40), flushing)).toBeNull();
    expect(difference("x", Float32Array.of(0), Float32Array.of(1e-30), flushing)).not.toBeNull();
  });

  test("case names are all different", () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  });
});
