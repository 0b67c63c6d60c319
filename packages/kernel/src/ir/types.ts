/**
 * Types and storage of the IR. Values are scalars only: a wide memory access yields or takes several scalars, and
 * vectors exist in the front end alone. What a type is stands in its row of `scalarTypes`; how each operation treats it is
 * in ops.ts.
 */

import { bf16FromBits, bf16ToBits, f16FromBits, f16ToBits, roundBF16, roundF16 } from "./mathematics.ts";

/** An array of what memory holds. */
type ArrayClass =
  | Float32ArrayConstructor
  | Int32ArrayConstructor
  | Uint32ArrayConstructor
  | Uint16ArrayConstructor;

/** What is known of a scalar type: where values of it may stand. */
export interface ScalarRow {
  readonly kind: "float" | "integer" | "bool" | "index";
  /** The size of an element in memory; 0 where the type cannot stand in memory. */
  readonly bytes: 0 | 2 | 4;
  /** Whether buffers and shared memory can hold it; arithmetic works on these types. */
  readonly element: boolean;
  /** Whether a scalar parameter and atomic memory can be of it. */
  readonly word: boolean;
  /** Whether a variable can be of it. */
  readonly variable: boolean;
  /** What holds elements in JavaScript; types of two bytes are held as their bits. */
  readonly array: ArrayClass | null;
  /** The number for an element of the array, and back. */
  encode(value: number): number;
  decode(held: number): number;
  /** A JavaScript expression as the type holds its value: rounded once, or wrapped around. */
  wrap(expression: string): string;
  /** The same of a value. Integers beyond 2^53 are not exact and do not come here. */
  round(value: number): number;
  /** A literal as the type holds it, floating point rounded; null where it holds no such value. */
  literal(value: number | boolean): number | boolean | null;
  /** Nothing is below and above: what `max` and `min` over no values give. */
  readonly least: number;
  readonly greatest: number;
  /** How names of operations and helpers end: toF32. */
  readonly suffix: string;
  /** The type in emitted code, as a prologue declares it; null where the language has none. */
  readonly names: { readonly cpp: string; readonly wgsl: string | null };
}

const same = (value: number): number => value;

