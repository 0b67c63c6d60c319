/** The C++ suites: they compile for GPUs, and run as HIP programs on this machine's processor. */

import { buffer, kernel, u32 } from "@evolver/kernel";
import { describe, expect, it } from "vitest";
import { clang, compileCuda, compileHipHost, cpp, nvcc, runHip } from "../../../../test/support/compilers.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import { emitSuite } from "@evolver/machine";
import { tests } from "@evolver/machine/internal";
import type { Test } from "@evolver/machine/internal";

const named = (...ids: readonly string[]): Test[] => tests.filter(({ id }) => ids.includes(id));

const suite = (chosen: readonly Test[], target: "cuda" | "hip", size: "tiny" | "full" = "full"): string =>
  emitSuite(chosen, { target, subgroup: target === "cuda" ? 32 : 64, file: "microbench", size });

/** Together all that host programs do: buffers of both kinds, loops, batches, wall clocks, f64, the driver's copy. */
const VARIED = named("streams", "arithmetic", "barriers", "launch");

it("a suite says how it is built and what its exit means, and measures every case of its tests", () => {
  const source = suite(tests, "hip");
  expect(source).toMatch(/^\/\/ Evolver's microbenchmarks \(streams, [^)]*launch\) for AMD GPUs/);
  expect(source).toContain("hipcc -O3 -std=c++17 -o microbench microbench.hip && ./microbench");
  expect(source.match(/__HIPCC_RTC__/g)).toHaveLength(1);
  for (const { id } of tests) expect(source).toContain(`suite::test_${id}();`);
  expect(suite(tests, "cuda")).toContain("nvcc -O3 -std=c++17 -arch=native -o microbench microbench.cu");
});

requireOptional(
  "nvcc",
  nvcc !== null,
  "install the CUDA toolkit",
)("by nvcc", () => {
  it("suites compile without warnings", () => {
    const source = suite(named("streams", "barriers", "copies", "launch"), "cuda");
    const { ok, log } = compileCuda([{ name: "suite", source }], ["sm_90a"], ["-O1"]);
    expect({ ok, log }).toEqual({ ok: true, log: "" });
  });
});

requireOptional(
  "clang-19",
  clang !== null,
  "apt-get install clang-19",
)("by clang, for an AMD GPU", () => {
  it("both halves of suites compile without warnings", () => {
    const { ok, log } = compileHipHost(suite(VARIED, "hip", "tiny"), 64);
    expect({ ok, log }).toEqual({ ok: true, log: "" });
  });
});

requireOptional(
  "g++ or clang-19",
  cpp !== null,
  "apt-get install g++",
)("as HIP programs, on the processor", () => {
  it("results are measured and right", () => {
    const chosen = named("streams", "occupancy", "copies", "atomics");
    const [run] = runHip(suite(chosen, "hip", "tiny"), 64);
    expect(run?.status, run?.output).toBe(0);
    expect(run?.output).toMatch(/^copy by the driver, device to device +[\d.]+ GB\/s +± *[\d.]+ % {2}PASS$/m);
    expect(run?.output).toMatch(/^\d+ measured, 0 with wrong results\nPASS microbench$/m);
  });

  it("a kernel that computes something else is reported, and the exit says so", () => {
    const [atomics] = named("atomics") as [Test];
    const wrong = kernel(
      "adds_nothing",
      { params: { to: buffer(u32, "write") }, workgroup: [256] },
      ({ to }, gpu) => to.set(gpu.localIndex, 0),
    );
    const broken: Test = {
      ...atomics,
      plan: (setup) => {
        const plan = atomics.plan(setup);
        const [first, ...others] = plan.cases.slice(0, 2) as [(typeof plan.cases)[0], (typeof plan.cases)[0]];
        const { to } = first.launch.args as { to: (typeof first.launch.args)[string] };
        return {
          ...plan,
          cases: [{ ...first, launch: { ...first.launch, kernel: wrong, args: { to } } }, ...others],
        };
      },
    };
    const [run] = runHip(suite([broken], "hip", "tiny"), 64);
    expect(run?.status, run?.output).toBe(1);
    expect(run?.output).toMatch(/^global memory, one word .* FAIL: 1 wrong results, the first at 0$/m);
    expect(run?.output).toMatch(/^2 measured, 1 with wrong results\nFAIL microbench$/m);
  });
});

describe("what a target cannot have is refused", () => {
  it("a width of subgroups", () => {
    expect(() => emitSuite(tests, { target: "cuda", subgroup: 64, file: "x" })).toThrow(
      /warps have 32 lanes/,
    );
  });
});
