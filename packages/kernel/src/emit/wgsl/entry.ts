/** The opening of WGSL's entry point: the built-ins that it takes, and those that are computed from them. */

import type { BuiltinName } from "../../ir/builtins.ts";
import type { KernelIR } from "../../ir/nodes.ts";
import type { Lines } from "../core/lines.ts";
import { builtinName } from "../core/names.ts";

export const AXES = ["x", "y", "z"] as const;

/** The names of the entry point's own parameters, and of functions that are called by their own names. */
export const TAKEN_NAMES = (
  "groupId gridSize localId Params atomicLoad atomicStore atomicAdd atomicMin atomicMax atomicAnd atomicOr " +
  "atomicXor atomicExchange workgroupBarrier storageBarrier workgroupUniformLoad subgroupAdd subgroupMin subgroupMax " +
  "subgroupInclusiveAdd subgroupExclusiveAdd subgroupAny subgroupAll subgroupBallot subgroupBroadcast " +
  "subgroupBroadcastFirst subgroupShuffle subgroupShuffleXor subgroupShuffleUp subgroupShuffleDown"
).split(" ");

interface EntryOptions {
  /** Workgroups are numbered through, whatever the shape of the grid. */
  readonly isLinear: boolean;
  readonly hasSubgroups: boolean;
  /** Whether `subgroup_id` is taken from the built-in of that name. */
  readonly hasSubgroupId: boolean;
}

/** Writes the signature and the first statements; the caller writes the rest, and closes the function. */
export function openEntry(
  file: Lines,
  entryPoint: string,
  ir: KernelIR,
  used: ReadonlySet<BuiltinName>,
  { isLinear, hasSubgroups, hasSubgroupId }: EntryOptions,
): void {
  const [x, y, z] = ir.workgroupSize;
  const uses = (name: string): boolean => AXES.some((axis) => used.has(`${name}.${axis}` as BuiltinName));
  const computesId = used.has("subgroupId") && !hasSubgroupId;
  const computesLane = used.has("lane") && !hasSubgroups;
  const needsGroup = isLinear || uses("workgroupId") || uses("globalId") || used.has("workgroupIndex");
  const needsGrid = isLinear || uses("numWorkgroups") || used.has("workgroupIndex");
  const parameters = [
    needsGroup && "@builtin(workgroup_id) groupId: vec3<u32>",
    needsGrid && "@builtin(num_workgroups) gridSize: vec3<u32>",
    (uses("localId") || uses("globalId")) && "@builtin(local_invocation_id) localId: vec3<u32>",
    (used.has("localIndex") || computesId || computesLane) &&
      "@builtin(local_invocation_index) localIndex: u32",
    used.has("lane") && hasSubgroups && "@builtin(subgroup_invocation_id) lane: u32",
    used.has("subgroupId") && hasSubgroupId && "@builtin(subgroup_id) subgroupId: u32",
  ].filter((text) => text !== false);
  file.add(`@compute @workgroup_size(${x}, ${y}, ${z})`, ir.site);
  file.add(`fn ${entryPoint}(${parameters.map((text) => `\n  ${text},`).join("")}\n) {`, ir.site);
  file.depth = 1;
  const declare = (name: string, text: string): void => file.add(`let ${name} = ${text};`, ir.site);
  const linear = "groupId.x + gridSize.x * (groupId.y + gridSize.y * groupId.z)";
  if (isLinear) {
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
    if (isLinear && isUsed) declare(id, ids[axis]);
    const group = isLinear ? id : `groupId.${axis}`;
    if (used.has(`globalId.${axis}`))
      declare(builtinName(`globalId.${axis}`), `${group} * ${ir.workgroupSize[k]}u + localId.${axis}`);
  }
  if (computesId) declare("subgroupId", `localIndex / ${ir.subgroupSize}u`);
  if (computesLane) declare("lane", `localIndex % ${ir.subgroupSize}u`);
}
