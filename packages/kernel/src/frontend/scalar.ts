/**
 * The values that a kernel's body computes with: one small immutable class per type. Methods record an operation and
 * return its result; a JavaScript number beside a value takes that value's type.
 */

import { EvolverError } from "@evolver/base";
import { ops, type OpName } from "../ir/ops.ts";
import { captureSite, type Site } from "../ir/site.ts";
import { isFloat, isHalf } from "../ir/types.ts";
import type { FloatType, NumericType, ScalarType, Value, WordType } from "../ir/types.ts";
import type { TypeDescriptor } from "./descriptors.ts";
import { adviceFor, kindOf, wantType, withArticle } from "./given.ts";
import { note, type Frame, type Handle, type Recorder } from "./recorder.ts";

/** A value at run time; each type has a class of its own. It can be used in the block that made it and in the blocks inside. */
export abstract class Scalar<T extends ScalarType = ScalarType> implements Handle {
  abstract readonly type: T;
  /** @internal */
  readonly recorder: Recorder;
  /** @internal */
  readonly value: Value;
  /** @internal */
  readonly frame: Frame;
  /** Where it was made. */
  readonly site: Site;

  constructor(handle: Handle) {
    this.recorder = handle.recorder;
    this.value = handle.value;
    this.frame = handle.frame;
    this.site = handle.site;
  }

  /** Catches `a + b`, `${a}` and comparisons in plain JavaScript. */
  [Symbol.toPrimitive](): never {
    throw new EvolverError(
      "NOT_A_NUMBER",
      `a run-time ${this.type} is used as a JavaScript number or string`,
      {
        where: [captureSite(true).location, note(this.site, "the value was made here")],
        hint: "write a.add(b), a.lt(b) and so on; JavaScript operators work on build-time numbers only",
      },
    );
  }
}

abstract class Numeric<T extends NumericType> extends Scalar<T> {
  /** this + other. */
  add(other: Operand<T>): ScalarOf<T> {
    return binary("add", this, other);
  }
  /** this − other. */
  sub(other: Operand<T>): ScalarOf<T> {
    return binary("sub", this, other);
  }
  /** this · other. */
  mul(other: Operand<T>): ScalarOf<T> {
    return binary("mul", this, other);
  }
  /** The smaller one; a NaN is ignored. */
  min(other: Operand<T>): ScalarOf<T> {
    return binary("min", this, other);
  }
  /** The larger one; a NaN is ignored. */
  max(other: Operand<T>): ScalarOf<T> {
    return binary("max", this, other);
  }
  /** this < other. */
  lt(other: Operand<T>): Bool {
    return binary("lt", this, other);
  }
  /** this ≤ other. */
  le(other: Operand<T>): Bool {
    return binary("le", this, other);
  }
  /** this > other. */
  gt(other: Operand<T>): Bool {
    return binary("gt", this, other);
  }
  /** this ≥ other. */
  ge(other: Operand<T>): Bool {
    return binary("ge", this, other);
  }
  /** this = other. */
  eq(other: Operand<T>): Bool {
    return binary("eq", this, other);
  }
  /** this ≠ other; true beside a NaN. */
  ne(other: Operand<T>): Bool {
    return binary("ne", this, other);
  }
  /** To f32, rounded to nearest. */
  toF32(): F32 {
    return this.type === "f32" ? (this as unknown as F32) : unary("toF32", this);
  }
  /** To f16, rounded to nearest even; infinite beyond 65,504. */
  toF16(): F16 {
    if (this.type === "f16") return this as unknown as F16;
    // An integer that f32 rounds is beyond what f16 holds.
    return recordAt(this, () => unary("toF16", isFloat(this.type) ? this : this.toF32()));
  }
  /** To bf16, rounded to nearest even. */
  toBF16(): BF16 {
    if (this.type === "bf16") return this as unknown as BF16;
    return recordAt(this, () => unary("toBF16", isFloat(this.type) ? this : roundedToOdd(this)));
  }
  /** To i32; from floating point it truncates and saturates, NaN becomes 0. */
  toI32(): I32 {
    return this.type === "i32" ? (this as unknown as I32) : recordAt(this, () => unary("toI32", word(this)));
  }
  /** To u32; from floating point it truncates and saturates, NaN becomes 0. */
  toU32(): U32 {
    return this.type === "u32" ? (this as unknown as U32) : recordAt(this, () => unary("toU32", word(this)));
  }
  /** Not equal to zero. */
  toBool(): Bool {
    return recordAt(this, () => unary("toBool", word(this)));
  }
}

/** Types of four bytes. */
const wordTypes: readonly WordType[] = ["f32", "i32", "u32"];

