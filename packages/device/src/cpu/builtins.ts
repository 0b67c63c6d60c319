/** Built-in indices and scalar parameters: how a kernel's function learns where it is and what it was launched with. */

import type { BuiltinName, Node, Value } from "@evolver/kernel";
import type { Emitter } from "./emitter.ts";
import { OP } from "./opcodes.ts";

/** The block of arguments of a launch: the workgroup counts, then four bytes a parameter in their order. */
export const ARGUMENTS = Object.freeze({ numWorkgroups: 0, params: 12 });

const AXES = ["x", "y", "z"] as const;
type Axis = 0 | 1 | 2;

export function pushParameter(e: Emitter, name: string): void {
  const index = e.ir.params.findIndex((param) => param.name === name);
  const param = e.ir.params[index];
  const float = param?.kind === "scalar" && param.type === "f32";
  e.f.get(e.argumentBase).memory(float ? OP.f32Load : OP.i32Load, ARGUMENTS.params + 4 * index, 2);
}

/** Pushes a built-in that is a scalar, or lane 0's value of an affine one. */
export function pushBuiltin(e: Emitter, builtin: BuiltinName): void {
  const { f } = e;
  switch (builtin) {
    case "workgroupIndex":
      f.get(e.workgroup);
      return;
    case "subgroupId":
      f.get(e.subgroup);
      return;
    case "lane":
      f.i32(0);
      return;
    case "localIndex":
      pushFirstLocalIndex(e);
      return;
    default: {
      const [name, axisName] = builtin.split(".") as [string, "x" | "y" | "z"];
      const axis = AXES.indexOf(axisName) as Axis;
      if (name === "numWorkgroups") pushWorkgroupCount(e, axis);
      else if (name === "workgroupId") pushWorkgroupId(e, axis);
      else {
        pushFirstLocalId(e, axis);
        if (name === "globalId") pushWorkgroupOffset(e, axis);
      }
    }
  }
}

/** Pushes four lanes of a local or global index that is no affine form. */
export function pushBuiltinLanes(e: Emitter, builtin: BuiltinName, chunk: number): void {
  const { f } = e;
  const [name, axisName] = builtin.split(".") as [string, "x" | "y" | "z"];
  const axis = AXES.indexOf(axisName) as Axis;
  const [x, y] = e.ir.workgroupSize;
  const splat = (value: number): number[] => Array<number>(4).fill(value);
  // Below 2^10, division by a constant is a multiplication by its rounded-up reciprocal of 20 bits.
  const divide = (by: number): void => {
    f.i32x4(splat(Math.ceil(2 ** 20 / by)))
      .op(OP.i32x4Mul)
      .i32(20)
      .op(OP.i32x4ShrU);
  };
  const pushDivided = (by: number): void => {
    pushFirstLocalIndex(e);
    f.op(OP.i32x4Splat)
      .i32x4([0, 1, 2, 3].map((i) => 4 * chunk + i))
      .op(OP.i32x4Add);
    if (by > 1) divide(by);
  };
  const before = axis === 0 ? 1 : axis === 1 ? x : x * y;
  const size = e.ir.workgroupSize[axis];
  pushDivided(before);
  pushDivided(before * size);
  f.i32x4(splat(size)).op(OP.i32x4Mul).op(OP.i32x4Sub);
  if (name === "globalId") {
    f.i32(0);
    pushWorkgroupOffset(e, axis);
    f.op(OP.i32x4Splat).op(OP.i32x4Add);
  }
}

/** Whether a value is a built-in that differs between subgroups, and so is made anew in each stretch. */
export function isSubgroupBuiltin(e: Emitter, value: Value): Node | null {
  const node = e.partition.definitions.get(value.id);
  return node?.kind === "builtin" && !e.partition.isWide(node) ? node : null;
}

function pushFirstLocalIndex(e: Emitter): void {
  e.f.get(e.subgroup).i32(e.width).op(OP.i32Mul);
}

function pushFirstLocalId(e: Emitter, axis: Axis): void {
  const { f } = e;
  const size = e.ir.workgroupSize[axis];
  const [x, y] = e.ir.workgroupSize;
  if (size === 1) {
    f.i32(0);
    return;
  }
  pushFirstLocalIndex(e);
  const before = axis === 0 ? 1 : axis === 1 ? x : x * y;
  if (before > 1) f.i32(before).op(OP.i32DivU);
  f.i32(size).op(OP.i32RemU);
}

/** Adds what the workgroup contributes to a global index to the scalar on the stack. */
function pushWorkgroupOffset(e: Emitter, axis: Axis): void {
  pushWorkgroupId(e, axis);
  e.f.i32(e.ir.workgroupSize[axis]).op(OP.i32Mul).op(OP.i32Add);
}

function pushWorkgroupCount(e: Emitter, axis: Axis): void {
  e.f.get(e.argumentBase).memory(OP.i32Load, ARGUMENTS.numWorkgroups + 4 * axis, 2);
}

function pushWorkgroupId(e: Emitter, axis: Axis): void {
  const { f } = e;
  f.get(e.workgroup);
  for (let before = 0 as Axis; before < axis; before++) {
    pushWorkgroupCount(e, before);
    f.op(OP.i32DivU);
  }
  if (axis === 2) return;
  pushWorkgroupCount(e, axis);
  f.op(OP.i32RemU);
}
