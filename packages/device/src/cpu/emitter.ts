/**
 * The state of the compiler while it writes a kernel's function: where each value and variable lives, and how to push
 * it. Values that are the same for a subgroup (and the base of affine ones) live in a scalar local; others in one
 * vector local for every four lanes. The files beside this one write nodes with it.
 */

import { isFloat } from "@evolver/kernel";
import type { KernelIR, Memory, ScalarType, Value, Variable } from "@evolver/kernel";
import type { Classification } from "./classify.ts";
import type { FunctionBuilder } from "./encoder.ts";
import type { Form } from "./forms.ts";
import type { Helpers } from "./helpers.ts";
import { OP, type WasmType } from "./opcodes.ts";
import { splat, type Operands } from "./operations.ts";
import type { Partition } from "./partition.ts";

/** Which lanes are active: null for all, or a local with a mask for every four lanes. */
export type Mask = readonly number[] | null;

/** Where things lie in the blocks of memory that a worker gives to the kernel; in bytes. */
export interface Layout {
  /** Offset of a shared array in the worker's shared memory. */
  shared(memory: Memory): number;
  /** Room for two values of all lanes of a subgroup, in the context area. */
  readonly exchange: number;
}

/** f16 and bf16 are held as the f32 that they are exactly. */
export const scalarWasm = (type: ScalarType): WasmType => (isFloat(type) ? "f32" : "i32");

const bitsScratch = new DataView(new ArrayBuffer(4));

export function floatBits(value: number): number {
  bitsScratch.setFloat32(0, value);
  return bitsScratch.getInt32(0);
}

export class Emitter {
  readonly ir: KernelIR;
  readonly f: FunctionBuilder;
  readonly helpers: Helpers;
  readonly forms: Classification;
  readonly partition: Partition;
  readonly layout: Layout;
  readonly width: number;
  /** Vector locals for a value that differs between lanes. */
  readonly chunks: number;
  /** Locals with addresses: of each buffer, of the shared memory, of the context area and of this subgroup's part. */
  readonly bases = new Map<Memory, number>();
  argumentBase = 0;
  sharedBase = 0;
  contextBase = 0;
  subgroupContext = 0;
  /** Locals with the linear index of the workgroup and the index of the subgroup in it. */
  workgroup = 0;
  subgroup = 0;

  /** By value id. */
  readonly scalars = new Map<number, number>();
  readonly lanes = new Map<number, readonly number[]>();
  readonly constants = new Map<number, number>();
  /** By value id: a vector local with a scalar (or an affine base) in all lanes; valid inside a run of nodes only. */
  readonly splats = new Map<number, number>();
  /** By value id: values of the four lanes being written; valid inside a run of nodes only. */
  readonly temporaries = new Map<number, number>();
  /** By variable id. */
  readonly variableScalars = new Map<number, number>();
  readonly variableLanes = new Map<number, readonly number[]>();
  /** The mask in force where a variable was declared: lanes outside it need no care. */
  readonly variableMask = new Map<number, Mask>();
  /** By value id: byte offset in the context area, relative to the subgroup's part, of a copy of all its lanes. */
  readonly spilled = new Map<number, number>();

  readonly #scopes: number[][] = [];

  constructor(
    ir: KernelIR,
    f: FunctionBuilder,
    helpers: Helpers,
    forms: Classification,
    partition: Partition,
    layout: Layout,
  ) {
    this.ir = ir;
    this.f = f;
    this.helpers = helpers;
    this.forms = forms;
    this.partition = partition;
    this.layout = layout;
    this.width = ir.subgroupSize;
    this.chunks = ir.subgroupSize / 4;
  }

