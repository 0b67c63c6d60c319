/**
 * The file of a WGSL kernel: bindings, the struct of scalars, shared memory, and the entry point with the built-ins that
 * it takes and those that are computed from them.
 */

import type { BuiltinName } from "../../ir/builtins.ts";
import type { KernelIR } from "../../ir/nodes.ts";
import { elementBytes, type WordType } from "../../ir/types.ts";
import type { Code } from "../core/code.ts";
import { headerComment } from "../core/finish.ts";
import { Lines } from "../core/lines.ts";
import { builtinName } from "../core/names.ts";
import type { Emitted, StorageBinding, UniformField } from "../core/result.ts";
import type { Entry } from "../core/target.ts";
import type { WgslMemory } from "./arrays.ts";

/** Every field of the uniform struct has four bytes. */
const WORD_BYTES = 4;

const AXES = ["x", "y", "z"] as const;

/** Whether workgroups are numbered through, whatever the shape of the grid. */
export const isLinear = ({ options }: Code): boolean => options.grid !== "native";

/** The extensions that a kernel needs. */
interface Extensions {
  readonly f16: boolean;
  readonly subgroups: boolean;
}

export function wgslEntry(code: Code, memory: WgslMemory, extensions: Extensions): Entry {
  const { ir } = code;
  const name = code.names.take(ir.name);
  return {
    name,
    depth: 1,
    lineDirectives: false,
    write(file, body) {
      if (extensions.f16) file.add("enable f16;");
      if (extensions.subgroups) {
        file.add("enable subgroups;");
        file.add("// Uniformity is proved before this is emitted, by rules that know more than WGSL's.");
        file.add("diagnostic(off, subgroup_uniformity);");
        file.add("");
      }
      const declarations = new Lines();
      const bindings = writeBindings(declarations, code, memory);
      const uniform = writeUniform(declarations, code, bindings.length);
      file.add(headerComment(ir, launchNotes(code, extensions, { name, bindings, uniform })));
      file.add("");
      file.append(declarations);
      for (const shared of ir.shared) {
        const type = memory.arrayType(shared, shared.length);
        file.add(`var<workgroup> ${code.memoryName(shared)}: ${type};`, ir.site);
      }
      for (const text of code.helperTexts()) file.add(`\n${text}`);
      file.add("");
      writeSignature(file, code, name, extensions.subgroups);
      writeIndices(file, code, extensions.subgroups);
      writeUntouched(file, code);
      file.append(body);
      file.depth = 0;
      file.add("}");
      return { grid: isLinear(code) ? "linear" : "native", bindings, uniform };
    },
  };
}

/** How to launch the kernel from any host, for the comment at the top. */
function launchNotes(
  code: Code,
  extensions: Extensions,
  { name, bindings, uniform }: Pick<Emitted, "bindings" | "uniform"> & { readonly name: string },
): string[] {
  const { ir } = code;
  const [x, y, z] = ir.workgroupSize;
  const features = [extensions.f16 && '"shader-f16"', extensions.subgroups && '"subgroups"'].filter(
    (it) => it !== false,
  );
  const limits = [
    x * y * z > DEFAULT_INVOCATIONS && `maxComputeInvocationsPerWorkgroup ${x * y * z}`,
    wgslSharedBytes(ir) > DEFAULT_SHARED_BYTES && `maxComputeWorkgroupStorageSize ${wgslSharedBytes(ir)}`,
    bindings.length > DEFAULT_BUFFERS && `maxStorageBuffersPerShaderStage ${bindings.length}`,
  ].filter((it) => it !== false);
  const { subgroupSize } = ir;
  return [
    `launch of the entry point ${name}, with everything in bind group 0:`,
    ...bindings.map(
      ({ name: buffer, binding, element, readOnly, minBytes }) =>
        `  binding ${binding}: storage${readOnly ? ", read-only" : ""}: ${buffer}, elements of ${element}, its size a multiple of ${Math.max(minBytes, WORD_BYTES)} bytes`,
    ),
    ...(uniform === null
      ? []
      : [
          `  binding ${uniform.binding}: uniform of ${uniform.bytes} bytes, little-endian:`,
          ...uniform.fields.map((field) => `    ${field.offset}: ${field.type} ${field.name}`),
        ]),
    ...(isLinear(code)
      ? [
          "  numWorkgroups.x, y and z are the workgroups that the kernel shall have. Dispatch at least x * y * z of them, in any shape,",
          "  such as [min(n, 65535), ceil(n / 65535)] for n of them: those that are too many return at once.",
        ]
      : ["  dispatch the workgroups that the kernel shall have, at most 65535 per axis"]),
    ...(features.length === 0 ? [] : [`  device with the features ${features.join(" and ")}`]),
    ...(limits.length === 0 ? [] : [`  device with the limits ${limits.join(", ")}`]),
    ...(extensions.subgroups
      ? [
          `  subgroups of ${subgroupSize}: adapter.info.subgroupMinSize and subgroupMaxSize say what a device has. With others the kernel`,
          "  returns at once and writes nothing.",
        ]
      : []),
  ];
}

