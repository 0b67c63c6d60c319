/** C++ as CUDA and HIP have it: types, literals, and names that a kernel's own must not hide. */

import { assertNever } from "@evolver/base";
import type { KernelIR } from "../../ir/nodes.ts";
import { scalarTypes, type ScalarType } from "../../ir/types.ts";
import type { Language } from "../core/code.ts";
import { atom, decimal, signed, simple, type Expression } from "../core/expression.ts";
import type { HelperTable } from "../core/helpers.ts";
import { surveyOf } from "../core/uses.ts";
import { HALF_NAMES, halfLiteral } from "./half.ts";

/** The name of a type; that of offsets, i64, is a helper that has to be asked for. */
export const cppType = (type: ScalarType): string => scalarTypes[type].names.cpp;

/** Functions that emitted code calls by their own names. */
const CPP_FUNCTIONS: readonly string[] = (
  "fminf fmaxf fmaf fabsf sqrtf rsqrtf expf exp2f logf log2f sinf cosf tanhf floorf ceilf rintf truncf " +
  "make_float2 make_float4 make_int2 make_int4 make_uint2 make_uint4"
).split(" ");

export function cppLanguage(ir: KernelIR, helpers: HelperTable, takenNames: readonly string[]): Language {
  const halfNames = surveyOf(ir).halfTypes.size === 0 ? [] : HALF_NAMES;
  return {
    helpers,
    takenNames: [...CPP_FUNCTIONS, ...takenNames, ...halfNames],
    literal: cppLiteral,
    // The type of offsets has to be declared.
    declareValue: (name, type, text, helper) =>
      `const ${type === "index" ? helper(scalarTypes.index.names.cpp) : cppType(type)} ${name} = ${text};`,
    declareVariable: (name, type, text) => `${cppType(type)} ${name}${text === null ? "" : ` = ${text}`};`,
  };
}

export function cppLiteral(type: ScalarType, value: number | boolean): Expression {
  if (typeof value === "boolean") return simple(String(value));
  switch (type) {
    case "f32":
      if (Number.isNaN(value)) return { ...atom("__int_as_float(0x7fc00000)"), simple: true };
      if (!Number.isFinite(value))
        return { ...atom(`__int_as_float(0x${value > 0 ? "7f8" : "ff8"}00000)`), simple: true };
      return signed(`${decimal(value)}f`);
    case "f16":
    case "bf16":
      return halfLiteral(type, value);
    case "i32":
      return value === -2147483648 ? simple("(-2147483647 - 1)") : signed(String(value));
    case "u32":
      return simple(`${value}u`);
    case "index":
      return signed(`${value}LL`);
    case "bool":
      return simple(String(value !== 0));
    default:
      return assertNever(type, "type of a literal");
  }
}
