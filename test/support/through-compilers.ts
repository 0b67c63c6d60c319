/** Tests that kernels go through the compilers of every target: nvcc, clang-19 and Dawn. */

import { afterAll, describe, expect, it } from "vitest";
import { emit, emitTargets } from "@evolver/kernel";
import type { EmitTarget, Kernel } from "@evolver/kernel";
import { clang, compileCuda, compileHip, nvcc, openWgsl, type NamedSource } from "./compilers.ts";
import { requireOptional } from "./optional.ts";

export type Build = (
  target: EmitTarget,
  subgroup: number,
) => { readonly name: string; readonly kernel: Kernel };

export interface Compilation {
  readonly cuda: { readonly architectures: readonly string[]; readonly options: readonly string[] };
  /** Architectures with wavefronts of 64, and of 32. */
  readonly hip: {
    readonly wide: readonly string[];
    readonly narrow: readonly string[];
    readonly options: readonly string[];
  };
  /** Subgroup widths for WGSL; none where it need not be tried. */
  readonly wgsl: readonly number[];
}

/** One test a compiler, or one a width. No compiler may say anything. */
export async function throughCompilers(
  what: string,
  builds: readonly Build[],
  { cuda, hip, wgsl: widths }: Compilation,
): Promise<void> {
  requireOptional(
    "nvcc",
    nvcc !== null,
    "install the CUDA toolkit",
  )("CUDA", () => {
    it(`compiles ${what}`, () => {
      expect(compileCuda(sources("cuda", 32, builds), cuda.architectures, cuda.options).log).toBe("");
    });
  });

  requireOptional(
    "clang-19",
    clang !== null,
    "apt-get install clang-19 lld-19",
  )("HIP", () => {
    it(`compiles ${what}`, () => {
      for (const [subgroup, architectures] of [
        [64, hip.wide],
        [32, hip.narrow],
      ] as const)
        for (const architecture of architectures)
          expect(compileHip(sources("hip", subgroup, builds), architecture, hip.options).log).toBe("");
    });
  });

  if (widths.length === 0) return;
  const dawn = await openWgsl();
  afterAll(() => dawn?.close());
  requireOptional(
    "the npm package webgpu",
    dawn !== null,
    "npm ci without --omit=optional",
  )("WGSL", () => {
    describe.each(widths)("with subgroups of %d", (subgroup) => {
      it(`takes ${what}`, async () => {
        for (const { name, source } of sources("wgsl", subgroup, builds))
          expect(await dawn?.check(source), name).toBe("");
      });
    });
  });
}

function sources(target: EmitTarget, subgroup: number, builds: readonly Build[]): NamedSource[] {
  const { forwardProgress } = emitTargets[target];
  return builds.map((build) => {
    const { name, kernel } = build(target, subgroup);
    const { source, entryPoint } = emit(kernel.build({ subgroup, forwardProgress }), target);
    // Kernels may share a name; symbols of one file must differ.
    return { name, source: source.replaceAll(new RegExp(`\\b${entryPoint}\\(`, "g"), `${name}(`) };
  });
}