/** As WebGPU counts shared memory: each variable in multiples of 16 bytes. */
export const wgslSharedBytes = ({ shared }: KernelIR): number =>
  shared.reduce((sum, { element, length }) => sum + Math.ceil((length * elementBytes(element)) / 16) * 16, 0);

/** What every WebGPU device has without being asked for more. */
const DEFAULT_INVOCATIONS = 256;
const DEFAULT_SHARED_BYTES = 16_384;
const DEFAULT_BUFFERS = 8;

function writeBindings(file: Lines, code: Code, memory: WgslMemory): StorageBinding[] {
  const bindings: StorageBinding[] = [];
  for (const param of code.ir.params) {
    if (param.kind !== "buffer") continue;
    const buffer = param.memory;
    const binding = bindings.length;
    const readOnly = buffer.access === "read";
    const access = readOnly ? "read" : "read_write";
    const declaration = `${code.memoryName(buffer)}: ${memory.arrayType(buffer, null)}`;
    file.add(`@group(0) @binding(${binding}) var<storage, ${access}> ${declaration};`, code.ir.site);
    const minBytes = memory.bytesOf(buffer);
    bindings.push({ name: param.name, binding, element: buffer.element, readOnly, minBytes });
  }
  return bindings;
}

function writeUniform(file: Lines, code: Code, binding: number): Emitted["uniform"] {
  const { ir } = code;
  const fields: UniformField[] = [];
  const lines: string[] = [];
  const add = (name: string, type: WordType, text: string): void => {
    fields.push({ name, type, offset: fields.length * WORD_BYTES });
    lines.push(`  ${text}: ${type},`);
  };
  for (const param of ir.params)
    if (param.kind === "scalar") add(param.name, param.type, code.scalarName(param.name));
  if (isLinear(code))
    for (const axis of AXES) add(`numWorkgroups.${axis}`, "u32", builtinName(`numWorkgroups.${axis}`));
  if (fields.length === 0) return null;
  file.add(`struct Params {\n${lines.join("\n")}\n}`, ir.site);
  file.add(`@group(0) @binding(${binding}) var<uniform> params: Params;`, ir.site);
  return { binding, bytes: Math.ceil((fields.length * WORD_BYTES) / 16) * 16, fields };
}

/** What nothing touches still belongs to the interface: a layout made from the shader must have it. */
function writeUntouched(file: Lines, code: Code): void {
  const { ir, used } = code;
  for (const param of ir.params)
    if (param.kind === "buffer" && !used.memories.has(param.memory))
      file.add(`_ = &${code.memoryName(param.memory)};`, ir.site);
  const hasScalars = ir.params.some(({ kind }) => kind === "scalar");
  if (!isLinear(code) && hasScalars && used.scalars.size === 0) file.add("_ = &params;", ir.site);
}

