/** The file of a CUDA C++ or HIP C++ kernel: its function with parameters, shared memory and indices, and what stands around. */

import type { Code } from "../core/code.ts";
import { headerComment } from "../core/finish.ts";
import { simple } from "../core/expression.ts";
import { Lines } from "../core/lines.ts";
import { builtinName, linkable } from "../core/names.ts";
import type { Entry, Inputs, Launch } from "../core/target.ts";
import { sharedBytesOf, sharedMemoryBytes } from "../../ir/types.ts";
import { cppType } from "./language.ts";

const AXES = ["x", "y", "z"] as const;

/** Whether workgroups are numbered through, whatever the shape of the grid. */
const isLinear = ({ options }: Code): boolean => options.grid === "linear";

/** Indices by name; those that take arithmetic are declared at the top of the function. */
export const cppInputs = (code: Code): Inputs => ({
  parameter: simple,
  builtin(builtin) {
    const [name, axis] = builtin.split(".");
    const [, y, z] = code.ir.workgroupSize;
    if (name === "localId") return simple(`threadIdx.${axis}`);
    if (builtin === "localIndex" && y * z === 1) return simple("threadIdx.x");
    if (!isLinear(code) && name === "workgroupId") return simple(`blockIdx.${axis}`);
    if (!isLinear(code) && name === "numWorkgroups") return simple(`gridDim.${axis}`);
    return simple(builtinName(builtin));
  },
});

/** Parameters are written in one line up to this length. */
const LINE_LENGTH = 110;

/** What the files of CUDA and HIP do not share. */
export interface CppFile {
  /** Lines of the comment at the top. */
  readonly notes: readonly string[];
  /** What stands below that comment; `below` gives the rest of the file. */
  prologue(below: () => string): readonly string[];
  readonly phaseBarrierType: string;
  /** Shared memory beyond this is declared extern and sized at the launch. */
  readonly staticSharedLimit: number;
  /** What to give the compiler for exact results. */
  readonly compileOptions: readonly string[];
}

export function cppEntry(code: Code, target: CppFile): Entry {
  const { ir, options } = code;
  const name = code.names.take(linkable(ir.name));
  return {
    name,
    depth: 1,
    lineDirectives: options.lineDirectives === true,
    write(file, body) {
      const kernel = new Lines();
      const kernelArguments = writeOpening(kernel, code, name);
      const dynamicSharedBytes = writeSharedMemory(kernel, code, target);
      writeIndices(kernel, code);
      writeStartOfPhases(kernel, code);
      kernel.append(body);
      kernel.depth = 0;
      kernel.add("}");
      const helpers = code.helperTexts();
      const notes = [...target.notes, ...launchNotes(code, name, kernelArguments, dynamicSharedBytes)];
      file.add(headerComment(ir, notes));
      file.add("");
      const below = (): string => [...helpers, kernel.finish(false).source].join("\n");
      for (const text of target.prologue(below)) file.add(`${text}\n`);
      for (const text of helpers) file.add(text);
      if (helpers.length > 0) file.add("");
      file.append(kernel);
      const { compileOptions } = target;
      const grid: Launch["grid"] = isLinear(code) ? "linear" : "native";
      return { grid, kernelArguments, dynamicSharedBytes, compileOptions };
    },
  };
}

/** How to launch the kernel from any host, for the comment at the top. */
function launchNotes(
  { ir }: Code,
  name: string,
  kernelArguments: readonly string[],
  dynamicSharedBytes: number,
): string[] {
  const block = `dim3(${ir.workgroupSize.join(", ")})`;
  const shared = dynamicSharedBytes > 0 ? `, ${dynamicSharedBytes}` : "";
  return [
    "launch, with buffers as pointers to memory of the device:",
    `  ${name}<<<workgroups, ${block}${shared}>>>(${kernelArguments.join(", ")})`,
    ...(kernelArguments.some((argument) => argument.startsWith("numWorkgroups."))
      ? [
          "  numWorkgroups.x, y and z are the workgroups that the kernel shall have. Launch at least x * y * z of them, in any shape: those",
          "  that are too many return at once.",
        ]
      : []),
    ...(dynamicSharedBytes > 0
      ? [
          `  and before, allow so many bytes of dynamic shared memory: the function's attribute MaxDynamicSharedMemorySize`,
        ]
      : []),
  ];
}

