/** Built-in indices and scalar parameters: how a kernel's function gets its position and the arguments of the launch. */

import type { BuiltinName, BuiltinNode, Value } from "@evolver/kernel";
import { representations } from "../operations/representation.ts";
import { rowOf } from "../lookup.ts";
import { OP } from "../wasm/opcodes.ts";
import type { Emitter } from "./emitter.ts";

/** The block of arguments of a launch: the workgroup counts, then four bytes per parameter in their order. */
export const ARGUMENTS = Object.freeze({ numWorkgroups: 0, params: 12 });

type Axis = 0 | 1 | 2;

interface BuiltinCode {
  /** Pushes the value, where it is uniform, or lane 0's where it is affine. */
  scalar(e: Emitter): void;
  /** Pushes four lanes; null where the value is never varying. */
  readonly lanes: ((e: Emitter, chunk: number) => void) | null;
}

const scalarOnly = (scalar: BuiltinCode["scalar"]): BuiltinCode => ({ scalar, lanes: null });

const workgroupId = (axis: Axis): BuiltinCode => scalarOnly((e) => pushWorkgroupId(e, axis));
const numWorkgroups = (axis: Axis): BuiltinCode => scalarOnly((e) => pushWorkgroupCount(e, axis));
const localId = (axis: Axis): BuiltinCode => ({
  scalar: (e) => pushFirstLocalId(e, axis),
  lanes: (e, chunk) => pushLocalIds(e, axis, chunk),
});
const globalId = (axis: Axis): BuiltinCode => ({
  scalar(e) {
    pushFirstLocalId(e, axis);
    addWorkgroupOffset(e, axis);
  },
  lanes(e, chunk) {
    pushLocalIds(e, axis, chunk);
    e.f.i32(0);
    addWorkgroupOffset(e, axis);
    e.f.op(OP.i32x4Splat).op(OP.i32x4Add);
  },
});

const builtins: Readonly<Record<BuiltinName, BuiltinCode>> = Object.freeze({
  "workgroupId.x": workgroupId(0),
  "workgroupId.y": workgroupId(1),
  "workgroupId.z": workgroupId(2),
  "numWorkgroups.x": numWorkgroups(0),
  "numWorkgroups.y": numWorkgroups(1),
  "numWorkgroups.z": numWorkgroups(2),
  "localId.x": localId(0),
  "localId.y": localId(1),
  "localId.z": localId(2),
  "globalId.x": globalId(0),
  "globalId.y": globalId(1),
  "globalId.z": globalId(2),
  workgroupIndex: scalarOnly((e) => e.f.get(e.workgroup)),
  subgroupId: scalarOnly((e) => e.f.get(e.subgroup)),
  lane: scalarOnly((e) => e.f.i32(0)),
  localIndex: scalarOnly(pushFirstLocalIndex),
});

/** Pushes a built-in that is uniform, or lane 0's value of an affine one. */
export function pushBuiltin(e: Emitter, builtin: BuiltinName): void {
  rowOf(builtins, builtin, "builtin").scalar(e);
}

/** Pushes four lanes of a varying built-in. */
export function pushBuiltinLanes(e: Emitter, builtin: BuiltinName, chunk: number): void {
  const { lanes } = rowOf(builtins, builtin, "builtin");
  if (lanes === null) throw new Error(`the builtin ${builtin} is never varying`);
  lanes(e, chunk);
}

export function pushParameter(e: Emitter, name: string): void {
  const index = e.ir.params.findIndex((param) => param.name === name);
  const param = e.ir.params[index];
  if (param?.kind !== "scalar") throw new Error(`"${name}" is not a scalar parameter`);
  e.f.get(e.argumentBase).memory(representations[param.type].load, ARGUMENTS.params + 4 * index, 2);
}

/** The node of a built-in that differs between subgroups, and so is computed again in each region; null for other values. */
export function subgroupBuiltin(e: Emitter, value: Value): BuiltinNode | null {
  const node = e.dataflow.definitions.get(value.id);
  return node?.kind === "builtin" && !e.partition.isHoisted(node) ? node : null;
}

function pushFirstLocalIndex(e: Emitter): void {
  e.f.get(e.subgroup).i32(e.width).op(OP.i32Mul);
}

/** Invocations from one to the next along an axis, in the order of local indices. */
function strideOf(e: Emitter, axis: Axis): number {
  const [x, y] = e.ir.workgroupSize;
  return [1, x, x * y][axis] as number;
}

function pushFirstLocalId(e: Emitter, axis: Axis): void {
  const { f } = e;
  const size = e.ir.workgroupSize[axis];
  if (size === 1) {
    f.i32(0);
    return;
  }
  pushFirstLocalIndex(e);
  const stride = strideOf(e, axis);
  if (stride > 1) f.i32(stride).op(OP.i32DivU);
  f.i32(size).op(OP.i32RemU);
}

/** Pushes four lanes of a local index along an axis. */
function pushLocalIds(e: Emitter, axis: Axis, chunk: number): void {
  const { f } = e;
  const everyLane = (value: number): number[] => Array<number>(4).fill(value);
  const pushDivided = (by: number): void => {
    pushFirstLocalIndex(e);
    f.op(OP.i32x4Splat)
      .i32x4([0, 1, 2, 3].map((i) => 4 * chunk + i))
      .op(OP.i32x4Add);
    if (by === 1) return;
    // Below 2^10, division by a constant is a multiplication by its rounded-up reciprocal of 20 bits.
    f.i32x4(everyLane(Math.ceil(2 ** 20 / by)))
      .op(OP.i32x4Mul)
      .i32(20)
      .op(OP.i32x4ShrU);
  };
  const stride = strideOf(e, axis);
  const size = e.ir.workgroupSize[axis];
  pushDivided(stride);
  pushDivided(stride * size);
  f.i32x4(everyLane(size)).op(OP.i32x4Mul).op(OP.i32x4Sub);
}

/** Adds what the workgroup contributes to a global index to the scalar on the stack. */
function addWorkgroupOffset(e: Emitter, axis: Axis): void {
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