/** What an index is computed from, where it is computed. */
function computed(
  code: Code,
  hasSubgroups: boolean,
): { readonly subgroupId: boolean; readonly lane: boolean } {
  const { used, options } = code;
  const hasSubgroupId = hasSubgroups && options.subgroupId !== "computed";
  return {
    subgroupId: used.builtins.has("subgroupId") && !hasSubgroupId,
    lane: used.builtins.has("lane") && !hasSubgroups,
  };
}

function writeSignature(file: Lines, code: Code, name: string, hasSubgroups: boolean): void {
  const { ir } = code;
  const used = code.used.builtins;
  const uses = (vector: string): boolean => AXES.some((axis) => used.has(`${vector}.${axis}` as BuiltinName));
  const compute = computed(code, hasSubgroups);
  const needsGroup = isLinear(code) || uses("workgroupId") || uses("globalId") || used.has("workgroupIndex");
  const needsGrid = isLinear(code) || uses("numWorkgroups") || used.has("workgroupIndex");
  const parameters = [
    needsGroup && "@builtin(workgroup_id) groupId: vec3<u32>",
    needsGrid && "@builtin(num_workgroups) gridSize: vec3<u32>",
    (uses("localId") || uses("globalId")) && "@builtin(local_invocation_id) localId: vec3<u32>",
    (used.has("localIndex") || compute.subgroupId || compute.lane) &&
      "@builtin(local_invocation_index) localIndex: u32",
    hasSubgroups && "@builtin(subgroup_size) subgroupSize: u32",
    used.has("lane") && !compute.lane && "@builtin(subgroup_invocation_id) lane: u32",
    used.has("subgroupId") && !compute.subgroupId && "@builtin(subgroup_id) subgroupId: u32",
  ].filter((text) => text !== false);
  file.add(`@compute @workgroup_size(${ir.workgroupSize.join(", ")})`, ir.site);
  file.add(`fn ${name}(${parameters.map((text) => `\n  ${text},`).join("")}\n) {`, ir.site);
  file.depth = 1;
}

function writeIndices(file: Lines, code: Code, hasSubgroups: boolean): void {
  const ir: KernelIR = code.ir;
  const used = code.used.builtins;
  const declare = (name: string, text: string): void => file.add(`let ${name} = ${text};`, ir.site);
  if (hasSubgroups) file.add(`if (subgroupSize != ${ir.subgroupSize}u) {\n  return;\n}`);
  const linear = "groupId.x + gridSize.x * (groupId.y + gridSize.y * groupId.z)";
  if (isLinear(code)) {
    declare("workgroupIndex", linear);
    file.add(
      "if (workgroupIndex >= params.numWorkgroupsX * params.numWorkgroupsY * params.numWorkgroupsZ) {\n  return;\n}",
    );
  } else if (used.has("workgroupIndex")) declare("workgroupIndex", linear);
  const ids = {
    x: "workgroupIndex % params.numWorkgroupsX",
    y: "workgroupIndex / params.numWorkgroupsX % params.numWorkgroupsY",
    z: "workgroupIndex / params.numWorkgroupsX / params.numWorkgroupsY",
  };
  for (const [k, axis] of AXES.entries()) {
    const id = builtinName(`workgroupId.${axis}`);
    const isUsed = used.has(`workgroupId.${axis}`) || used.has(`globalId.${axis}`);
    if (isLinear(code) && isUsed) declare(id, ids[axis]);
    const group = isLinear(code) ? id : `groupId.${axis}`;
    if (used.has(`globalId.${axis}`))
      declare(builtinName(`globalId.${axis}`), `${group} * ${ir.workgroupSize[k]}u + localId.${axis}`);
  }
  const compute = computed(code, hasSubgroups);
  if (compute.subgroupId) declare("subgroupId", `localIndex / ${ir.subgroupSize}u`);
  if (compute.lane) declare("lane", `localIndex % ${ir.subgroupSize}u`);
}
