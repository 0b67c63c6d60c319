/**
 * Emits a kernel as HIP C++ for wavefronts of 32 or 64, for hipcc, hiprtc, or a clang without ROCm. Every lane of a
 * wavefront takes part in its operations, as the uniformity analysis proves for kernels that are not "dynamic".
 */

import { EvolverError } from "@evolver/base";
import type { AtomicNode, KernelIR } from "../../ir/nodes.ts";
import { atomicFunctions } from "../atomics.ts";
import type { Code, Language } from "../core/code.ts";
import { copyRequest, nothingInFlight } from "../core/defaults.ts";
import { call, simple, type Expression, type Operand } from "../core/expression.ts";
import { flowOf } from "../core/uniformity.ts";
import type { HelperTable } from "../core/helpers.ts";
import type { Target, TargetDefinition } from "../core/target.ts";
import { subgroupOperations } from "../subgroups.ts";
import { hipAsyncHelpers } from "./async-helpers.ts";
import { callOnPhase, cppFlow } from "./flow.ts";
import { cppEntry, cppInputs } from "./entry.ts";
import { declareHalves, hipHalfHelpers } from "./half.ts";
import { cppHelpers, subgroupHelpers } from "./helpers.ts";
import { cppHosts } from "./hosts.ts";
import { hipPrologue } from "./hip-prologue.ts";
import { cppLanguage } from "./language.ts";
import { cppMemory, startCopy, WORKGROUP_BARRIER } from "./memory.ts";
import { hipOperations } from "./operations.ts";
import { notePartedLanes } from "./subgroups.ts";

const compareExchange = `// Gives the old value.
template <int scope, int order, int failure, typename T>
__device__ inline T compareExchange(T* address, T expected, T desired) {
  __hip_atomic_compare_exchange_strong(address, &expected, desired, order, failure, scope);
  return expected;
}`;

function helpersFor(width: number): HelperTable {
  return {
    ...cppHelpers,
    ...hipHalfHelpers,
    ...hipAsyncHelpers,
    ...subgroupHelpers({
      width,
      shuffle: (value, lane) => `__shfl(${value}, ${lane})`,
      shuffleXor: (value, mask) => `__shfl_xor(${value}, ${mask})`,
      shuffleUp: (value, delta) => `__shfl_up(${value}, ${delta})`,
    }),
    compareExchange: { text: compareExchange },
  };
}

export const hip: TargetDefinition = {
  name: "hip",
  language,
  target,
};

/** @throws EvolverError UNSUPPORTED_SUBGROUP for a kernel built for another width than 32 or 64 */
function language(ir: KernelIR): Language {
  if (ir.subgroupSize !== 32 && ir.subgroupSize !== 64) {
    throw new EvolverError(
      "UNSUPPORTED_SUBGROUP",
      `kernel "${ir.name}" is built for subgroups of ${ir.subgroupSize}; HIP's wavefronts have 32 or 64 lanes`,
      {
        where: [ir.site.location],
        hint: "build it with { subgroup: 64 } for CDNA, { subgroup: 32 } for RDNA",
      },
    );
  }
  return cppLanguage(ir, helpersFor(ir.subgroupSize), []);
}

function target(code: Code): Target {
  const width = code.ir.subgroupSize;
  const flow = flowOf(code.ir);
  declareHalves(code);
  return {
    inputs: cppInputs(code),
    operations: hipOperations,
    memory: cppMemory(code),
    flow: cppFlow(code),
    barriers: {
      workgroup: () => code.line(WORKGROUP_BARRIER),
      subgroup(node) {
        notePartedLanes(code, node, flow);
        code.line(`${code.helper("subgroupBarrier")}();`);
      },
    },
    copies: {
      start(copy) {
        code.note(copyRequest(copy.node), "plain copy", true);
        startCopy(code, copy);
      },
      ...nothingInFlight,
    },
    phaseBarriers: {
      /** Copies have landed when they are done, so that both ways to arrive are one. */
      arrive(node, index) {
        code.note(`phase barriers ${node.barrier.name}`, "two words of LDS", true);
        callOnPhase(code, "arrive", node, index, `${node.barrier.arrivals}u`);
      },
      await: (node, index, parity) => callOnPhase(code, "awaitPhase", node, index, parity.text),
    },
    atomic: (node, index, operands) => atomic(code, node, index, operands),
    subgroup(node, operands) {
      notePartedLanes(code, node, flow);
      return subgroupOperations[node.op].hip({ code, node, operands, lanes: [] });
    },
    entry: cppEntry(code, {
      notes: ["subgroups are wavefronts; buffers must not overlap"],
      prologue: (below) => [hipPrologue(below()), widthCheck(width)],
      phaseBarrierType: "PhaseBarrier",
      staticSharedLimit: cppHosts.hip.staticSharedBytes,
      compileOptions: [],
    }),
  };
}

/** On the host the macro is there too, and says 64 whatever the GPU is. */
const widthCheck = (
  width: number,
): string => `#if defined(__HIP_DEVICE_COMPILE__) && defined(__AMDGCN_WAVEFRONT_SIZE__) && __AMDGCN_WAVEFRONT_SIZE__ != ${width}
#error "this kernel is built for wavefronts of ${width}"
#endif`;

function atomic(code: Code, node: AtomicNode, index: Operand, operands: readonly Operand[]): Expression {
  const { op, memory, order } = node;
  const scope = `__HIP_MEMORY_SCOPE_${memory.space === "shared" ? "WORKGROUP" : "AGENT"}`;
  const ordering = `__ATOMIC_${order.toUpperCase()}`;
  const address = simple(`&${code.element(memory, index).text}`);
  const name = atomicFunctions[op].hip;
  if (op !== "compareExchange") return call(name, address, ...operands, simple(ordering), simple(scope));
  const failure = order === "acquire" || order === "acq_rel" ? "__ATOMIC_ACQUIRE" : "__ATOMIC_RELAXED";
  return call(`${code.helper(name)}<${scope}, ${ordering}, ${failure}>`, address, ...operands);
}
