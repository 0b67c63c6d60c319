/** What nvcc makes of the timed loops: the instruction that is measured, and next to nothing else. */

import { emit } from "@evolver/kernel";
import { expect, it } from "vitest";
import { compileCubin, compilePtx, nvcc } from "../../../../test/support/compilers.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import { loopsOf } from "../../../../test/support/sass.ts";
import { setupOf } from "@evolver/machine/internal";
import { tests } from "@evolver/machine/internal";

const setup = setupOf(
  {
    subgroupSize: 32,
    forwardProgress: true,
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

function sourceOf(test: string, id: string): string {
  const found = tests
    .find((one) => one.id === test)
    ?.plan(setup)
    .cases.find((one) => one.id === id);
  if (found === undefined) throw new Error(`there is no case ${test} ${id}`);
  return emit(found.launch.kernel.build({ subgroup: 32 }), "cuda").source;
}

/** Instructions of the longest stretch of PTX that branches back to its beginning, by name, and their text. */
function loopOf(test: string, id: string): { counts: Map<string, number>; text: string; total: number } {
  const ptx = compilePtx({ name: id, source: sourceOf(test, id) }, ["--fmad=false"]);
  const loops = [...ptx.matchAll(/^(\$\w+):([^]*?)^\s*@%p\d+ bra\S*\s+(\$\w+);/gm)].filter(
    ([, label, , target]) => label === target,
  );
  const text = loops.map(([, , body]) => body as string).toSorted((a, b) => b.length - a.length)[0] ?? "";
  const names = [...text.matchAll(/^\s*([a-z][\w.]*)\s.*;/gm)].map(([, name]) => name as string);
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return { counts, text, total: names.length };
}

/** Instructions of each loop in machine code, by name. */
const machineLoopsOf = (test: string, id: string): ReadonlyMap<string, number>[] =>
  loopsOf(compileCubin({ name: id, source: sourceOf(test, id) }, "sm_90a", ["--fmad=false"]));

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

requireOptional(
  "nvcc",
  nvcc !== null,
  "install the CUDA toolkit",
)("in machine code", () => {
  // The words of an iteration are 8 loads of 1, 2 or 4, and IADD3 adds two of them.
  const columns = ["row-major", "padded", "swizzled"].map((layout) => `column.${layout}`);
  const cases = ["stride", ...columns].flatMap((name) =>
    ([1, 2, 4] as const).map((width) => ({
      id: name === "stride" ? `stride.v${width}.s1` : `${name}.v${width}`,
      width,
    })),
  );
  it.each(cases)("$id: each word that is summed is loaded, by loads of that width", ({ id, width }) => {
    const name = width === 1 ? "LDS" : `LDS.${32 * width}`;
    const timed = machineLoopsOf("shared", id).filter((loop) => !loop.has("STS"));
    expect(timed.length).toBeGreaterThan(0);
    for (const loop of timed) {
      const loads = loop.get(name) ?? 0;
      expect(loads).toBeGreaterThanOrEqual(8);
      expect(loads % 8).toBe(0);
      expect(loads * width).toBe(2 * (loop.get("IADD3") ?? 0));
      expect([...loop.keys()].filter((other) => other.startsWith("LDS"))).toEqual([name]);
    }
    // A multiprocessor starts four instructions in the clock that a pass takes, and a load of width w takes w passes.
    const [longest] = timed.toSorted((a, b) => (b.get(name) ?? 0) - (a.get(name) ?? 0));
    const total = [...(longest ?? [])].reduce((sum, [, count]) => sum + count, 0);
    expect(total / (longest?.get(name) ?? 0)).toBeLessThanOrEqual(4 * width);
  });

  it.each(["one", "subgroup", "each"])("atomics on %s: as many as are counted", (spread) => {
    for (const [place, name] of [
      ["global", "ATOMG"],
      ["shared", "ATOMS"],
    ] as const) {
      const loops = machineLoopsOf("atomics", `atomic.${place}.${spread}`);
      expect(loops.length).toBeGreaterThan(0);
      for (const loop of loops) {
        const count = loop.get(name) ?? 0;
        expect(count).toBeGreaterThanOrEqual(8);
        // What is seen is combined two at a time: were additions gathered, fewer of them would stand in the loop.
        expect(loop.get("LOP3")).toBe(count / 2);
      }
    }
  });
});
