/** Real compilers take what the emitters write, for every operation of the language. */

import { afterAll, describe, expect, it } from "vitest";
import { emit, emitTargets } from "@evolver/kernel";
import type { EmitOptions, EmitTarget } from "@evolver/kernel";
import { requireOptional } from "../../../../test/support/optional.ts";
import {
  clang,
  compileCuda,
  compileHip,
  compilePtx,
  nvcc,
  openWgsl,
  type NamedSource,
} from "../../../../test/support/compilers.ts";
import { zoo } from "./zoo.ts";

function sources(target: EmitTarget, subgroup: number, options: EmitOptions = {}): NamedSource[] {
  return Object.entries(zoo).map(([name, kernel]) => ({
    name,
    source: emit(
      kernel.build({ subgroup, forwardProgress: emitTargets[target].forwardProgress }),
      target,
      options,
    ).source,
  }));
}

const ARCHITECTURES = ["sm_80", "sm_89", "sm_90a"];

const withNvcc = requireOptional("nvcc", nvcc !== null, "install the CUDA toolkit");
withNvcc("CUDA", () => {
  it("compiles for every architecture", () => {
    expect(compileCuda(sources("cuda", 32), ARCHITECTURES).log).toBe("");
  });

  it("compiles for GPUs from before asynchronous copies", () => {
    const asynchronous = sources("cuda", 32).filter(({ name }) => name === "copies" || name === "pipelined");
    expect(asynchronous).toHaveLength(2);
    expect(compileCuda(asynchronous, ["sm_75"], ["-Wno-deprecated-gpu-targets"]).log).toBe("");
  });

  it("asks for asynchronous copies and phase barriers by their instructions", () => {
    const ptx = (name: "copies" | "pipelined"): string =>
      compilePtx({ name, source: emit(zoo[name].build({ subgroup: 32 }), "cuda").source });
    for (const instruction of [
      /cp\.async\.cg\.shared\.global \[%\w+\], \[%\w+\], 16/,
      /cp\.async\.ca/,
      /cp\.async\.wait_group 1/,
    ])
      expect(ptx("copies")).toMatch(instruction);
    for (const instruction of [
      /mbarrier\.init\.shared/,
      /cp\.async\.mbarrier\.arrive\.noinc/,
      /test_wait\.parity/,
    ])
      expect(ptx("pipelined")).toMatch(instruction);
  });

  it("compiles with line directives and a linear grid", () => {
    const all = sources("cuda", 32, { lineDirectives: true, grid: "linear" });
    expect(compileCuda(all, ["sm_90a"]).log).toBe("");
  });

  it("never fuses a product with a sum that the kernel keeps apart", () => {
    const { source } = emit(zoo.names.build({ subgroup: 32 }), "cuda");
    expect(compilePtx({ name: "names", source })).toMatch(/mul\.rn\.f32/);
    expect(compilePtx({ name: "names", source })).not.toMatch(/fma\.rn\.f32/);
    const careless = source.replace(/__fmul_rn\((\w+), (\w+)\)/, "($1 * $2)");
    expect(compilePtx({ name: "careless", source: careless })).toMatch(/fma\.rn\.f32/);
  });

  it("refuses what is wrong", () => {
    const { ok, log } = compileCuda(
      [{ name: "wrong", source: "__global__ void k() { undeclared(); }" }],
      ["sm_90a"],
    );
    expect(ok).toBe(false);
    expect(log).toContain("undeclared");
  });
});

const withClang = requireOptional("clang-19", clang !== null, "apt-get install clang-19 lld-19");
withClang("HIP", () => {
  it.each([
    ["gfx90a", 64, []],
    ["gfx942", 64, []],
    ["gfx1100", 32, []],
    ["gfx1100", 64, ["-mwavefrontsize64"]],
  ] as const)("compiles for %s with wavefronts of %d", (architecture, subgroup, options) => {
    const { log, output } = compileHip(sources("hip", subgroup), architecture, options);
    expect(log).toBe("");
    const text = new TextDecoder().decode(output);
    expect(text.match(/\.vgpr_spill_count: *(\d+)/g)?.length).toBe(Object.keys(zoo).length);
    expect(text).not.toMatch(/\.vgpr_spill_count: *[1-9]/);
  });

  it("is refused by a GPU with other wavefronts", () => {
    const { ok, log } = compileHip(sources("hip", 32), "gfx942");
    expect(ok).toBe(false);
    expect(log).toContain("this kernel is built for wavefronts of 32");
  });

  it("never fuses a product with a sum that the kernel keeps apart", () => {
    const all = sources("hip", 64).filter(({ name }) => name === "names");
    const text = new TextDecoder().decode(compileHip(all, "gfx942").output);
    expect(text).toMatch(/v_(pk_)?mul_f32/);
    expect(text).not.toMatch(/v_(fma|mac|pk_fma)c?_f32/);
  });
});

const wgsl = await openWgsl();
afterAll(() => wgsl?.close());

const withDawn = requireOptional("the npm package webgpu", wgsl !== null, "npm ci without --omit=optional");
withDawn("WGSL", () => {
  const variants: readonly (readonly [string, EmitOptions])[] = [
    ["as it is by default", {}],
    ["with a native grid", { grid: "native" }],
    ["without shader-f16", { shaderF16: false }],
    ["with built-in sums and computed subgroup ids", { subgroupSums: "builtin", subgroupId: "computed" }],
  ];
  describe.each(variants)("%s", (_, options) => {
    it.each([4, 32, 64])("is valid for subgroups of %d", async (subgroup) => {
      for (const { name, source } of sources("wgsl", subgroup, options)) {
        expect(await wgsl?.check(source), name).toBe("");
        if (name !== "large") expect(await wgsl?.checkPipeline(source), name).toBeNull();
      }
    });
  });

  it("is refused where it is wrong", async () => {
    expect(await wgsl?.check("fn f() -> f32 { return 1u; }")).toMatch(/^error: /);
  });
});
