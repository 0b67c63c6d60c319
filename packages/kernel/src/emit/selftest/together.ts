/** Several kernels in one C++ file, each with its helpers in a namespace of its own, for programs that run many of them. */

import { EvolverError } from "@evolver/base";
import type { KernelIR } from "../../ir/nodes.ts";
import { emit } from "../emit.ts";
import type { CppTarget } from "../cpp/hosts.ts";
import { hipPrologue } from "../cpp/hip-prologue.ts";
import type { Emitted } from "../core/result.ts";

/** Several kernels in one source file. */
export interface EmittedTogether {
  readonly source: string;
  /** In the order given. A kernel's function is `entryPoint` in the namespace `in_entryPoint`. */
  readonly kernels: readonly Emitted[];
}

/** What each HIP file begins with, which has to be there once: the names that it needs, and the check of the width. */
const HIP_BEGINNING =
  /#if defined\(__HIPCC_RTC__\)[^]*?\n(#pragma clang fp contract\(off\)\n+#if defined\(__HIP_DEVICE_COMPILE__\)[^]*?#endif\n)/;

/**
 * @throws EvolverError DUPLICATE_KERNEL where two kernels have one name, and what `emit` throws
 */
export function emitTogether(irs: readonly KernelIR[], target: CppTarget): EmittedTogether {
  const kernels = irs.map((ir) => emit(ir, target));
  const names = kernels.map(({ entryPoint }) => entryPoint);
  const double = names.find((name, k) => names.indexOf(name) !== k);
  if (double !== undefined)
    throw new EvolverError("DUPLICATE_KERNEL", `two kernels of one file are called "${double}"`, {
      hint: "give each kernel a name of its own",
    });
  let beginning = "";
  const bodies = kernels.map(({ source, entryPoint }) => {
    const own = target === "hip" ? HIP_BEGINNING.exec(source) : null;
    if (own !== null) beginning = own[1] as string;
    const body = own === null ? source : source.replace(own[0], "");
    return `namespace in_${entryPoint} {\n${body.trim()}\n}  // namespace in_${entryPoint}\n`;
  });
  const all = bodies.join("\n");
  if (target === "cuda") return { source: all, kernels };
  const prologue = hipPrologue(all);
  const rest = beginning.replace("#pragma clang fp contract(off)\n", "").trim();
  return { source: `${prologue}\n\n${rest}\n\n${all}`, kernels };
}
