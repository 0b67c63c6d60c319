/**
 * Emits a kernel as WGSL. All scalars go in one uniform struct, after them the true numbers of workgroups where the
 * grid is "linear"; buffers are the bindings of group 0 in order. What WGSL lacks is in the lowering report.
 */

import { EvolverError } from "@evolver/base";
import type { KernelIR } from "../../ir/nodes.ts";
import type { Code, Language } from "../core/code.ts";
import { copiesAtOnce, noPhaseBarriers } from "../core/defaults.ts";
import { call, infix, simple } from "../core/expression.ts";
import { ofType } from "../core/helpers.ts";
import { builtinName } from "../core/names.ts";
import type { EmitOptions } from "../core/result.ts";
import type { ControlFlow, Inputs, Target, TargetDefinition } from "../core/target.ts";
import { surveyOf } from "../core/uses.ts";
import { subgroupOperations } from "../subgroups.ts";
import { wgslAtomic } from "./atomics.ts";
import { hidingConstants } from "./constants.ts";
import { isLinear, wgslEntry } from "./entry.ts";
import { withHalves } from "./half.ts";
import { hasF16, wgslLanguage } from "./language.ts";
import { wgslMemory } from "./memory.ts";
import { chosen, wgslOperations } from "./operations.ts";
import { subgroupBarrierCheck } from "./subgroups.ts";
import { withZeros } from "./zeros.ts";

export const wgsl: TargetDefinition = {
  name: "wgsl",
  language,
  target,
};

/** @throws EvolverError DYNAMIC_UNIFORMITY for a kernel whose uniformity is not proved, which WebGPU refuses */
function language(ir: KernelIR, options: EmitOptions): Language {
  if (ir.uniformity === "dynamic") {
    throw new EvolverError(
      "DYNAMIC_UNIFORMITY",
      `kernel "${ir.name}" leaves its uniformity to be checked at run time, and WebGPU refuses such kernels`,
      {
        where: [ir.site.location],
        hint: 'make conditions around barriers uniform (gpu.uniformLoad helps) and drop uniformity: "dynamic"',
      },
    );
  }
  return wgslLanguage(ir, hasF16(ir, options));
}

function target(code: Code): Target {
  const { ir, options } = code;
  const f16 = hasF16(ir, options);
  const hasReadWrite = ir.params.some(
    (param) => param.kind === "buffer" && param.memory.access === "read_write",
  );
  const memory = wgslMemory(code, f16, hasReadWrite);
  const checkBarrier = subgroupBarrierCheck(code);
  const barrier = (): void => {
    if (hasReadWrite) code.line("storageBarrier();");
    code.line("workgroupBarrier();");
  };
  return {
    inputs: inputs(code),
    operations: hidingConstants(code, withZeros(withHalves(wgslOperations, f16), f16)),
    memory,
    flow: flow(code),
    barriers: {
      workgroup: barrier,
      subgroup(node) {
        checkBarrier(node);
        code.note("subgroup barrier", "workgroupBarrier()", true);
        barrier();
      },
    },
    copies: copiesAtOnce(code, memory, chosen),
    phaseBarriers: noPhaseBarriers(code),
    atomic: (node, index, operands) => wgslAtomic(code, node, index, operands),
    subgroup: (node, operands) =>
      subgroupOperations[node.op].wgsl({
        code,
        node,
        operands,
        isExact: options.subgroupSums !== "builtin",
      }),
    entry: wgslEntry(code, memory, { f16, subgroups: surveyOf(ir).hasSubgroupOperations }),
  };
}

const flow = (code: Code): ControlFlow => ({
  endless: "loop {",
  forHeader({ node, name, from, to, step, passesEnd }) {
    const test = infix(node.direction === "up" ? "<" : ">", simple(name), to).text;
    const next = passesEnd
      ? `${name} = ${call(code.helper(ofType("advance", node.induction.type)), simple(name), step, to).text}`
      : `${name} += ${step.text}`;
    return `for (var ${name} = ${from.text}; ${test}; ${next})`;
  },
});

const inputs = (code: Code): Inputs => ({
  parameter: (name) => simple(`params.${name}`),
  builtin(builtin) {
    const [name, axis] = builtin.split(".");
    if (name === "localId") return simple(`localId.${axis}`);
    if (name === "numWorkgroups")
      return simple(isLinear(code) ? `params.${builtinName(builtin)}` : `gridSize.${axis}`);
    if (name === "workgroupId" && !isLinear(code)) return simple(`groupId.${axis}`);
    return simple(builtinName(builtin));
  },
});
