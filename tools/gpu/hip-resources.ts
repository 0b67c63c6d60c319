/**
 * Registers, shared memory (LDS) and spills of every rung of the attention ladder on AMD GPUs, as clang-19 compiles
 * them. Prints one JSON document.
 *
 *     node tools/gpu/hip-resources.ts
 */

import { ladder } from "@evolver/attention";
import { study } from "@evolver/attention/study";
import { emit } from "@evolver/kernel";
import { clang, compileHip } from "../../test/support/compilers.ts";

const TARGETS = [
  { architecture: "gfx90a", subgroup: 64 },
  { architecture: "gfx942", subgroup: 64 },
  { architecture: "gfx1100", subgroup: 32 },
] as const;
const SHAPE = "B1,Hq32,Hkv8,S512,D128,causal";

if (clang === null) {
  process.stderr.write("clang-19 is not here: apt-get install clang-19\n");
  process.exit(2);
}
const input = await study.parseInput({ shape: SHAPE });
const rows = TARGETS.flatMap(({ architecture, subgroup }) =>
  ladder.map(({ id: rung }) => {
    const candidate = { kind: "rung", id: rung } as const;
    const kernel = study.kernel?.({ candidate, input, target: "hip", subgroup }).kernel;
    if (kernel === undefined) throw new Error("the study emits no kernels");
    const { ok, log, output } = compileHip(
      [{ name: rung, source: emit(kernel, "hip").source }],
      architecture,
    );
    if (!ok) throw new Error(log);
    const text = new TextDecoder().decode(output);
    const count = (name: string): number => Number(new RegExp(`\\.${name}: *(\\d+)`).exec(text)?.[1]);
    return {
      rung,
      architecture,
      wavefront: subgroup,
      vectorRegisters: count("vgpr_count"),
      scalarRegisters: count("sgpr_count"),
      ldsBytes: count("group_segment_fixed_size"),
      vectorSpills: count("vgpr_spill_count"),
      scalarSpills: count("sgpr_spill_count"),
    };
  }),
);
process.stdout.write(`${JSON.stringify({ shape: SHAPE, rows }, null, 2)}\n`);
