/**
 * Types and storage of the IR. Values are scalars only: a wide memory access yields or takes several scalars, and
 * vectors exist in the front end alone.
 */

/**
 * `index` is an element offset into memory. It is exact beyond 32 bits: 64-bit integers on CUDA and HIP, the full
 * integer range of a double on `sim`, and 32 bits where memory cannot be larger (`cpu`, WebGPU).
 */
export type ScalarType = "f32" | "i32" | "u32" | "bool" | "index";

/** Types that arithmetic works on. */
export type NumericType = "f32" | "i32" | "u32";

/** Types that can live in buffers and shared memory; all are four bytes. */
export type ElementType = "f32" | "i32" | "u32";

export const ELEMENT_BYTES = 4;

export type Access = "read" | "write" | "read_write";

/** A buffer parameter of the kernel: global memory, owned by the caller. */
export interface GlobalMemory {
  readonly space: "global";
  readonly name: string;
  readonly element: ElementType;
  readonly access: Access;
  /** Touched by atomic operations only. */
  readonly atomic: boolean;
}

/** An array in workgroup-shared memory: one a workgroup, uninitialised at its start. */
export interface SharedMemory {
  readonly space: "shared";
  readonly name: string;
  readonly element: ElementType;
  /** In elements. */
  readonly length: number;
  readonly atomic: boolean;
}

export type Memory = GlobalMemory | SharedMemory;

export interface ScalarParam {
  readonly kind: "scalar";
  readonly name: string;
  readonly type: NumericType;
}

export interface BufferParam {
  readonly kind: "buffer";
  readonly name: string;
  readonly memory: GlobalMemory;
}

export type Param = ScalarParam | BufferParam;

/** An SSA value: assigned once, by the node that lists it as its result. */
export interface Value {
  /** Unique in the kernel, dense from 0. */
  readonly id: number;
  readonly type: ScalarType;
}

/** A mutable variable of one invocation (`gpu.var`); a register, not memory. */
export interface Variable {
  /** Unique in the kernel, dense from 0. */
  readonly id: number;
  readonly type: "f32" | "i32" | "u32" | "bool";
  readonly name: string;
}
