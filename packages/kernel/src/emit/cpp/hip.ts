/**
 * Emits a kernel as HIP C++ for wavefronts of 32 or 64, for hipcc, hiprtc, or a clang without ROCm. Every lane of a
 * wavefront takes part in its operations, as the uniformity analysis proves for kernels that are not "dynamic".
 */

import { analyseUniformity } from "../../analysis/index.ts";
import { EvolverError } from "@evolver/base";
import type { ArriveNode, AtomicNode, BarrierNode, KernelIR, SubgroupNode } from "../../ir/nodes.ts";
import { CPP_FUNCTIONS, CppEmitter } from "./cpp.ts";
import { hipAsyncHelpers } from "./async.ts";
import { cppHelpers, subgroupHelpers } from "./helpers.ts";
import { hipHalfHelpers } from "./half.ts";
import { hipRows } from "./rows.ts";
import { atom, call, infix, simple, type Expression, type Operand } from "../core/expression.ts";
import { finish, headerComment } from "../core/finish.ts";
import { hipPrologue } from "./hip-prologue.ts";
import { Lines } from "../core/lines.ts";
import { linkable } from "../core/names.ts";
import type { EmitOptions, Emitted } from "../core/result.ts";
import { helperTexts, type HelperTable } from "../core/rows.ts";

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

const ATOMICS: Readonly<Record<Exclude<AtomicNode["op"], "compareExchange">, string>> = {
  load: "__hip_atomic_load",
  store: "__hip_atomic_store",
  add: "__hip_atomic_fetch_add",
  min: "__hip_atomic_fetch_min",
  max: "__hip_atomic_fetch_max",
  and: "__hip_atomic_fetch_and",
  or: "__hip_atomic_fetch_or",
  xor: "__hip_atomic_fetch_xor",
  exchange: "__hip_atomic_exchange",
};

export class HipEmitter extends CppEmitter {
  protected override readonly rows = hipRows;
  protected override readonly staticSharedLimit = 64 * 1024;
  protected override readonly copyOutcome = { became: "plain copy", fallback: true };
  readonly #helpers: HelperTable;
  readonly #uniformity: ReturnType<typeof analyseUniformity> | null;

  /** @throws EvolverError UNSUPPORTED_SUBGROUP for a kernel built for another width than 32 or 64 */
  constructor(ir: KernelIR, options: EmitOptions) {
    const helpers = helpersFor(ir.subgroupSize);
    super(ir, options, helpers, CPP_FUNCTIONS);
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
    this.#helpers = helpers;
    this.#uniformity = ir.uniformity === "dynamic" ? analyseUniformity(ir) : null;
  }

  emit(): Emitted {
    const entryPoint = this.names.take(linkable(this.ir.name));
    this.body();
    const kernel = new Lines();
    const { kernelArguments, dynamicSharedBytes } = this.kernelFunction(kernel, entryPoint, "", this.out);
    const texts = helperTexts(this.#helpers, this.helpers);
    const below = [...texts, kernel.finish(false).source].join("\n");
    const width = this.ir.subgroupSize;
    const file = new Lines();
    file.add(headerComment(this.ir, ["subgroups are wavefronts; buffers must not overlap"]));
    file.add("");
    file.add(hipPrologue(below));
    file.add("");
    file.add(
      // On the host the macro is there too, and says 64 whatever the GPU is.
      `#if defined(__HIP_DEVICE_COMPILE__) && defined(__AMDGCN_WAVEFRONT_SIZE__) && __AMDGCN_WAVEFRONT_SIZE__ != ${width}
#error "this kernel is built for wavefronts of ${width}"
#endif`,
    );
    file.add("");
    for (const text of texts) file.add(text);
    if (texts.length > 0) file.add("");
    file.append(kernel);
    return finish(
      this.ir,
      "hip",
      entryPoint,
      file,
      this.log,
      { grid: this.isLinear ? "linear" : "native", kernelArguments, dynamicSharedBytes, compileOptions: [] },
      this.options.lineDirectives === true,
    );
  }

  protected override atomic(node: AtomicNode, index: Operand, operands: readonly Operand[]): Expression {
    const { op, memory, order } = node;
    const scope = `__HIP_MEMORY_SCOPE_${memory.space === "shared" ? "WORKGROUP" : "AGENT"}`;
    const ordering = `__ATOMIC_${order.toUpperCase()}`;
    const address = simple(`&${this.element(memory, index).text}`);
    if (op !== "compareExchange") return call(ATOMICS[op], address, ...operands, atom(ordering), atom(scope));
    const failure = order === "acquire" || order === "acq_rel" ? "__ATOMIC_ACQUIRE" : "__ATOMIC_RELAXED";
    const name = `${this.helper("compareExchange")}<${scope}, ${ordering}, ${failure}>`;
    return call(name, address, ...operands);
  }

  protected override phaseBarrierType(): string {
    return this.helper("PhaseBarrier");
  }

  /** Copies have landed when they are done, so that both ways to arrive are one. */
  protected override arrive(node: ArriveNode, index: Operand): void {
    this.note(`phase barriers ${node.barrier.name}`, "two words of LDS", true);
    this.onPhase("arrive", node, index, `${node.barrier.arrivals}u`);
  }

  protected override subgroupBarrier(node: BarrierNode): void {
    if (this.#uniformity?.flowOf(node) === "lane")
      this.note(
        "subgroup barrier in flow that is not proved uniform",
        `a barrier that all ${this.ir.subgroupSize} lanes must reach`,
        true,
      );
    this.line(`${this.helper("subgroupBarrier")}();`);
  }

  protected override subgroup(node: SubgroupNode, operands: readonly Operand[]): readonly Expression[] {
    const [value, second] = operands as [Operand, Operand | undefined];
    const width = this.ir.subgroupSize;
    if (this.#uniformity?.flowOf(node) === "lane") {
      this.note(
        `subgroup ${node.op} in flow that is not proved uniform`,
        `an operation that all ${width} lanes must reach`,
        true,
      );
    }
    const shuffle = (name: string): Expression => call(name, value, second as Operand);
    switch (node.op) {
      case "sum":
        return [this.sum(node, "subgroupSum", value)];
      case "min":
        return [call(this.helper("subgroupMin"), value)];
      case "max":
        return [call(this.helper("subgroupMax"), value)];
      case "inclusiveSum":
      case "exclusiveSum":
        return [this.sum(node, node.op, value, this.laneName())];
      case "any":
      case "all":
        return [infix("!=", call(`__${node.op}`, value), simple("0"))];
      case "ballot": {
        if (width === 32) return [call("unsigned", call("__ballot", value))];
        const votes = this.names.take("votes");
        this.line(`const unsigned long long ${votes} = __ballot(${value.text});`);
        return [call("unsigned", simple(votes)), call("unsigned", infix(">>", simple(votes), simple("32")))];
      }
      case "broadcastFirst":
        return [call("__shfl", value, simple("0"))];
      case "broadcast":
      case "shuffle":
        return [shuffle("__shfl")];
      case "shuffleXor":
        return [shuffle("__shfl_xor")];
      case "shuffleUp":
        return [shuffle("__shfl_up")];
      case "shuffleDown":
        return [shuffle("__shfl_down")];
    }
  }
}
