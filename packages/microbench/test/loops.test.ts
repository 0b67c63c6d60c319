/** What nvcc makes of the timed loops: the instruction that is measured, and next to nothing else. */

import { emit } from "@evolver/kernel";
import { expect, it } from "vitest";
import { compilePtx, nvcc } from "../../../test/support/compilers.ts";
import { requireOptional } from "../../../test/support/optional.ts";
import { setupOf } from "../src/run.ts";
import { tests } from "../src/tests/index.ts";

const setup = setupOf(
  {
    subgroupSize: 32,
    waits: true,
    limits: {
      subgroupSizes: [32],
      maxInvocationsPerWorkgroup: 1024,
      maxSharedBytes: 48 * 1024,
      maxBufferBytes: 2 ** 36,
      maxWorkgroups: 2 ** 31 - 1,
    },
  },
  "full",
  true,
);

/** Instructions of the longest stretch of PTX that branches back to its beginning, by name, and their text. */
function loopOf(test: string, id: string): { counts: Map<string, number>; text: string; total: number } {
  const found = tests
    .find((one) => one.id === test)
    ?.plan(setup)
    .cases.find((one) => one.id === id);
  if (found === undefined) throw new Error(`there is no case ${test} ${id}`);
  const { source } = emit(found.launch.kernel.build({ subgroup: 32 }), "cuda");
  const ptx = compilePtx({ name: id, source }, ["--fmad=false"]);
  const loops = [...ptx.matchAll(/^(\$\w+):([^]*?)^\s*@%p\d+ bra\S*\s+(\$\w+);/gm)].filter(
    ([, label, , target]) => label === target,
  );
  const text = loops.map(([, , body]) => body as string).toSorted((a, b) => b.length - a.length)[0] ?? "";
  const names = [...text.matchAll(/^\s*([a-z][\w.]*)\s.*;/gm)].map(([, name]) => name as string);
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return { counts, text, total: names.length };
}

requireOptional(
  "nvcc",
  nvcc !== null,
  "install the CUDA toolkit",
)("in PTX", () => {
  it("the loop of fma is at least 98 % fma", () => {
    const { counts, total } = loopOf("arithmetic", "fma.throughput.b256.c8");
    expect(counts.get("fma.rn.f32")).toBeGreaterThanOrEqual(256);
    expect((counts.get("fma.rn.f32") as number) / total).toBeGreaterThan(0.98);
  });

  it("each load of a chase takes its address from the one before", () => {
    const { counts } = loopOf("chase", "chase.4096");
    const loads = [...counts].filter(([name]) => name.startsWith("ld.global"));
    expect(loads).toEqual([[expect.stringMatching(/u32$/), expect.any(Number)]]);
    expect(loads[0]?.[1]).toBeGreaterThanOrEqual(16);
  });

  it("loads from shared memory stay in the loop, and their addresses cost nothing", () => {
    const { counts, text, total } = loopOf("shared", "stride.v1.s1");
    const loads = counts.get("ld.shared.u32") ?? counts.get("ld.shared.b32") ?? 0;
    expect(loads).toBeGreaterThanOrEqual(8);
    expect(text).toMatch(/ld\.shared\.[ub]32\s+%r\d+, \[%r\d+\+128\];/);
    // Below the four instructions that a multiprocessor starts in the clock that a load takes.
    expect(total / loads).toBeLessThan(4);
  });
});
