/** What CUDA C++ and HIP C++ share: declarations, memory, indices, and the frame of the kernel function. */

import type { BuiltinName } from "../../ir/builtins.ts";
import type {
  ArriveNode,
  AsyncCopyNode,
  AwaitPhaseNode,
  ForNode,
  KernelIR,
  LoadNode,
  StoreNode,
  SubgroupNode,
  UniformLoadNode,
  WhileNode,
} from "../../ir/nodes.ts";
import {
  isHalf,
  sharedBytesOf,
  sharedMemoryBytes,
  type ElementType,
  type Memory,
  type ScalarType,
  type Variable,
} from "../../ir/types.ts";
import { Emitter } from "../core/emitter.ts";
import { HALF_NAMES } from "./half.ts";
import { CPP_TYPES, cppLiteral } from "./rows.ts";
import { atom, call, infix, simple, type Expression, type Operand } from "../core/expression.ts";
import type { Lines } from "../core/lines.ts";
import { builtinName } from "../core/names.ts";
import type { EmitOptions } from "../core/result.ts";
import type { HelperTable } from "../core/rows.ts";
import { copyRequest } from "../core/target.ts";
import { halfTypesOf } from "../core/uses.ts";

/** The vectors that wide accesses move; two-byte elements go in pairs, as words. */
const VECTORS: Readonly<Record<ElementType, string>> = {
  f32: "float",
  i32: "int",
  u32: "uint",
  f16: "uint",
  bf16: "uint",
};

/** Functions that emitted code calls by their own names. */
export const CPP_FUNCTIONS: readonly string[] = (
  "fminf fmaxf fmaf fabsf sqrtf rsqrtf expf exp2f logf log2f sinf cosf tanhf floorf ceilf rintf truncf " +
  "make_float2 make_float4 make_int2 make_int4 make_uint2 make_uint4"
).split(" ");

interface Grid {
  readonly kernelArguments: string[];
  readonly dynamicSharedBytes: number;
}

/** Words out of two-byte elements. */
const pairs = (values: readonly Operand[]): Expression[] =>
  Array.from({ length: values.length / 2 }, (_, k) =>
    call("pack", values[2 * k] as Operand, values[2 * k + 1] as Operand),
  );

export abstract class CppEmitter extends Emitter {
  /** Shared memory beyond this is declared extern and sized at the launch. */
  protected abstract readonly staticSharedLimit: number;
  /** What an asynchronous copy becomes, for the lowering report. */
  protected abstract readonly copyOutcome: { readonly became: string; readonly fallback: boolean };
  /** The type of a phase barrier. */
  protected abstract phaseBarrierType(): string;

  constructor(ir: KernelIR, options: EmitOptions, helpers: HelperTable, taken: readonly string[] = []) {
    const halves = halfTypesOf(ir);
    super(ir, options, helpers, halves.all.size === 0 ? taken : [...taken, ...HALF_NAMES]);
    if (ir.phaseBarriers.length > 0) this.helper("startPhases");
    for (const type of halves.all) this.helper(halves.exchanged.has(type) ? `${type}Exchanged` : type);
  }

  protected get isLinear(): boolean {
    return this.options.grid === "linear";
  }

  /** Writes the kernel function around its statements. */
  protected kernelFunction(file: Lines, entryPoint: string, attributes: string, body: Lines): Grid {
    const { ir } = this;
    const [x, y, z] = ir.workgroupSize;
    const kernelArguments = ir.params.map(({ name }) => name);
    const parameters = ir.params.map((param) => {
      if (param.kind === "scalar") return `${CPP_TYPES[param.type]} ${this.scalarName(param.name)}`;
      const { memory } = param;
      const constant = memory.access === "read" ? "const " : "";
      return `${constant}${CPP_TYPES[memory.element]}* __restrict__ ${this.memoryName(memory)}`;
    });
    if (this.isLinear) {
      for (const axis of ["x", "y", "z"] as const) {
        kernelArguments.push(`numWorkgroups.${axis}`);
        parameters.push(`unsigned ${builtinName(`numWorkgroups.${axis}`)}`);
      }
    }
    const opening = `extern "C" __global__ void ${attributes}__launch_bounds__(${x * y * z}) ${entryPoint}(`;
    const oneLine = `${opening}${parameters.join(", ")}) {`;
    if (oneLine.length <= 110) file.add(oneLine, ir.site);
    else {
      file.add(opening, ir.site);
      parameters.forEach((text, k) =>
        file.add(`    ${text}${k < parameters.length - 1 ? "," : ") {"}`, ir.site),
      );
    }
    file.depth = 1;
    const dynamicSharedBytes = this.#shared(file);
    this.#builtins(file);
    this.#startPhases(file);
    file.append(body);
    file.depth = 0;
    file.add("}");
    return { kernelArguments, dynamicSharedBytes };
  }

