/**
 * Emitted HIP programs, built for this machine's processor and run: that right ones pass in any order of lanes, and that
 * running them shows what compiling them cannot.
 */

import { expect, it } from "vitest";
import { buffer, emitSelftest, f32, kernel, uniformValues, type Selftest } from "@evolver/kernel";
import { cpp, runHip, type HipRun } from "../../../../test/support/compilers.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import { pipelined } from "./zoo-async.ts";

/** Each workgroup of four subgroups turns its part of x round, through shared memory, and adds the subgroup's sum. */
const turned = kernel(
  "turned",
  {
    params: { x: buffer(f32), out: buffer(f32, "write") },
    workgroup: ({ subgroup }) => [4 * subgroup],
  },
  ({ x, out }, gpu) => {
    const size = 4 * gpu.subgroupSize;
    const tile = gpu.shared(f32, size, "tile");
    tile.set(gpu.localIndex, x.get(gpu.globalId.x));
    gpu.barrier();
    const mine = tile.get(gpu.localIndex.xor(size - 1));
    const total = gpu.subgroup.sum(mine);
    out.set(gpu.globalId.x, mine.add(total));
  },
);

function program(subgroup: 32 | 64): string {
  const size = 4 * subgroup;
  const length = 2 * size;
  const x = uniformValues(length, 5).map((value) => Math.round(value * 64) / 64);
  const back = x.map((_, i) => x[i - (i % size) + (size - 1 - (i % size))] as number);
  const values = back.map((mine, i) => {
    const first = i - (i % subgroup);
    return mine + back.subarray(first, first + subgroup).reduce((sum, value) => sum + value, 0);
  });
  const selftest: Selftest = {
    title: "turned",
    workgroups: [2, 1, 1],
    args: {
      x: { length, contents: { kind: "values", values: x } },
      out: { length, contents: { kind: "unset" }, expected: { values, tolerance: null } },
    },
  };
  return emitSelftest(turned.build({ subgroup }), "hip", selftest).source;
}

const withCompiler = requireOptional("g++ or clang-19", cpp !== null, "apt-get install g++");
withCompiler("HIP run on the processor", () => {
  it.each([32, 64] as const)("passes with wavefronts of %d, whatever the order of lanes", (subgroup) => {
    const runs = runHip(program(subgroup), subgroup, ["ascending", "descending", "1", "2"]);
    expect(runs).toHaveLength(4);
    for (const { status, output } of runs) {
      expect(output).toContain("PASS turned");
      expect(status).toBe(0);
    }
  });

  /** What a program does that is right but for one place. */
  const runBroken = (find: string | RegExp, instead: string): HipRun => {
    const text = program(64);
    const changed = text.replace(find, instead);
    expect(changed).not.toBe(text);
    return runHip(changed, 64)[0] as HipRun;
  };

  it("passes data through a pipeline between wavefronts in any order of lanes, and fails without waits", () => {
    const fills = 7;
    const length = 2 * 64;
    const x = uniformValues(fills * 64, 9).map((value) => Math.round(value * 64) / 64);
    const values = x.slice(0, length).map((_, i) => {
      if (i < 64) return 0;
      return Array.from({ length: fills }, (_u, t) => x[t * 64 + ((i % 64) ^ 1)] as number).reduce(
        (a, b) => a + b,
        0,
      );
    });
    const { source } = emitSelftest(pipelined.build({ subgroup: 64 }), "hip", {
      title: "pipelined",
      workgroups: [1, 1, 1],
      args: {
        x: { length: fills * 64, contents: { kind: "values", values: x } },
        y: { length, contents: { kind: "unset" }, expected: { values, tolerance: null } },
        n: fills,
      },
    });
    const orders = ["ascending", "descending", "1", "2"];
    for (const { output, status } of runHip(source, 64, orders)) {
      expect(output).toContain("PASS pipelined");
      expect(status).toBe(0);
    }
    const hasty = source.replace(/^ *awaitPhase\(&pipeline.*$/gm, "");
    expect(hasty).not.toBe(source);
    expect(runHip(hasty, 64, ["descending"])[0]?.output).toContain("FAIL pipelined");
  });

  it("fails without the barrier, since nothing stands in shared memory yet", () => {
    const { status, output } = runBroken(/^ *__syncthreads\(\);$/m, "");
    expect(output).toMatch(/out\[\d+\] is -?nan, not/);
    expect(status).toBe(1);
  });

  it("fails where a sum leaves out half of the wavefront", () => {
    const { status, output } = runBroken("int offset = 32;", "int offset = 16;");
    expect(output).toContain("FAIL turned");
    expect(status).toBe(1);
  });

  it("stops where lanes of a wavefront part before an operation that all must reach", () => {
    const { status, output } = runBroken(
      /const float total = (.*);/,
      "float total = 0; if (threadIdx.x % 64 < 40) total = $1;",
    );
    expect(output).toMatch(/a workgroup is stuck: 160 lanes wait at a cross-lane operation/);
    expect(status).toBe(2);
  });

  it("stops where a barrier is not reached by all", () => {
    const { status, output } = runBroken("  __syncthreads();", "  if (threadIdx.x < 100) __syncthreads();");
    expect(output).toMatch(/a workgroup is stuck: .* 100 at __syncthreads/);
    expect(status).toBe(2);
  });
});
