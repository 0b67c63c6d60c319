/**
 * Types and storage of the IR. Values are scalars only: a wide memory access yields or takes several scalars, and
 * vectors exist in the front end alone.
 */

/**
 * `index` is an element offset into memory. It is exact beyond 32 bits: 64-bit integers on CUDA and HIP, the full
 * integer range of a double on `sim`, and 32 bits where memory cannot be larger (`cpu`, WebGPU).
 */
export type ScalarType = NumericType | "bool" | "index";

/**
 * IEEE binary16, and the upper half of an f32 (bfloat16). Every operation on them rounds once to the type, to nearest
 * even: beyond the largest number it overflows to infinity, subnormal numbers are kept, and there is one NaN.
 */
export type HalfType = "f16" | "bf16";

export type FloatType = "f32" | HalfType;

/** Types of four bytes: those of scalar parameters and of atomic memory. */
export type WordType = "f32" | "i32" | "u32";

/** Types that arithmetic works on. */
export type NumericType = WordType | HalfType;

/** Types that can live in buffers and shared memory. */
export type ElementType = NumericType;

export const isHalf = (type: unknown): type is HalfType => type === "f16" || type === "bf16";
export const isFloat = (type: unknown): type is FloatType => type === "f32" || isHalf(type);
export const isInteger = (type: unknown): type is "i32" | "u32" => type === "i32" || type === "u32";

/** The size of an element in bytes. */
export const elementBytes = (element: ElementType): 2 | 4 => (isHalf(element) ? 2 : 4);

/** The size of a shared array in bytes. */
export const sharedMemoryBytes = ({ element, length }: SharedMemory): number =>
  length * elementBytes(element);

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

/**
 * An array of barriers in shared memory whose phases complete one after another, each when `arrivals` invocations have
 * arrived (CUDA: mbarrier). Phase 0 is current when the workgroup starts; the parity of a phase is its number's.
 */
export interface PhaseBarrier {
  readonly name: string;
  /** Barriers in the array. */
  readonly count: number;
  /** Arrivals that complete a phase. */
  readonly arrivals: number;
  /** What the copies that complete a phase copy together, zeros included; null where nothing is expected. */
  readonly bytes: number | null;
}

/** What a barrier of phases takes of shared memory, whatever the target makes of it. */
const PHASE_BARRIER_BYTES = 8;

/** The shared memory that a workgroup of a kernel takes: its arrays and its phase barriers, without padding. */
export const sharedBytesOf = (ir: {
  readonly shared: readonly SharedMemory[];
  readonly phaseBarriers: readonly PhaseBarrier[];
}): number =>
  ir.shared.reduce((sum, memory) => sum + sharedMemoryBytes(memory), 0) +
  ir.phaseBarriers.reduce((sum, { count }) => sum + count * PHASE_BARRIER_BYTES, 0);

export interface ScalarParam {
  readonly kind: "scalar";
  readonly name: string;
  readonly type: WordType;
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
  readonly type: NumericType | "bool";
  readonly name: string;
}
