/** Self-tests: a kernel with a program around it that a person builds and runs by hand. */

import { assertNever, EvolverError } from "@evolver/base";
import type { KernelIR } from "../../ir/nodes.ts";
import { emit } from "../emit.ts";
import type { Emitted, EmitOptions } from "../core/result.ts";
import { NATIVE_GRID } from "../cpp/hosts.ts";
import type { EmitTarget } from "../targets.ts";
import { cppSelftest } from "./cpp.ts";
import { jsSelftest } from "./js.ts";
import { wgslSelftest } from "./wgsl.ts";
import { checkSelftest, withLengths, type Selftest } from "./spec.ts";

/** A self-test's file, in place of the kernel's own. */
export type EmittedSelftest = Pick<Emitted, "target" | "source" | "entryPoint" | "lowering" | "subgroupSize">;

/**
 * A kernel and a program that tests it, in one file: `nvcc k03.cu && ./a.out`, `hipcc k03.hip && ./a.out`,
 * `node k03.mjs`; for WGSL a module for pages and for Node with the package `webgpu`.
 *
 * @param file the file's name without extension, for the command in its header
 * @throws EvolverError SELFTEST_INVALID, SELFTEST_TOO_LARGE, SELFTEST_EMPTY, and what `emit` throws
 */
export function emitSelftest(
  ir: KernelIR,
  target: EmitTarget,
  selftest: Selftest,
  file = ir.name,
): EmittedSelftest {
  checkSelftest(ir, selftest);
  const complete = withLengths(ir, selftest);
  const [x, y, z] = selftest.workgroups;
  if (x * y * z > NATIVE_GRID.x || x * y * z < 1) {
    throw new EvolverError(
      "SELFTEST_INVALID",
      `a self-test launches 1 to ${NATIVE_GRID.x} workgroups, not ${x * y * z}`,
    );
  }
  const grid = y > NATIVE_GRID.y || z > NATIVE_GRID.z ? "linear" : "native";
  const emitted = emit(ir, target, OPTIONS[target] ?? { grid });
  const source = sourceOf(ir, emitted, complete, file);
  const { entryPoint, lowering, subgroupSize } = emitted;
  return { target, source, entryPoint, lowering, subgroupSize };
}

/** WGSL numbers workgroups itself, and not every browser tells an invocation its subgroup. */
const OPTIONS: Partial<Record<EmitTarget, EmitOptions>> = { js: {}, wgsl: { subgroupId: "computed" } };

function sourceOf(ir: KernelIR, emitted: Emitted, selftest: Selftest, file: string): string {
  const { target } = emitted;
  switch (target) {
    case "js":
      return jsSelftest(ir, emitted, selftest, file);
    case "wgsl":
      return wgslSelftest(ir, emitted, selftest, file);
    case "cuda":
    case "hip":
      return cppSelftest(ir, emitted, target, selftest, file);
    default:
      return assertNever(target, "target");
  }
}