/** Writes the function's signature, and gives what to pass to it. */
function writeOpening(file: Lines, code: Code, name: string): string[] {
  const { ir } = code;
  const [x, y, z] = ir.workgroupSize;
  const kernelArguments = ir.params.map((param) => param.name);
  const parameters = ir.params.map((param) => {
    if (param.kind === "scalar") return `${cppType(param.type)} ${code.scalarName(param.name)}`;
    const { memory } = param;
    const constant = memory.access === "read" ? "const " : "";
    return `${constant}${cppType(memory.element)}* __restrict__ ${code.memoryName(memory)}`;
  });
  if (isLinear(code)) {
    for (const axis of AXES) {
      kernelArguments.push(`numWorkgroups.${axis}`);
      parameters.push(`unsigned ${builtinName(`numWorkgroups.${axis}`)}`);
    }
  }
  const opening = `extern "C" __global__ void __launch_bounds__(${x * y * z}) ${name}(`;
  const oneLine = `${opening}${parameters.join(", ")}) {`;
  if (oneLine.length <= LINE_LENGTH) file.add(oneLine, ir.site);
  else {
    file.add(opening, ir.site);
    parameters.forEach((text, k) =>
      file.add(`    ${text}${k < parameters.length - 1 ? "," : ") {"}`, ir.site),
    );
  }
  file.depth = 1;
  return kernelArguments;
}

/** Declares shared memory, and gives the bytes that the launch has to ask for. */
function writeSharedMemory(
  file: Lines,
  code: Code,
  { phaseBarrierType, staticSharedLimit }: CppFile,
): number {
  const { shared, phaseBarriers, site } = code.ir;
  for (const barrier of phaseBarriers) {
    const declaration = `${code.memoryName(barrier)}[${barrier.count}]`;
    file.add(`__shared__ __align__(8) ${phaseBarrierType} ${declaration};`, site);
  }
  if (sharedBytesOf(code.ir) <= staticSharedLimit) {
    for (const memory of shared) {
      const type = cppType(memory.element);
      file.add(`__shared__ __align__(16) ${type} ${code.memoryName(memory)}[${memory.length}];`, site);
    }
    return 0;
  }
  const arena = code.names.take("sharedMemory");
  file.add(`extern __shared__ __align__(16) unsigned char ${arena}[];`, site);
  let offset = 0;
  for (const memory of shared) {
    const type = cppType(memory.element);
    file.add(`${type}* ${code.memoryName(memory)} = reinterpret_cast<${type}*>(${arena} + ${offset});`, site);
    offset += Math.ceil(sharedMemoryBytes(memory) / 16) * 16;
  }
  code.note(`${offset} bytes of shared memory`, "dynamic shared memory, set at the launch", false);
  return offset;
}

/** Declares the indices that take arithmetic, where the kernel uses them. */
function writeIndices(file: Lines, code: Code): void {
  const { ir } = code;
  const used = code.used.builtins;
  const declare = (name: string, text: string): void =>
    file.add(`const unsigned ${name} = ${text};`, ir.site);
  const block = "blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)";
  if (isLinear(code)) {
    declare("workgroupIndex", block);
    file.add("if (workgroupIndex >= numWorkgroupsX * numWorkgroupsY * numWorkgroupsZ) return;", ir.site);
    const ids = {
      x: "workgroupIndex % numWorkgroupsX",
      y: "workgroupIndex / numWorkgroupsX % numWorkgroupsY",
      z: "workgroupIndex / numWorkgroupsX / numWorkgroupsY",
    };
    for (const axis of AXES) {
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
  AXES.forEach((axis, k) => {
    if (!used.has(`globalId.${axis}`)) return;
    const id = isLinear(code) ? builtinName(`workgroupId.${axis}`) : `blockIdx.${axis}`;
    declare(builtinName(`globalId.${axis}`), `${id} * ${ir.workgroupSize[k]}u + threadIdx.${axis}`);
  });
}

/** Nobody may arrive before the barriers are there. */
function writeStartOfPhases(file: Lines, code: Code): void {
  const { phaseBarriers, workgroupSize, site } = code.ir;
  if (phaseBarriers.length === 0) return;
  const start = code.helper("startPhases");
  const ids = AXES.filter((_, k) => k === 0 || workgroupSize[k] !== 1);
  file.add(`if (${ids.map((axis) => `threadIdx.${axis}`).join(" + ")} == 0) {`, site);
  for (const barrier of phaseBarriers) {
    const { arrivals, count } = barrier;
    file.add(`  ${start}(${code.memoryName(barrier)}, ${count}u, ${arrivals}u);`, site);
  }
  file.add("}", site);
  file.add("__syncthreads();", site);
}