abstract class Word<T extends WordType> extends Numeric<T> {
  /** The same 32 bits as another type. */
  bitcast<E extends WordType>(target: TypeDescriptor<E>): ScalarOf<E> {
    wantType(target, "bitcast", wordTypes);
    const name = ({ f32: "bitcastF32", i32: "bitcastI32", u32: "bitcastU32" } as const)[
      target.type as WordType
    ];
    return unary(name, this);
  }
}

/** A run-time f32. A JavaScript number beside it is rounded to f32. */
export class F32 extends Word<"f32"> {
  override readonly type = "f32";
  /** this / other. */
  div(other: Operand<"f32">): F32 {
    return binary("div", this, other);
  }
  /** −this. */
  neg(): F32 {
    return unary("neg", this);
  }
  /** The magnitude. */
  abs(): F32 {
    return unary("abs", this);
  }
}

/** Two-byte floating point: each operation rounds once to the type. For other operations convert with toF32(). */
abstract class Half<T extends "f16" | "bf16"> extends Numeric<T> {
  /** this / other. */
  div(other: Operand<T>): ScalarOf<T> {
    return binary("div", this, other);
  }
  /** −this. */
  neg(): ScalarOf<T> {
    return unary("neg", this);
  }
  /** The magnitude. */
  abs(): ScalarOf<T> {
    return unary("abs", this);
  }
}

/** CUDA: __half. HIP: _Float16. */
export class F16 extends Half<"f16"> {
  override readonly type = "f16";
}

/** CUDA: __nv_bfloat16. HIP: __hip_bfloat16. */
export class BF16 extends Half<"bf16"> {
  override readonly type = "bf16";
}

abstract class Integer<T extends "i32" | "u32"> extends Word<T> {
  /** Quotient rounded towards zero. */
  divTrunc(other: Operand<T>): ScalarOf<T> {
    return binary("divTrunc", this, other);
  }
  /** Quotient rounded towards minus infinity. */
  divFloor(other: Operand<T>): ScalarOf<T> {
    return binary("divFloor", this, other);
  }
  /** Remainder with the dividend's sign. */
  remTrunc(other: Operand<T>): ScalarOf<T> {
    return binary("remTrunc", this, other);
  }
  /** Remainder with the divisor's sign. */
  modFloor(other: Operand<T>): ScalarOf<T> {
    return binary("modFloor", this, other);
  }
  /** Bit by bit: both. */
  and(other: Operand<T>): ScalarOf<T> {
    return binary("and", this, other);
  }
  /** Bit by bit: either. */
  or(other: Operand<T>): ScalarOf<T> {
    return binary("or", this, other);
  }
  /** Bit by bit: exactly one. */
  xor(other: Operand<T>): ScalarOf<T> {
    return binary("xor", this, other);
  }
  /** Every bit, or the truth, turned round. */
  not(): ScalarOf<T> {
    return unary("not", this);
  }
  /** Shifts left by the amount modulo 32. */
  shl(amount: U32 | number): ScalarOf<T> {
    return shift("shl", this, amount);
  }
  /** Shifts right by the amount modulo 32: arithmetic for i32, logical for u32. */
  shr(amount: U32 | number): ScalarOf<T> {
    return shift("shr", this, amount);
  }
  /** The number of one bits. */
  popcount(): ScalarOf<T> {
    return unary("popcount", this);
  }
  /** The number of leading zero bits. */
  clz(): ScalarOf<T> {
    return unary("clz", this);
  }
}

/** A run-time i32, which wraps round. Division is `divTrunc` or `divFloor`. */
export class I32 extends Integer<"i32"> {
  override readonly type = "i32";
  /** −this. */
  neg(): I32 {
    return unary("neg", this);
  }
  /** The magnitude. */
  abs(): I32 {
    return unary("abs", this);
  }
}

/** A run-time u32, which wraps round. Division is `divTrunc` or `divFloor`. */
export class U32 extends Integer<"u32"> {
  override readonly type = "u32";
}

/** A run-time boolean, the result of comparisons, for `gpu.if`, `select` and `gpu.while`. */
export class Bool extends Scalar<"bool"> {
  override readonly type = "bool";
  /** Both; both are evaluated. */
  and(other: Bool | boolean): Bool {
    return binary("and", this, other);
  }
  /** Either; both are evaluated. */
  or(other: Bool | boolean): Bool {
    return binary("or", this, other);
  }
  /** Exactly one of them. */
  xor(other: Bool | boolean): Bool {
    return binary("xor", this, other);
  }
  /** Every bit, or the truth, turned round. */
  not(): Bool {
    return unary("not", this);
  }
  /** 1 where true, 0 where false. */
  toU32(): U32 {
    return unary("toU32", this);
  }
  toI32(): I32 {
    return unary("toI32", this);
  }
  toF32(): F32 {
    return unary("toF32", this);
  }
  toF16(): F16 {
    return recordAt(this, () => this.toF32().toF16());
  }
  toBF16(): BF16 {
    return recordAt(this, () => this.toF32().toBF16());
  }
}

