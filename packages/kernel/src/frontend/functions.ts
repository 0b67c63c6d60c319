/** Operations as functions, for formulas that are easier to read that way. At least one operand is a run-time value. */

import { EvolverError } from "@evolver/base";
import type { OpName } from "../ir/ops.ts";
import { captureSite } from "../ir/site.ts";
import { lift, Scalar, wrap, type Bool, type F32, type Float, type I32, type U32 } from "./scalar.ts";

type Numeric = Float | I32 | U32;
/** The literals that may stand beside a value of class S. */
type LiteralOf<S extends Scalar> = S extends Bool ? boolean : number;

/** a + b + …, from left to right. */
export function add<S extends Numeric>(first: S | number, ...rest: (S | number)[]): S {
  return fold("add", first, rest);
}

/** a · b · …, from left to right. */
export function mul<S extends Numeric>(first: S | number, ...rest: (S | number)[]): S {
  return fold("mul", first, rest);
}

/** The smallest operand; NaN operands are ignored. */
export function min<S extends Numeric>(first: S | number, ...rest: (S | number)[]): S {
  return fold("min", first, rest);
}

/** The largest operand; NaN operands are ignored. */
export function max<S extends Numeric>(first: S | number, ...rest: (S | number)[]): S {
  return fold("max", first, rest);
}

/** min(max(x, low), high). */
export function clamp<S extends Numeric>(x: S, low: S | number, high: S | number): S {
  return fold("min", fold("max", x, [low]), [high]);
}

/** `ifTrue` where the condition holds, else `ifFalse`; both are evaluated. One of them is a run-time value. */
export function select<S extends Scalar>(condition: Bool, ifTrue: S, ifFalse: NoInfer<S | LiteralOf<S>>): S;
export function select<S extends Scalar>(condition: Bool, ifTrue: NoInfer<S | LiteralOf<S>>, ifFalse: S): S;
export function select(
  condition: Bool,
  ifTrue: Scalar | number | boolean,
  ifFalse: Scalar | number | boolean,
): Scalar {
  const { recorder, type } = firstScalar([ifTrue, ifFalse]);
  return wrap(
    recorder.op("select", [condition, lift(recorder, ifTrue, type), lift(recorder, ifFalse, type)]),
  );
}

/** a·b + c with one rounding. */
export function fma<S extends Float>(a: S | number, b: S | number, c: S | number): S;
export function fma(a: Float | number, b: Float | number, c: Float | number): Float {
  const { recorder, type } = firstScalar([a, b, c]);
  return wrap(
    recorder.op("fma", [lift(recorder, a, type), lift(recorder, b, type), lift(recorder, c, type)]),
  );
}

/** e^x. */
export const exp = (x: F32): F32 => call("exp", x);
/** 2^x. */
export const exp2 = (x: F32): F32 => call("exp2", x);
/** 2^x, where a result too small to be a normal number may be 0: a single instruction on NVIDIA. */
export const exp2Flushed = (x: F32): F32 => call("exp2Flushed", x);
/** Natural logarithm. */
export const log = (x: F32): F32 => call("log", x);
/** Logarithm to base 2. */
export const log2 = (x: F32): F32 => call("log2", x);
/** √x; NaN below zero. */
export const sqrt = <S extends Float>(x: S): S => call("sqrt", x);
/** 1 / √x. */
export const rsqrt = (x: F32): F32 => call("rsqrt", x);
/** The sine of an angle in radians. */
export const sin = (x: F32): F32 => call("sin", x);
/** The cosine of an angle in radians. */
export const cos = (x: F32): F32 => call("cos", x);
/** The hyperbolic tangent. */
export const tanh = (x: F32): F32 => call("tanh", x);
/** To an integer, towards minus infinity. */
export const floor = <S extends Float>(x: S): S => call("floor", x);
/** To an integer, towards infinity. */
export const ceil = <S extends Float>(x: S): S => call("ceil", x);
/** To the nearest integer, halves to even. */
export const round = <S extends Float>(x: S): S => call("round", x);
/** Towards zero. */
export const trunc = <S extends Float>(x: S): S => call("trunc", x);
/** The magnitude. That of the smallest i32 is itself. */
export const abs = <S extends Float | I32>(x: S): S => call("abs", x);

function call<S extends Float | I32>(name: OpName, x: S): S {
  return wrap(firstScalar([x]).recorder.op(name, [x]));
}

function fold<S extends Scalar>(name: OpName, first: S | number, rest: readonly (Scalar | number)[]): S {
  const { recorder, type } = firstScalar([first, ...rest]);
  let total: Scalar = first instanceof Scalar ? first : wrap(lift(recorder, first, type));
  for (const operand of rest) {
    total = wrap(total.recorder.op(name, [total, lift(total.recorder, operand, total.type)]));
  }
  return total as S;
}

function firstScalar(operands: readonly unknown[]): Scalar {
  const found = operands.find((operand) => operand instanceof Scalar);
  if (found !== undefined) return found as Scalar;
  throw new EvolverError("NO_RUNTIME_OPERAND", "none of the operands is a run-time value", {
    where: [captureSite(true).location],
    hint: "compute it with JavaScript's Math, or start from gpu.constant(f32, x)",
  });
}
