/**
 * Emits a kernel as CUDA C++ that nvcc and NVRTC take without any header. Subgroups are warps of 32; every lane of a
 * warp takes part in its operations, as the uniformity analysis proves for kernels that are not "dynamic".
 */

import { EvolverError } from "@evolver/base";
import type { AtomicNode, KernelIR, Node } from "../../ir/nodes.ts";
import type { WordType } from "../../ir/types.ts";
import { atomicFunctions } from "../atomics.ts";
import type { Code, Language } from "../core/code.ts";
import { copyRequest } from "../core/defaults.ts";
import { call, simple, type Expression, type Operand } from "../core/expression.ts";
import { flowOf } from "../core/uniformity.ts";
import type { HelperTable } from "../core/helpers.ts";
import type { Target, TargetDefinition } from "../core/target.ts";
import { hasAtomic, storesBefore } from "../core/uses.ts";
import { subgroupOperations } from "../subgroups.ts";
import { cudaAsyncHelpers } from "./async-helpers.ts";
import { callOnPhase, cppFlow } from "./flow.ts";
import { cppHosts } from "./hosts.ts";
import { cppEntry, cppInputs } from "./entry.ts";
import { cudaHalfHelpers, declareHalves } from "./half.ts";
import { cppHelpers, subgroupHelpers } from "./helpers.ts";
import { cppLanguage, cppType } from "./language.ts";
import { cppMemory, startCopy, WORKGROUP_BARRIER } from "./memory.ts";
import { cudaOperations } from "./operations.ts";
import { notePartedLanes } from "./subgroups.ts";

const ALL = "0xffffffffu";

/** PTX's name of a type, and the letter of a register that holds it. */
const REGISTERS: Readonly<Record<WordType, readonly [ptx: string, constraint: string]>> = {
  i32: ["u32", "r"],
  u32: ["u32", "r"],
  f32: ["f32", "f"],
};

const loadAndStore = (Object.keys(REGISTERS) as WordType[])
  .map((word) => {
    const type = cppType(word);
    const [ptx, constraint] = REGISTERS[word];
    return `__device__ inline ${type} atomicLoad(const ${type}* address) {
  ${type} value;
  asm volatile("ld.relaxed.gpu.${ptx} %0, [%1];" : "=${constraint}"(value) : "l"(address) : "memory");
  return value;
}
__device__ inline void atomicStore(${type}* address, ${type} value) {
  asm volatile("st.relaxed.gpu.${ptx} [%0], %1;" : : "l"(address), "${constraint}"(value) : "memory");
}`;
  })
  .join("\n");

const helpers: HelperTable = {
  ...cppHelpers,
  ...cudaHalfHelpers,
  ...cudaAsyncHelpers,
  ...subgroupHelpers({
    width: 32,
    shuffle: (value, lane) => `__shfl_sync(${ALL}, ${value}, ${lane})`,
    shuffleXor: (value, mask) => `__shfl_xor_sync(${ALL}, ${value}, ${mask})`,
    shuffleUp: (value, delta) => `__shfl_up_sync(${ALL}, ${value}, ${delta})`,
  }),
  exp2Flushed: {
    text: `__device__ inline float exp2Flushed(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}`,
  },
  atomicAccess: { text: `// Plain loads and stores that other invocations may race with.\n${loadAndStore}` },
};

const ATOMIC_NAMES = Object.values(atomicFunctions).map(({ cuda: name }) => name);

const WARP_BARRIER = "__syncwarp();";

export const cuda: TargetDefinition = {
  name: "cuda",
  language,
  target,
};

/** @throws EvolverError UNSUPPORTED_SUBGROUP for a kernel built for another width than 32 */
function language(ir: KernelIR): Language {
  if (ir.subgroupSize !== 32) {
    throw new EvolverError(
      "UNSUPPORTED_SUBGROUP",
      `kernel "${ir.name}" is built for subgroups of ${ir.subgroupSize}; CUDA's warps have 32 lanes`,
      { where: [ir.site.location], hint: "build it with { subgroup: 32 }" },
    );
  }
  return cppLanguage(ir, helpers, ATOMIC_NAMES);
}

function target(code: Code): Target {
  const flow = flowOf(code.ir);
  const reunite = (node: Node): void => {
    if (flow(node) !== "lane") code.line(WARP_BARRIER);
  };
  declareHalves(code);
  return {
    inputs: cppInputs(code),
    operations: cudaOperations,
    memory: cppMemory(code),
    flow: {
      ...cppFlow(code),
      /** Warps are in lockstep in the IR only: after a wait the lanes meet again before one changes what others wait for. */
      afterControl(node) {
        if (node.kind === "while" && hasAtomic(node)) reunite(node);
      },
    },
    barriers: {
      workgroup: () => code.line(WORKGROUP_BARRIER),
      subgroup(node) {
        notePartedLanes(code, node, flow);
        code.line(WARP_BARRIER);
      },
    },
    copies: {
      start(copy) {
        code.note(copyRequest(copy.node), "cp.async", false);
        startCopy(code, copy);
      },
      commit: () => code.line(`${code.helper("commitCopies")}();`),
      await: ({ newer }) => code.line(`${code.helper("awaitCopies")}<${newer}>();`),
    },
    phaseBarriers: {
      arrive(node, index) {
        code.note(`phase barriers ${node.barrier.name}`, "mbarrier", false);
        // The arrival that copies trigger publishes nothing but the copies.
        if (node.after === "copies" && storesBefore(code.ir, node)) code.line("__threadfence_block();");
        const name = node.after === "copies" ? "arriveAfterCopies" : "arrive";
        callOnPhase(code, name, node, index, `${node.barrier.arrivals}u`);
      },
      /** After a wait the lanes of a warp meet again, as after a loop that waits. */
      await(node, index, parity) {
        callOnPhase(code, "awaitPhase", node, index, parity.text);
        reunite(node);
      },
    },
    atomic: (node, index, operands) => atomic(code, node, index, operands),
    subgroup(node, operands) {
      notePartedLanes(code, node, flow);
      return subgroupOperations[node.op].cuda({ code, node, operands, lanes: [simple(ALL)] });
    },
    entry: cppEntry(code, {
      notes: ["subgroups are warps; buffers must not overlap; build with nvcc or NVRTC, no header needed"],
      prologue: () => [],
      phaseBarrierType: "unsigned long long",
      staticSharedLimit: cppHosts.cuda.staticSharedBytes,
      compileOptions: ["--fmad=false"],
    }),
  };
}

/** NVIDIA's atomic functions order nothing by themselves: fences stand before and after. */
function atomic(code: Code, node: AtomicNode, index: Operand, operands: readonly Operand[]): Expression {
  const { op, memory, order } = node;
  const fence = memory.space === "shared" ? "__threadfence_block();" : "__threadfence();";
  if (order === "release" || order === "acq_rel") code.line(fence);
  if (op === "load" || op === "store") code.helper("atomicAccess");
  const address = simple(`&${code.element(memory, index).text}`);
  const expression = call(atomicFunctions[op].cuda, address, ...operands);
  if (order !== "acquire" && order !== "acq_rel") return expression;
  const isUsed = node.result !== null && code.isUsed(node.result);
  const result = isUsed ? code.bind(expression, memory.element, `${memory.name}Before`) : simple("");
  if (!isUsed) code.line(`${expression.text};`);
  code.line(fence);
  return result;
}