/** An element offset that is exact beyond 32 bits. Views make them; few kernels need one by name. */
export class Offset extends Scalar<"index"> {
  override readonly type = "index";
  add(other: Offset): Offset {
    return binary("add", this, other);
  }
  mul(other: Offset): Offset {
    return binary("mul", this, other);
  }
}

/** The class of each type's values. */
interface Classes {
  readonly f32: F32;
  readonly i32: I32;
  readonly u32: U32;
  readonly f16: F16;
  readonly bf16: BF16;
  readonly bool: Bool;
  readonly index: Offset;
}

const CLASSES: { readonly [T in ScalarType]: new (handle: Handle) => Classes[T] } = {
  f32: F32,
  i32: I32,
  u32: U32,
  f16: F16,
  bf16: BF16,
  bool: Bool,
  index: Offset,
};

/** The class of the values of a type: `ScalarOf<"f32">` is `F32`. */
export type ScalarOf<T extends ScalarType> = Classes[T];

/** A value of a floating-point type. */
export type Float = ScalarOf<FloatType>;

/** What stands beside a value of type T: another such value, or a literal. */
export type Operand<T extends ScalarType> = ScalarOf<T> | (T extends "bool" ? boolean : number);

/** An integer that indexes memory or counts: run-time or build-time. */
export type Index = U32 | I32 | number;

/** Gives a recorded value its class; S is the class that its type has, which the caller knows. */
export function wrap<S>(handle: Handle): S {
  return new CLASSES[handle.value.type](handle) as S;
}

/** The operand as a value of the given type: a literal becomes a constant, a value of another type is refused later. */
export function lift(recorder: Recorder, operand: Scalar | number | boolean, type: ScalarType): Handle {
  if (operand instanceof Scalar) return operand;
  const given: unknown = operand;
  if (typeof given === "number" || typeof given === "boolean") return recorder.constant(type, given);
  throw new EvolverError("NOT_A_VALUE", `${kindOf(given)} stands where ${withArticle(type)} is wanted`, {
    where: [recorder.place().location],
    hint: adviceFor(given),
  });
}

/** An index as an exact offset. */
export function toOffset(recorder: Recorder, index: Index | Offset): Offset {
  if (index instanceof Offset) return index;
  if (typeof index === "number") return wrap(recorder.constant("index", index));
  return wrap(recorder.op("toIndex", [index]));
}

function unary<S>(name: OpName, operand: Scalar): S {
  return wrap(operand.recorder.op(name, [operand]));
}

/** Records several operations for the one place that asks for them. */
function recordAt<R>({ recorder }: Scalar, record: () => R): R {
  return recorder.within(recorder.place(), record);
}

/** A value of two bytes as f32, any other as it is: integers and bool are converted from and to f32 only. */
function word(value: Scalar): Scalar {
  return isHalf(value.type) ? unary("toF32", value) : value;
}

/**
 * An integer as an f32, such that rounding the f32 to a shorter type gives the same as rounding the integer. Integers of 25
 * bits and more are rounded to odd first, so that the f32 is never a tie where the integer is none.
 */
function roundedToOdd(value: Scalar): F32 {
  const bits = unary<U32>("bitcastU32", value);
  const odd = bits.and(0xffffff00).or(bits.and(255).add(255).and(256));
  const size = value.type === "i32" ? unary<U32>("bitcastU32", unary<I32>("abs", value)) : bits;
  const rounded = wrap<U32>(value.recorder.op("select", [size.ge(0x1000000), odd, bits]));
  return unary("toF32", value.type === "i32" ? unary<I32>("bitcastI32", rounded) : rounded);
}

function binary<S>(name: OpName, left: Scalar, right: Scalar | number | boolean): S {
  // These come up whenever layouts are computed.
  if (typeof right === "number" && right === ops[name].rightIdentity && !isFloat(left.type)) return left as S;
  return wrap(left.recorder.op(name, [left, lift(left.recorder, right, left.type)]));
}

function shift<S>(name: "shl" | "shr", value: Scalar, amount: U32 | number): S {
  return wrap(value.recorder.op(name, [value, lift(value.recorder, amount, "u32")]));
}
