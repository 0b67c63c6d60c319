/**
 * How users write each operation: as a method of values, as a function, or not at all. The table is complete by type, so
 * that the compiler reports an operation of the IR without an entry.
 */

import type { OpName } from "../ir/ops.ts";
import type { ScalarType } from "../ir/types.ts";
import type * as functions from "./functions.ts";
import type { ScalarOf } from "./scalar.ts";

/** The methods of all classes of values. */
type Method = { [T in ScalarType]: keyof ScalarOf<T> & string }[ScalarType];

type FunctionName = keyof typeof functions;

/** The method or function that records an operation. */
export type Spelling =
  | { readonly method: Method; readonly function?: FunctionName }
  | { readonly function: FunctionName }
  /** What records it instead of the user. */
  | { readonly by: string };

/** How each operation is written in a kernel. */
export const spellings: Readonly<Record<OpName, Spelling>> = Object.freeze({
  add: { method: "add", function: "add" },
  sub: { method: "sub" },
  mul: { method: "mul", function: "mul" },
  div: { method: "div" },
  divTrunc: { method: "divTrunc" },
  divFloor: { method: "divFloor" },
  remTrunc: { method: "remTrunc" },
  modFloor: { method: "modFloor" },
  min: { method: "min", function: "min" },
  max: { method: "max", function: "max" },
  neg: { method: "neg" },
  abs: { method: "abs", function: "abs" },
  fma: { function: "fma" },
  select: { function: "select" },
  sqrt: { function: "sqrt" },
  rsqrt: { function: "rsqrt" },
  exp: { function: "exp" },
  exp2: { function: "exp2" },
  exp2Flushed: { function: "exp2Flushed" },
  log: { function: "log" },
  log2: { function: "log2" },
  sin: { function: "sin" },
  cos: { function: "cos" },
  tanh: { function: "tanh" },
  floor: { function: "floor" },
  ceil: { function: "ceil" },
  round: { function: "round" },
  trunc: { function: "trunc" },
  eq: { method: "eq" },
  ne: { method: "ne" },
  lt: { method: "lt" },
  le: { method: "le" },
  gt: { method: "gt" },
  ge: { method: "ge" },
  and: { method: "and" },
  or: { method: "or" },
  xor: { method: "xor" },
  not: { method: "not" },
  shl: { method: "shl" },
  shr: { method: "shr" },
  popcount: { method: "popcount" },
  clz: { method: "clz" },
  toI32: { method: "toI32" },
  toU32: { method: "toU32" },
  toF32: { method: "toF32" },
  toF16: { method: "toF16" },
  toBF16: { method: "toBF16" },
  toBool: { method: "toBool" },
  toIndex: { by: "indices of memory" },
  bitcastF32: { method: "bitcast" },
  bitcastI32: { method: "bitcast" },
  bitcastU32: { method: "bitcast" },
});
