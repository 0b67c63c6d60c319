/**
 * Emits a kernel as CUDA C++ that nvcc and NVRTC take without any header. Subgroups are warps of 32; every lane of a
 * warp takes part in its operations, as the uniformity analysis proves for kernels that are not "dynamic".
 */

import { analyseUniformity, type UniformityAnalysis } from "../../analysis/index.ts";
import { EvolverError } from "@evolver/base";
import type {
  ArriveNode,
  AtomicNode,
  AwaitCopiesNode,
  AwaitPhaseNode,
  BarrierNode,
  KernelIR,
  Node,
  SubgroupNode,
} from "../../ir/nodes.ts";
import { CPP_FUNCTIONS, CppEmitter } from "./cpp.ts";
import { cudaAsyncHelpers } from "./async.ts";
import { cppHelpers, subgroupHelpers } from "./helpers.ts";
import { cudaHalfHelpers } from "./half.ts";
import { cudaRows } from "./rows.ts";
import { atom, call, infix, simple, type Expression, type Operand } from "../core/expression.ts";
import { finish, headerComment } from "../core/finish.ts";
import { Lines } from "../core/lines.ts";
import { linkable } from "../core/names.ts";
import type { EmitOptions, Emitted } from "../core/result.ts";
import { hasAtomic, storesBefore } from "../core/uses.ts";
import { helperTexts, type HelperTable } from "../core/rows.ts";

const ALL = "0xffffffffu";

