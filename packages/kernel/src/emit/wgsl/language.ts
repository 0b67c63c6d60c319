/** WGSL's types and literals, and whether it has f16 for a kernel. */

import { assertNever } from "@evolver/base";
import type { KernelIR } from "../../ir/nodes.ts";
import { scalarTypes, type ScalarType } from "../../ir/types.ts";
import { atomicFunctions } from "../atomics.ts";
import type { Language } from "../core/code.ts";
import { call, decimal, prefix, signed, simple, type Expression } from "../core/expression.ts";
import type { RequestHelper } from "../core/helpers.ts";
import type { EmitOptions } from "../core/result.ts";
import { surveyOf } from "../core/uses.ts";
import { wgslHelpers } from "./helpers.ts";

/** The names of the entry point's own parameters, and of functions that are called by their own names. */
const TAKEN_NAMES: readonly string[] = [
  ...(
    "groupId gridSize localId subgroupSize Params workgroupBarrier storageBarrier workgroupUniformLoad subgroupAdd subgroupMin " +
    "subgroupMax subgroupInclusiveAdd subgroupExclusiveAdd subgroupAny subgroupAll subgroupBallot subgroupBroadcast " +
    "subgroupBroadcastFirst subgroupShuffle subgroupShuffleXor subgroupShuffleUp subgroupShuffleDown"
  ).split(" "),
  ...Object.values(atomicFunctions).map(({ wgsl }) => wgsl),
];

/** The extension f16: whether the kernel may use it and does. */
export const hasF16 = (ir: KernelIR, options: EmitOptions): boolean =>
  options.shaderF16 !== false && surveyOf(ir).halfTypes.has("f16");

type Held = Exclude<ScalarType, "bf16">;

/** @param nativeF16 whether f16 is WGSL's own; else it is f32, as bf16 always is */
export function wgslLanguage(ir: KernelIR, nativeF16: boolean): Language {
  /** What a type is held as: halves that WGSL lacks are f32. */
  const heldAs = (type: ScalarType): Held => {
    if (type === "f16") return nativeF16 ? "f16" : "f32";
    return type === "bf16" ? "f32" : type;
  };
  return {
    helpers: wgslHelpers(ir.subgroupSize, nativeF16),
    takenNames: TAKEN_NAMES,
    literal: (type, value, helper) => literal(heldAs(type), value, helper),
    declareValue: (name, _type, text) => `let ${name} = ${text};`,
    declareVariable: (name, type, text) =>
      `var ${name}: ${scalarTypes[heldAs(type)].names.wgsl}${text === null ? "" : ` = ${text}`};`,
  };
}

function literal(type: Held, value: number | boolean, helper: RequestHelper): Expression {
  if (typeof value === "boolean") return simple(String(value));
  switch (type) {
    case "f32":
      return isPlain(value) ? signed(`${decimal(value)}f`) : unwritable(value, helper);
    case "f16":
      return isPlain(value)
        ? signed(`${decimal(value)}h`)
        : { ...call("f16", unwritable(value, helper)), simple: true };
    case "i32":
      return value === -2147483648 ? simple("i32(-2147483648)") : signed(`${value}i`);
    case "u32":
    case "index":
      return simple(`${Number(BigInt.asUintN(32, BigInt(value)))}u`);
    case "bool":
      return simple(String(value !== 0));
    default:
      return assertNever(type, "type of a literal");
  }
}

const isPlain = (value: number): boolean => Number.isFinite(value) && !Object.is(value, -0);

/** Infinities, NaN and −0, for which WGSL has no literal: from their bits. */
function unwritable(value: number, helper: RequestHelper): Expression {
  const name = Number.isNaN(value) ? "nanBits" : value === 0 ? "negativeZeroBits" : "infinityBits";
  const bits = { ...call("bitcast<f32>", simple(helper(name))), simple: true };
  return value === -Infinity ? { ...prefix("-", bits), simple: true } : bits;
}
