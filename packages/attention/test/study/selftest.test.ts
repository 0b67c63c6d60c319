/** Self-tests of rungs that copy ahead or keep a counter, and of variants, as HIP programs run on this machine's processor, and as CUDA. */

import { emitSelftest } from "@evolver/kernel";
import { expect, it } from "vitest";
import { compileCuda, cpp, nvcc, runHip } from "../../../../test/support/compilers.ts";
import { requireOptional } from "../../../../test/support/optional.ts";
import { study } from "@evolver/attention/study";

const SHAPE = "Hq4,Hkv2,S21,D16,causal";

const input = await study.parseInput({ shape: SHAPE });

function programOf(id: string, target: "hip" | "cuda" = "hip"): string {
  const candidate = { kind: "rung", id } as const;
  const { kernel, selftest } = study.kernel!({ candidate, input, target, subgroup: 32 });
  return emitSelftest(kernel, target, selftest).source;
}

requireOptional(
  "nvcc",
  nvcc !== null,
  "install the CUDA toolkit",
)("CUDA", () => {
  it("compiles the self-test of a variant, which its title names", () => {
    const source = programOf("k11 half tiles", "cuda");
    expect(source).toContain("attention/k11 half tiles, ");
    expect(compileCuda([{ name: "half_tiles", source }], ["sm_90a"]).log).toBe("");
  });
});

const withCompiler = requireOptional("g++ or clang-19", cpp !== null, "apt-get install g++");
withCompiler("HIP run on the processor", () => {
  it.each(["k05", "k06", "k07", "k08", "k10", "k11", "k12", "k11 half tiles", "k12 causal"])(
    "%s passes",
    (rung) => {
      for (const { status, output } of runHip(programOf(rung), 32, ["ascending", "descending"])) {
        expect(output).toContain("PASS flash_attention");
        expect(status).toBe(0);
      }
    },
  );

  it("fails where the counter is not set back, though all else is right", () => {
    const source = programOf("k08");
    const changed = source.replace(/^ *__hip_atomic_store\(&tiles.*$/m, "");
    expect(changed).not.toBe(source);
    const [run] = runHip(changed, 32);
    expect(run?.output).toMatch(/^tiles\[0\] is \d+, not 0/m);
    expect(run?.output).toMatch(/^o: largest error/m);
    expect(run?.status).toBe(1);
  });
});
