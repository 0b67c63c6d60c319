/** Every kernel of the project, and programs made at random, go through the compilers of every target. */

import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { denseProblemStrides, fitPoint, ladder, planAttention, targetLimits } from "@evolver/attention";
import type { AttentionProblem } from "@evolver/attention";
import { emit, emitTargets } from "@evolver/kernel";
import type { EmitTarget, Kernel } from "@evolver/kernel";
import { programs } from "../packages/device/test/property/generate.ts";
import { recordProgram } from "../packages/device/test/property/record.ts";
import { clang, compileCuda, compileHip, nvcc, openWgsl, type NamedSource } from "./support/compilers.ts";
import { requireOptional } from "./support/optional.ts";

const shape = { batch: 2, headsQ: 4, headsKv: 2, seqQ: 100, seqK: 130, dim: 64 };
const plain: AttentionProblem = {
  shape,
  mask: { kind: "causal" },
  scale: 0.125,
  softcap: 0,
  strides: denseProblemStrides(shape),
};
const odd = { ...shape, dim: 80 };
const windowed: AttentionProblem = {
  shape: odd,
  mask: { kind: "window", left: 10, right: 3 },
  scale: 0.25,
  softcap: 30,
  strides: denseProblemStrides(odd),
};

type Build = (target: EmitTarget, subgroup: number) => { readonly name: string; readonly kernel: Kernel };

const builds: readonly Build[] = ladder.flatMap((rung) =>
  [plain, windowed].flatMap((problem, p) =>
    Object.entries({ itself: rung.point, ...rung.variants }).map(
      ([variant, point]): Build =>
        (target, subgroup) => {
          const fitted = fitPoint(point, problem, subgroup, targetLimits(target));
          const { kernel } = planAttention(fitted, problem, { subgroup, writeLse: p === 0 });
          return {
            name: `${rung.id}_${variant.replaceAll(/\W/g, "_")}_${p}`,
            kernel: kernel as unknown as Kernel,
          };
        },
    ),
  ),
);

/** Small, and the same in each run. */
const random = fc.sample(programs, { numRuns: 12, seed: 7 }).map((program, k): Build => () => ({
  name: `random${k}`,
  kernel: recordProgram(program) as unknown as Kernel,
}));

function sources(target: EmitTarget, subgroup: number, from: readonly Build[]): NamedSource[] {
  return from.map((build) => {
    const { name, kernel } = build(target, subgroup);
    const { source, entryPoint } = emit(
      kernel.build({ subgroup, forwardProgress: emitTargets[target].forwardProgress }),
      target,
    );
    // Rungs share a kernel's name; symbols of one file must differ.
    return { name, source: source.replaceAll(new RegExp(`\\b${entryPoint}\\(`, "g"), `${name}(`) };
  });
}

/** What was written by hand compiles without a warning; what was made at random may well be odd. */
const groups: readonly (readonly [string, readonly Build[], readonly string[]])[] = [
  ["every rung", builds, []],
  ["random programs", random, ["-w"]],
];

const withNvcc = requireOptional("nvcc", nvcc !== null, "install the CUDA toolkit");
withNvcc("CUDA", () => {
  // Three architectures, one after another, also on a machine that does other things.
  it.each(groups)("compiles %s", (_, from, options) => {
    // Random programs differ little between architectures; the rungs are compiled for all.
    const architectures = from === builds ? ["sm_80", "sm_89", "sm_90a"] : ["sm_90a"];
    expect(compileCuda(sources("cuda", 32, from), architectures, options).log).toBe("");
  });
});

const withClang = requireOptional("clang-19", clang !== null, "apt-get install clang-19 lld-19");
withClang("HIP", () => {
  it.each(groups)("compiles %s", (_, from, options) => {
    for (const architecture of from === builds ? ["gfx90a", "gfx942"] : ["gfx942"])
      expect(compileHip(sources("hip", 64, from), architecture, options).log).toBe("");
    expect(compileHip(sources("hip", 32, from), "gfx1100", options).log).toBe("");
  });
});

const wgsl = await openWgsl();
afterAll(() => wgsl?.close());

const withDawn = requireOptional("the npm package webgpu", wgsl !== null, "npm ci without --omit=optional");
withDawn("WGSL", () => {
  describe.each([4, 32, 64])("with subgroups of %d", (subgroup) => {
    it("takes every rung", async () => {
      for (const { name, source } of sources("wgsl", subgroup, builds))
        expect(await wgsl?.check(source), name).toBe("");
    });
  });
});
