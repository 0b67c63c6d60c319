/**
 * The state of the code generator while it writes a kernel's function: where each value and variable lives, and how to
 * push it. A uniform value (and the base of an affine one) lives in one scalar local; a varying one in a vector local
 * for every four lanes of the subgroup. The files beside this one write nodes with it.
 */

import type { KernelIR, Memory, Value, Variable } from "@evolver/kernel";
import type { Dataflow } from "../analysis/dataflow.ts";
import type { Divergence } from "../analysis/divergence.ts";
import type { LanePattern } from "../lane-pattern.ts";
import type { Partition } from "../analysis/regions.ts";
import type { OperationSite } from "../operations/operation.ts";
import { laneBits, representations, splat } from "../operations/representation.ts";
import type { FunctionBuilder } from "../wasm/encoder.ts";
import type { HelperFunctions } from "../wasm/helper-functions.ts";
import { OP, type WasmType } from "../wasm/opcodes.ts";

/** Which lanes are active: null for all, or a local with a mask for every four lanes. */
export type Mask = readonly number[] | null;

/** Chunks of four lanes: from the first to before the end. */
export interface ChunkRange {
  readonly first: number;
  readonly end: number;
}

/** Where things lie in the blocks of memory that a worker gives to the kernel; in bytes. */
export interface Layout {
  /** Offset of a shared array in the worker's shared memory. */
  shared(memory: Memory): number;
  /** Room for two values of all lanes of a subgroup, in the context area. */
  readonly exchange: number;
}

/** What is known of a kernel, and the function that is written for it. */
export interface EmitterInput {
  readonly ir: KernelIR;
  readonly f: FunctionBuilder;
  readonly helpers: HelperFunctions;
  readonly divergence: Divergence;
  readonly dataflow: Dataflow;
  readonly partition: Partition;
  readonly layout: Layout;
}

export class Emitter {
  readonly ir: KernelIR;
  readonly f: FunctionBuilder;
  readonly helpers: HelperFunctions;
  readonly divergence: Divergence;
  readonly dataflow: Dataflow;
  readonly partition: Partition;
  readonly layout: Layout;
  /** Lanes of a subgroup. */
  readonly width: number;
  /** Vectors of four lanes in a subgroup. */
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
  /** By value id: a vector local with a scalar (or an affine base) in all lanes; valid in straight-line code only. */
  readonly splats = new Map<number, number>();
  /** By value id: values of the four lanes being written; valid in straight-line code only. */
  readonly temporaries = new Map<number, number>();
  /** By variable id. */
  readonly variableScalars = new Map<number, number>();
  readonly variableLanes = new Map<number, readonly number[]>();
  /** The mask in force where a variable was declared: lanes outside it need no care. */
  readonly variableMask = new Map<number, Mask>();
  /** By value id: byte offset in the context area, relative to the subgroup's part, of a copy of all its lanes. */
  readonly spilled = new Map<number, number>();

  /** Locals with addresses that the loops around keep, by addressKey. */
  readonly loopAddresses = new Map<string, number>();
  /** The chunks of four lanes that straight-line code is written for. */
  range: ChunkRange;

  readonly #scopes: number[][] = [];

  constructor({ ir, f, helpers, divergence, dataflow, partition, layout }: EmitterInput) {
    this.ir = ir;
    this.f = f;
    this.helpers = helpers;
    this.divergence = divergence;
    this.dataflow = dataflow;
    this.partition = partition;
    this.layout = layout;
    this.width = ir.subgroupSize;
    this.chunks = ir.subgroupSize / 4;
    this.range = { first: 0, end: this.chunks };
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

  pattern(value: Value): LanePattern {
    return this.divergence.pattern(value);
  }

  /** Pushes the scalar of a uniform value, or lane 0's part of an affine one. */
  pushScalar(value: Value): void {
    const { constant } = this.pattern(value);
    if (constant !== undefined) {
      if (representations[value.type].scalar === "f32") this.f.f32(constant);
      else this.f.i32(constant);
      return;
    }
    this.f.get(found(this.scalars, value));
  }

  /** Gives a scalar the value on the stack. */
  setScalar(value: Value): void {
    const local = this.local(representations[value.type].scalar);
    this.f.set(local);
    this.scalars.set(value.id, local);
  }

  /** Pushes lanes 4·chunk to 4·chunk + 3 of a value of any pattern. */
  pushLanes(value: Value, chunk: number): void {
    const { f } = this;
    const temporary = this.temporaries.get(value.id);
    if (temporary !== undefined) {
      f.get(temporary);
      return;
    }
    const pattern = this.pattern(value);
    if (pattern.kind === "varying") {
      f.get(found(this.lanes, value)[chunk] as number);
      return;
    }
    const constant = this.constants.get(value.id);
    if (constant !== undefined) {
      f.get(constant);
      return;
    }
    if (pattern.constant !== undefined) {
      this.pushConstantLanes(value, pattern.constant);
      return;
    }
    const ready = this.splats.get(value.id);
    if (ready === undefined) this.pushSplat(value);
    else f.get(ready);
    if (pattern.kind === "affine")
      f.i32x4([0, 1, 2, 3].map((i) => Math.imul(pattern.stride, 4 * chunk + i))).op(OP.i32x4Add);
  }

  pushSplat(value: Value): void {
    this.pushScalar(value);
    splat(this.f, value.type);
  }

  pushConstantLanes(value: Value, constant: number): void {
    const bits = laneBits(value.type, constant);
    this.f.i32x4([bits, bits, bits, bits]);
  }

  /** Where an operation on these values is written, at a chunk of lanes. */
  operationSite(values: readonly Value[], chunk: number): OperationSite {
    const at = (i: number): Value => values[i] as Value;
    return {
      f: this.f,
      helpers: this.helpers,
      operands: {
        types: values.map(({ type }) => type),
        lanes: (i) => this.pushLanes(at(i), chunk),
        scalar: (i) => this.pushScalar(at(i)),
        isScalar: (i) => this.pattern(at(i)).kind === "uniform",
        constant: (i) => this.pattern(at(i)).constant,
      },
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
    if (this.divergence.variable(variable.id).kind === "varying")
      this.variableLanes.set(variable.id, this.vectorLocals());
    else this.variableScalars.set(variable.id, this.local(representations[variable.type].scalar));
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