  /** Locals made inside are free again afterwards. */
  scope(write: () => void): void {
    this.#scopes.push([]);
    write();
    for (const local of this.#scopes.pop() as number[]) this.f.release(local);
  }

  local(type: WasmType): number {
    const local = this.f.local(type);
    this.#scopes.at(-1)?.push(local);
    return local;
  }

  vectorLocals(): number[] {
    return Array.from({ length: this.chunks }, () => this.local("v128"));
  }

  form(value: Value): Form {
    return this.forms.form(value);
  }

  /** Pushes the scalar of a value, or lane 0's part of an affine one. */
  pushScalar(value: Value): void {
    const { constant } = this.form(value);
    if (constant !== undefined) {
      if (isFloat(value.type)) this.f.f32(constant);
      else this.f.i32(constant);
      return;
    }
    this.f.get(found(this.scalars, value));
  }

  /** Gives a scalar the value on the stack. */
  setScalar(value: Value): void {
    const local = this.local(scalarWasm(value.type));
    this.f.set(local);
    this.scalars.set(value.id, local);
  }

  /** Pushes lanes 4·chunk to 4·chunk + 3 of a value of any form. */
  pushLanes(value: Value, chunk: number): void {
    const { f } = this;
    const temporary = this.temporaries.get(value.id);
    if (temporary !== undefined) {
      f.get(temporary);
      return;
    }
    const form = this.form(value);
    if (form.kind === "lanes") {
      f.get(found(this.lanes, value)[chunk] as number);
      return;
    }
    const constant = this.constants.get(value.id);
    if (constant !== undefined) {
      f.get(constant);
      return;
    }
    if (form.constant !== undefined) {
      this.pushConstantLanes(value, form.constant);
      return;
    }
    const ready = this.splats.get(value.id);
    if (ready === undefined) this.pushSplat(value);
    else f.get(ready);
    if (form.kind === "affine")
      f.i32x4([0, 1, 2, 3].map((i) => Math.imul(form.stride, 4 * chunk + i))).op(OP.i32x4Add);
  }

  pushSplat(value: Value): void {
    this.pushScalar(value);
    splat(this.f, value.type);
  }

  pushConstantLanes(value: Value, constant: number): void {
    const bits = isFloat(value.type) ? floatBits(constant) : value.type === "bool" ? -constant : constant;
    this.f.i32x4([bits, bits, bits, bits]);
  }

  /** The operands of a node for operations.ts, at a chunk of lanes. */
  operands(values: readonly Value[], chunk: number): Operands {
    const at = (i: number): Value => values[i] as Value;
    return {
      lanes: (i) => this.pushLanes(at(i), chunk),
      scalar: (i) => this.pushScalar(at(i)),
      isScalar: (i) => this.form(at(i)).kind === "scalar",
      constant: (i) => this.form(at(i)).constant,
    };
  }

  /** Pushes 1 if any lane of the mask is active. */
  pushAny(mask: readonly number[]): void {
    const { f } = this;
    mask.forEach((local, i) => {
      f.get(local);
      if (i > 0) f.op(OP.v128Or);
    });
    f.op(OP.v128AnyTrue);
  }

  /** Pushes 1 if all lanes of the mask are active. */
  pushAll(mask: readonly number[]): void {
    const { f } = this;
    mask.forEach((local, i) => {
      f.get(local);
      if (i > 0) f.op(OP.v128And);
    });
    f.op(OP.i32x4AllTrue);
  }

  declareVariable(variable: Variable, mask: Mask): void {
    this.variableMask.set(variable.id, mask);
    if (this.forms.variable(variable.id).kind === "lanes")
      this.variableLanes.set(variable.id, this.vectorLocals());
    else this.variableScalars.set(variable.id, this.local(scalarWasm(variable.type)));
  }

  /** Stores the lanes of a value that a later shuffle reads by index, if one does. */
  spill(value: Value): void {
    const offset = this.spilled.get(value.id);
    if (offset === undefined) return;
    for (let k = 0; k < this.chunks; k++) {
      this.f.get(this.subgroupContext);
      this.pushLanes(value, k);
      this.f.memory(OP.v128Store, offset + 16 * k, 4);
    }
  }
}

function found<T>(map: ReadonlyMap<number, T>, value: Value): T {
  const entry = map.get(value.id);
  if (entry === undefined) throw new Error(`value ${value.id} has no place in the generated function`);
  return entry;
}