const wholeNumber =
  (least: number, greatest: number): ScalarRow["literal"] =>
  (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= least && value <= greatest
      ? value + 0
      : null;

const rounded =
  (round: (value: number) => number): ScalarRow["literal"] =>
  (value) =>
    typeof value === "number" ? round(value) : null;

const define = <const T extends Readonly<Record<string, ScalarRow>>>(rows: T): T => Object.freeze(rows);

/** The scalar types, one row each. */
export const scalarTypes = define({
  f32: {
    kind: "float",
    bytes: 4,
    element: true,
    word: true,
    variable: true,
    array: Float32Array,
    encode: same,
    decode: same,
    wrap: (expression) => `fround(${expression})`,
    round: Math.fround,
    literal: rounded(Math.fround),
    least: -Infinity,
    greatest: Infinity,
    suffix: "F32",
    names: { cpp: "float", wgsl: "f32" },
  },
  i32: {
    kind: "integer",
    bytes: 4,
    element: true,
    word: true,
    variable: true,
    array: Int32Array,
    encode: same,
    decode: same,
    wrap: (expression) => `(${expression}|0)`,
    round: (value) => value | 0,
    literal: wholeNumber(-0x80000000, 0x7fffffff),
    least: -0x80000000,
    greatest: 0x7fffffff,
    suffix: "I32",
    names: { cpp: "int", wgsl: "i32" },
  },
  u32: {
    kind: "integer",
    bytes: 4,
    element: true,
    word: true,
    variable: true,
    array: Uint32Array,
    encode: same,
    decode: same,
    wrap: (expression) => `((${expression})>>>0)`,
    round: (value) => value >>> 0,
    literal: wholeNumber(0, 0xffffffff),
    least: 0,
    greatest: 0xffffffff,
    suffix: "U32",
    names: { cpp: "unsigned", wgsl: "u32" },
  },
  /** IEEE binary16. */
  f16: {
    kind: "float",
    bytes: 2,
    element: true,
    word: false,
    variable: true,
    array: Uint16Array,
    encode: f16ToBits,
    decode: f16FromBits,
    wrap: (expression) => `m.roundF16(${expression})`,
    round: roundF16,
    literal: rounded(roundF16),
    least: -Infinity,
    greatest: Infinity,
    suffix: "F16",
    names: { cpp: "f16", wgsl: "f16" },
  },
  /** bfloat16, the upper half of an f32. */
  bf16: {
    kind: "float",
    bytes: 2,
    element: true,
    word: false,
    variable: true,
    array: Uint16Array,
    encode: bf16ToBits,
    decode: bf16FromBits,
    wrap: (expression) => `m.roundBF16(${expression})`,
    round: roundBF16,
    literal: rounded(roundBF16),
    least: -Infinity,
    greatest: Infinity,
    suffix: "BF16",
    names: { cpp: "bf16", wgsl: null },
  },
  bool: {
    kind: "bool",
    bytes: 0,
    element: false,
    word: false,
    variable: true,
    array: null,
    encode: same,
    decode: same,
    wrap: (expression) => `(${expression})`,
    round: same,
    literal: (value) => (typeof value === "boolean" ? value : null),
    least: 0,
    greatest: 1,
    suffix: "Bool",
    names: { cpp: "bool", wgsl: "bool" },
  },
  /**
   * An element offset into memory. It is exact beyond 32 bits: 64-bit integers on CUDA and HIP, the full integer range of
   * a double on `sim`, and 32 bits where memory cannot be larger (`cpu`, WebGPU).
   */
  index: {
    kind: "index",
    bytes: 0,
    element: false,
    word: false,
    variable: false,
    array: null,
    encode: same,
    decode: same,
    wrap: (expression) => `(${expression})`,
    round: same,
    literal: wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    least: Number.MIN_SAFE_INTEGER,
    greatest: Number.MAX_SAFE_INTEGER,
    suffix: "Index",
    names: { cpp: "i64", wgsl: "u32" },
  },
});

type ScalarTypes = typeof scalarTypes;
/** The types whose rows say what `Facts` says. */
type TypesWith<Facts> = {
  [T in keyof ScalarTypes]: ScalarTypes[T] extends Facts ? T : never;
}[keyof ScalarTypes];

/** The name of any type that a value can have. */
export type ScalarType = keyof ScalarTypes;

/** The names of the floating-point types. */
export type FloatType = TypesWith<{ readonly kind: "float" }>;
/** The names of the integer types. */
export type IntegerType = TypesWith<{ readonly kind: "integer" }>;

/**
 * Floating point of two bytes. Every operation on it rounds once to the type, to nearest even: beyond the largest number
 * it overflows to infinity, subnormal numbers are kept, and there is one NaN.
 */
export type HalfType = TypesWith<{ readonly kind: "float"; readonly bytes: 2 }>;

/** Types of four bytes: those of scalar parameters and of atomic memory. */
export type WordType = TypesWith<{ readonly word: true }>;

/** Types that arithmetic works on. */
export type NumericType = TypesWith<{ readonly element: true }>;

/** Types that can live in buffers and shared memory. */
export type ElementType = NumericType;

/** Types that variables can have. */
export type VariableType = TypesWith<{ readonly variable: true }>;

/** The array that holds elements of a type. */
export type ElementArray<E extends ElementType> = ScalarTypes[E]["array"]["prototype"];

const typesWhere = <T extends ScalarType>(holds: (row: ScalarRow) => boolean): readonly T[] =>
  Object.freeze((Object.keys(scalarTypes) as ScalarType[]).filter((type) => holds(scalarTypes[type])) as T[]);

/** The names of all scalar types. */
export const allScalarTypes: readonly ScalarType[] = typesWhere(() => true);
/** The types that buffers and shared memory can hold. */
export const elementTypes = typesWhere<ElementType>(({ element }) => element);
/** The four-byte types, of which scalar parameters and atomic memory can be. */
export const wordTypes = typesWhere<WordType>(({ word }) => word);
/** The types that variables can have. */
export const variableTypes = typesWhere<VariableType>(({ variable }) => variable);
/** The integer types. */
export const integerTypes = typesWhere<IntegerType>(({ kind }) => kind === "integer");

const isIn = (types: readonly unknown[], type: unknown): boolean => types.includes(type);
const floatTypes = typesWhere<FloatType>(({ kind }) => kind === "float");
const halfTypes = typesWhere<HalfType>(({ kind, bytes }) => kind === "float" && bytes === 2);

/** Whether it names a floating-point type of two bytes. */
export const isHalf = (type: unknown): type is HalfType => isIn(halfTypes, type);
/** Whether it names a floating-point type. */
export const isFloat = (type: unknown): type is FloatType => isIn(floatTypes, type);
/** Whether it names an integer type. */
export const isInteger = (type: unknown): type is IntegerType => isIn(integerTypes, type);

/** The size of an element in bytes. */
export const elementBytes = (element: ElementType): 2 | 4 => scalarTypes[element].bytes;

/** The size of a shared array in bytes. */
export const sharedMemoryBytes = ({ element, length }: SharedMemory): number =>
  length * elementBytes(element);

/** What a kernel may do with a buffer. */
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

/** An array in workgroup-shared memory: one per workgroup, uninitialised at its start. */
export interface SharedMemory {
  readonly space: "shared";
  readonly name: string;
  readonly element: ElementType;
  /** In elements. */
  readonly length: number;
  readonly atomic: boolean;
}

/** What loads and stores refer to: a buffer, or an array in shared memory. */
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

/** A parameter of a built kernel that is one number. */
export interface ScalarParam {
  readonly kind: "scalar";
  readonly name: string;
  readonly type: WordType;
  /** The buffer parameter whose number of elements it is: no launch gives it, the device does. Null for all others. */
  readonly lengthOf: string | null;
}

/** A parameter of a built kernel that is a buffer. */
export interface BufferParam {
  readonly kind: "buffer";
  readonly name: string;
  readonly memory: GlobalMemory;
}

/** A parameter of a built kernel. */
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
  readonly type: VariableType;
  readonly name: string;
}