const loadAndStore = (["int", "unsigned", "float"] as const)
  .map((type) => {
    const [ptx, constraint] = type === "float" ? ["f32", "f"] : ["u32", "r"];
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

const ATOMICS: Readonly<Record<Exclude<AtomicNode["op"], "load" | "store">, string>> = {
  add: "atomicAdd",
  min: "atomicMin",
  max: "atomicMax",
  and: "atomicAnd",
  or: "atomicOr",
  xor: "atomicXor",
  exchange: "atomicExch",
  compareExchange: "atomicCAS",
};

export class CudaEmitter extends CppEmitter {
  protected override readonly rows = cudaRows;
  protected override readonly staticSharedLimit = 48 * 1024;
  protected override readonly copyOutcome = { became: "cp.async", fallback: false };
  readonly #uniformity: UniformityAnalysis;

  /** @throws EvolverError UNSUPPORTED_SUBGROUP for a kernel built for another width than 32 */
  constructor(ir: KernelIR, options: EmitOptions) {
    super(ir, options, helpers, [...CPP_FUNCTIONS, ...Object.values(ATOMICS), "atomicLoad", "atomicStore"]);
    if (ir.subgroupSize !== 32) {
      throw new EvolverError(
        "UNSUPPORTED_SUBGROUP",
        `kernel "${ir.name}" is built for subgroups of ${ir.subgroupSize}; CUDA's warps have 32 lanes`,
        { where: [ir.site.location], hint: "build it with { subgroup: 32 }" },
      );
    }
    this.#uniformity = analyseUniformity(ir);
  }

  emit(): Emitted {
    const entryPoint = this.names.take(linkable(this.ir.name));
    this.body();
    const file = new Lines();
    const kernel = new Lines();
    const { kernelArguments, dynamicSharedBytes } = this.kernelFunction(kernel, entryPoint, "", this.out);
    file.add(
      headerComment(this.ir, [
        "subgroups are warps; buffers must not overlap; build with nvcc or NVRTC, no header needed",
      ]),
    );
    file.add("");
    const texts = helperTexts(helpers, this.helpers);
    for (const text of texts) file.add(text);
    if (texts.length > 0) file.add("");
    file.append(kernel);
    return finish(
      this.ir,
      "cuda",
      entryPoint,
      file,
      this.log,
      {
        grid: this.isLinear ? "linear" : "native",
        kernelArguments,
        dynamicSharedBytes,
        compileOptions: ["--fmad=false"],
      },
      this.options.lineDirectives === true,
    );
  }

  protected override atomic(node: AtomicNode, index: Operand, operands: readonly Operand[]): Expression {
    const { op, memory, order } = node;
    const fence = memory.space === "shared" ? "__threadfence_block();" : "__threadfence();";
    if (order === "release" || order === "acq_rel") this.line(fence);
    const address = simple(`&${this.element(memory, index).text}`);
    let name: string;
    if (op === "load" || op === "store") {
      this.helper("atomicAccess");
      name = op === "load" ? "atomicLoad" : "atomicStore";
    } else name = ATOMICS[op];
    const expression = call(name, address, ...operands);
    if (order !== "acquire" && order !== "acq_rel") return expression;
    const isUsed = node.result !== null && this.isUsed(node.result);
    const result = isUsed ? this.bind(expression, memory.element, `${memory.name}Before`) : simple("");
    if (!isUsed) this.line(`${expression.text};`);
    this.line(fence);
    return result;
  }

  protected override phaseBarrierType(): string {
    return "unsigned long long";
  }

  protected override commitCopies(): void {
    this.line(`${this.helper("commitCopies")}();`);
  }

  protected override awaitCopies({ newer }: AwaitCopiesNode): void {
    this.line(`${this.helper("awaitCopies")}<${newer}>();`);
  }

  protected override arrive(node: ArriveNode, index: Operand): void {
    this.note(`phase barriers ${node.barrier.name}`, "mbarrier", false);
    // The arrival that copies trigger publishes nothing but the copies.
    const publishes = node.after === "copies" && storesBefore(this.ir, node);
    if (publishes) this.line("__threadfence_block();");
    const name = node.after === "copies" ? "arriveAfterCopies" : "arrive";
    this.onPhase(name, node, index, `${node.barrier.arrivals}u`);
  }

  /** After a wait the lanes of a warp meet again, as after a loop that waits. */
  protected override awaitPhase(node: AwaitPhaseNode, index: Operand, parity: Operand): void {
    super.awaitPhase(node, index, parity);
    if (this.#uniformity.flowOf(node) !== "lane") this.line("__syncwarp();");
  }

  protected override subgroupBarrier(node: BarrierNode): void {
    if (this.#uniformity.flowOf(node) === "lane")
      this.note(
        "subgroup barrier in flow that is not proved uniform",
        "a barrier that all 32 lanes must reach",
        true,
      );
    this.line("__syncwarp();");
  }

  /** Warps are in lockstep in the IR only: after a wait the lanes meet again before one changes what others wait for. */
  protected override afterControl(node: Node): void {
    if (node.kind === "while" && hasAtomic(node) && this.#uniformity.flowOf(node) !== "lane")
      this.line("__syncwarp();");
  }

  protected override subgroup(node: SubgroupNode, operands: readonly Operand[]): readonly Expression[] {
    const [value, second] = operands as [Operand, Operand | undefined];
    if (this.#uniformity.flowOf(node) === "lane") {
      this.note(
        `subgroup ${node.op} in flow that is not proved uniform`,
        "an operation that all 32 lanes must reach",
        true,
      );
    }
    const all = simple(ALL);
    const shuffle = (name: string): Expression => call(name, all, value, second as Operand);
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
        return [infix("!=", call(`__${node.op}_sync`, all, value), simple("0"))];
      case "ballot":
        return [call("__ballot_sync", all, value)];
      case "broadcastFirst":
        return [call("__shfl_sync", all, value, atom("0"))];
      case "broadcast":
      case "shuffle":
        return [shuffle("__shfl_sync")];
      case "shuffleXor":
        return [shuffle("__shfl_xor_sync")];
      case "shuffleUp":
        return [shuffle("__shfl_up_sync")];
      case "shuffleDown":
        return [shuffle("__shfl_down_sync")];
    }
  }
}