  #shared(file: Lines): number {
    const { shared, phaseBarriers, site } = this.ir;
    for (const barrier of phaseBarriers) {
      const declaration = `${this.memoryName(barrier)}[${barrier.count}]`;
      file.add(`__shared__ __align__(8) ${this.phaseBarrierType()} ${declaration};`, site);
    }
    if (sharedBytesOf(this.ir) <= this.staticSharedLimit) {
      for (const memory of shared) {
        const type = CPP_TYPES[memory.element];
        file.add(`__shared__ __align__(16) ${type} ${this.memoryName(memory)}[${memory.length}];`, site);
      }
      return 0;
    }
    const arena = this.names.take("sharedMemory");
    file.add(`extern __shared__ __align__(16) unsigned char ${arena}[];`, site);
    let offset = 0;
    for (const memory of shared) {
      const type = CPP_TYPES[memory.element];
      file.add(
        `${type}* ${this.memoryName(memory)} = reinterpret_cast<${type}*>(${arena} + ${offset});`,
        site,
      );
      offset += Math.ceil(sharedMemoryBytes(memory) / 16) * 16;
    }
    this.note(`${offset} bytes of shared memory`, "dynamic shared memory, set at the launch", false);
    return offset;
  }

  /** Nobody may arrive before the barriers are there. */
  #startPhases(file: Lines): void {
    const { phaseBarriers, workgroupSize, site } = this.ir;
    if (phaseBarriers.length === 0) return;
    const ids = ["x", "y", "z"].filter((_, k) => k === 0 || workgroupSize[k] !== 1);
    file.add(`if (${ids.map((axis) => `threadIdx.${axis}`).join(" + ")} == 0) {`, site);
    for (const barrier of phaseBarriers) {
      const { arrivals, count } = barrier;
      file.add(`  startPhases(${this.memoryName(barrier)}, ${count}u, ${arrivals}u);`, site);
    }
    file.add("}", site);
    file.add("__syncthreads();", site);
  }

  /** Indices that take arithmetic, where the kernel uses them. */
  #builtins(file: Lines): void {
    const { usedBuiltins: used, ir } = this;
    const declare = (name: string, text: string): void =>
      file.add(`const unsigned ${name} = ${text};`, ir.site);
    const block = "blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)";
    if (this.isLinear) {
      declare("workgroupIndex", block);
      file.add("if (workgroupIndex >= numWorkgroupsX * numWorkgroupsY * numWorkgroupsZ) return;", ir.site);
      const ids = {
        x: "workgroupIndex % numWorkgroupsX",
        y: "workgroupIndex / numWorkgroupsX % numWorkgroupsY",
        z: "workgroupIndex / numWorkgroupsX / numWorkgroupsY",
      };
      for (const axis of ["x", "y", "z"] as const) {
        const isUsed = used.has(`workgroupId.${axis}`) || used.has(`globalId.${axis}`);
        if (isUsed) declare(builtinName(`workgroupId.${axis}`), ids[axis]);
      }
    } else if (used.has("workgroupIndex")) declare("workgroupIndex", block);
    const [x, y, z] = ir.workgroupSize;
    const isFlat = y * z === 1;
    const needsLocal = used.has("localIndex") || used.has("subgroupId") || used.has("lane");
    if (needsLocal && !isFlat)
      declare("localIndex", `threadIdx.x + ${x}u * (threadIdx.y + ${y}u * threadIdx.z)`);
    const local = isFlat ? "threadIdx.x" : "localIndex";
    if (used.has("subgroupId")) declare("subgroupId", `${local} / ${ir.subgroupSize}u`);
    if (used.has("lane")) declare("lane", `${local} % ${ir.subgroupSize}u`);
    for (const [axis, size] of [
      ["x", x],
      ["y", y],
      ["z", z],
    ] as const) {
      const id = this.isLinear ? builtinName(`workgroupId.${axis}`) : `blockIdx.${axis}`;
      if (used.has(`globalId.${axis}`))
        declare(builtinName(`globalId.${axis}`), `${id} * ${size}u + threadIdx.${axis}`);
    }
  }

  protected override builtin(builtin: BuiltinName): Expression {
    const [name, axis] = builtin.split(".");
    const [, y, z] = this.ir.workgroupSize;
    if (name === "localId") return simple(`threadIdx.${axis}`);
    if (builtin === "localIndex" && y * z === 1) return simple("threadIdx.x");
    if (!this.isLinear && name === "workgroupId") return simple(`blockIdx.${axis}`);
    if (!this.isLinear && name === "numWorkgroups") return simple(`gridDim.${axis}`);
    return simple(builtinName(builtin));
  }

  protected override literal(type: ScalarType, value: number | boolean): Expression {
    return cppLiteral(type, value);
  }

  protected override parameter(name: string): Expression {
    return simple(name);
  }

  protected typeName(type: ScalarType): string {
    return type === "index" ? this.helper("i64") : CPP_TYPES[type];
  }

  protected override declareValue(name: string, type: ScalarType, text: string): string {
    return `const ${this.typeName(type)} ${name} = ${text};`;
  }

  protected override declareVariable(name: string, type: Variable["type"], text: string | null): string {
    return `${this.typeName(type)} ${name}${text === null ? "" : ` = ${text}`};`;
  }

  protected override element(memory: Memory, index: Expression): Expression {
    return atom(`${this.memoryName(memory)}[${index.text}]`);
  }

  #vector(memory: Memory, width: number): string {
    const words = isHalf(memory.element) ? width / 2 : width;
    return words === 1 ? "unsigned" : `${VECTORS[memory.element]}${words}`;
  }

  protected override wideLoad(node: LoadNode, index: Operand): readonly Expression[] {
    const { memory, results } = node;
    const type = this.#vector(memory, results.length);
    this.note(`load of ${results.length} consecutive ${memory.element} of ${memory.name}`, type, false);
    const name = this.names.take(`${memory.name}Vector`);
    this.line(
      `const ${type} ${name} = *reinterpret_cast<const ${type}*>(&${this.element(memory, index).text});`,
    );
    const { element } = memory;
    if (!isHalf(element)) return results.map((_, k) => simple(`${name}.${"xyzw"[k]}`));
    return results.map((_, k) => {
      const word = results.length === 2 ? name : `${name}.${"xyzw"[k >> 1]}`;
      return atom(`${element}::from(${word}${k % 2 === 0 ? "" : " >> 16"})`);
    });
  }

  protected override wideStore(node: StoreNode, index: Operand, values: readonly Operand[]): void {
    const { memory } = node;
    const type = this.#vector(memory, values.length);
    this.note(`store of ${values.length} consecutive ${memory.element} of ${memory.name}`, type, false);
    const parts = isHalf(memory.element) ? pairs(values) : values;
    const vector = parts.length === 1 ? (parts[0] as Expression).text : call(`make_${type}`, ...parts).text;
    this.line(`*reinterpret_cast<${type}*>(&${this.element(memory, index).text}) = ${vector};`);
  }

  protected override barrier(): void {
    this.line("__syncthreads();");
  }

  protected override asyncCopy(
    node: AsyncCopyNode,
    to: Operand,
    from: Operand,
    active: Operand | null,
  ): void {
    const { became, fallback } = this.copyOutcome;
    this.note(copyRequest(node), became, fallback);
    const type = node.width === 1 ? CPP_TYPES[node.from.element] : this.#vector(node.from, node.width);
    const [target, source] = [this.element(node.to, to).text, this.element(node.from, from).text];
    const name = this.helper("startCopy");
    this.line(`${name}<${type}>(&${target}, &${source}, ${active?.text ?? "true"});`);
  }

  /** Calls a function of phase barriers for one of them. */
  protected onPhase(helper: string, node: ArriveNode | AwaitPhaseNode, index: Operand, more: string): void {
    this.line(`${this.helper(helper)}(&${this.memoryName(node.barrier)}[${index.text}], ${more});`);
  }

  protected override awaitPhase(node: AwaitPhaseNode, index: Operand, parity: Operand): void {
    this.onPhase("awaitPhase", node, index, parity.text);
  }

  protected override uniformLoad(node: UniformLoadNode, index: Operand): Expression {
    const stable = this.bind(index, index.type, "offset");
    this.barrier();
    const value = this.bind(
      this.element(node.memory, stable),
      node.memory.element,
      `${node.memory.name}Value`,
    );
    this.barrier();
    return value;
  }

  protected override forHeader(
    node: ForNode,
    name: string,
    from: Expression,
    to: Expression,
    step: Operand,
  ): string {
    const test = infix(node.direction === "up" ? "<" : ">", simple(name), to).text;
    const next = step.constant === 1 ? `++${name}` : `${name} += ${step.text}`;
    return `for (${this.typeName(node.induction.type)} ${name} = ${from.text}; ${test}; ${next})`;
  }

  protected override beforeLoop(node: ForNode | WhileNode): void {
    if (node.kind === "while" || node.unroll === false) return;
    this.line(node.unroll === true ? "#pragma unroll" : `#pragma unroll ${node.unroll}`);
  }

  /** Sums of i32 wrap, which is undefined for C++'s int. */
  protected sum(node: SubgroupNode, name: string, ...operands: readonly Expression[]): Expression {
    const [value, ...rest] = operands as [Expression, ...Expression[]];
    if (node.operands[0]?.type !== "i32") return call(this.helper(name), ...operands);
    return call("int", call(this.helper(name), call("unsigned", value), ...rest));
  }

  protected laneName(): Expression {
    this.usedBuiltins.add("lane");
    return simple("lane");
  }
}
