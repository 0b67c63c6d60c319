/**
 * f16 and bf16 in CUDA C++ and HIP C++ without any header: one small class each over the 16 bits, with the operators
 * that emitted code uses. What differs between the targets is a table of statements.
 */

import type { HalfType } from "../../ir/types.ts";
import { bf16ToBits, f16ToBits } from "../../ir/mathematics.ts";
import type { Code } from "../core/code.ts";
import { decimal, simple, type Expression } from "../core/expression.ts";
import type { HelperTable } from "../core/helpers.ts";
import { surveyOf } from "../core/uses.ts";

const DEVICE = "__device__ inline";

/** What a target says of a type. Each is the body of a function. */
interface HalfText {
  /** From `bits` to a float. */
  readonly toFloat: string;
  /** From a float `x`, rounded to nearest even, to bits. */
  readonly fromFloat: string;
  /** a ∘ b in the type, for each operator that is not done in f32. */
  readonly operators: Readonly<Partial<Record<"+" | "-" | "*" | "/", string>>>;
  /** a·b + c with one rounding. */
  readonly fma: string;
  /** Functions that stand before the class. */
  readonly before?: string;
}

interface ShuffleText {
  /** The parameters before the value, with a comma at the end, and their names. */
  readonly parameters: string;
  readonly names: string;
  readonly functions: readonly string[];
}

function classText(type: HalfType, text: HalfText, friends = ""): string {
  const operators = (["+", "-", "*", "/"] as const).map((operator) => {
    const body = text.operators[operator] ?? `return ${type}(float(a) ${operator} float(b));`;
    return `${DEVICE} ${type} operator${operator}(${type} a, ${type} b) { ${body} }`;
  });
  const comparisons = ["<", "<=", ">", ">=", "==", "!="].map(
    (operator) =>
      `${DEVICE} bool operator${operator}(${type} a, ${type} b) { return float(a) ${operator} float(b); }`,
  );
  const title = { f16: "IEEE binary16", bf16: "bfloat16, the upper half of a float" }[type];
  return `${text.before === undefined ? "" : `${text.before}\n`}// ${title}; every operation rounds to nearest even.
struct ${type} {
  unsigned short bits;
  ${type}() = default;
  __device__ static ${type} from(unsigned bits) { ${type} made; made.bits = (unsigned short)(bits); return made; }
  __device__ explicit ${type}(float x) { ${text.fromFloat} }
  __device__ explicit operator float() const { ${text.toFloat} }
${friends}};
${operators.join("\n")}
${DEVICE} ${type} operator-(${type} a) { return ${type}::from(a.bits ^ 0x8000u); }
${comparisons.join("\n")}
${DEVICE} ${type} fmaOf(${type} a, ${type} b, ${type} c) { ${text.fma} }
${DEVICE} ${type} absoluteOf(${type} a) { return ${type}::from(a.bits & 0x7fffu); }
${DEVICE} ${type} smaller(${type} a, ${type} b) { return ${type}(fminf(float(a), float(b))); }
${DEVICE} ${type} larger(${type} a, ${type} b) { return ${type}(fmaxf(float(a), float(b))); }
${DEVICE} unsigned pack(${type} low, ${type} high) { return low.bits | unsigned(high.bits) << 16; }`;
}

/** Friends of the class, so that they hide none of the target's own. */
function shuffleText(type: HalfType, { parameters, names, functions }: ShuffleText): string {
  return functions
    .map((name) => {
      const call = `${name}(${names}unsigned(value.bits), other)`;
      return `  friend ${DEVICE} ${type} ${name}(${parameters}${type} value, int other) { return ${type}::from(${call}); }\n`;
    })
    .join("");
}

/** The classes, in a table whose order puts them before what uses them. */
function halfHelpers(f16: HalfText, bf16: HalfText, shuffles: ShuffleText): HelperTable {
  return {
    f16: { text: classText("f16", f16) },
    bf16: { text: classText("bf16", bf16) },
    f16Exchanged: { text: classText("f16", f16, shuffleText("f16", shuffles)) },
    bf16Exchanged: { text: classText("bf16", bf16, shuffleText("bf16", shuffles)) },
  };
}

/** Names that the classes bring with them. */
export const HALF_NAMES: readonly string[] = ["fmaOf", "absoluteOf", "smaller", "larger", "pack"];

/** Asks for the classes that a kernel needs, with exchanges between lanes where it has such. */
export function declareHalves(code: Code): void {
  const { halfTypes, exchangedHalfTypes } = surveyOf(code.ir);
  for (const type of halfTypes) code.helper(exchangedHalfTypes.has(type) ? `${type}Exchanged` : type);
}

export function halfLiteral(type: HalfType, value: number): Expression {
  const bits = (type === "f16" ? f16ToBits(value) : bf16ToBits(value)).toString(16).padStart(4, "0");
  const text = Number.isFinite(value) ? decimal(value) : String(value);
  return simple(`${type}::from(0x${bits} /* ${text} */)`);
}

const widen = "return __int_as_float(int(bits) << 16);";

/** PTX: f16 from sm_53 on, bf16 from sm_80 on. */
const ptx = (instruction: string, operands: string): string =>
  `${instruction} ${operands
    .split(" ")
    .map((_, k) => `%${k}`)
    .join(", ")};`;

const binaryPtx = (instruction: string): string =>
  `f16 c; asm("${ptx(instruction, "c a b")}" : "=h"(c.bits) : "h"(a.bits), "h"(b.bits)); return c;`;

const fmaPtx = (type: HalfType): string =>
  `${type} d; asm("${ptx(`fma.rn.${type}`, "d a b c")}" : "=h"(d.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits)); return d;`;

export const cudaHalfHelpers: HelperTable = halfHelpers(
  {
    toFloat: 'float x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits)); return x;',
    fromFloat: 'asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));',
    operators: { "+": binaryPtx("add.rn.f16"), "-": binaryPtx("sub.rn.f16"), "*": binaryPtx("mul.rn.f16") },
    fma: fmaPtx("f16"),
  },
  {
    toFloat: widen,
    fromFloat: 'asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));',
    operators: {},
    fma: fmaPtx("bf16"),
  },
  {
    parameters: "unsigned lanes, ",
    names: "lanes, ",
    functions: ["__shfl_sync", "__shfl_xor_sync", "__shfl_up_sync", "__shfl_down_sync"],
  },
);

const BIT_CAST = "__builtin_bit_cast";
const native = (bits: string): string => `${BIT_CAST}(_Float16, ${bits})`;
const fromNative = (expression: string): string =>
  `return f16::from(${BIT_CAST}(unsigned short, _Float16(${expression})));`;
const binaryNative = (operator: string): string =>
  fromNative(`${native("a.bits")} ${operator} ${native("b.bits")}`);

const SUBNORMAL_MAGIC = String(1.5 * 2 ** -81);

export const hipHalfHelpers: HelperTable = halfHelpers(
  {
    toFloat: `return float(${native("bits")});`,
    fromFloat: `bits = ${BIT_CAST}(unsigned short, _Float16(x));`,
    operators: { "+": binaryNative("+"), "-": binaryNative("-"), "*": binaryNative("*") },
    fma: `
#if defined(__AMDGCN__)
  ${fromNative(`__builtin_fmaf16(${["a", "b", "c"].map((name) => native(`${name}.bits`)).join(", ")})`)}
#else
  // Other processors would round to float first. The sum in double is exact, or far from a tie.
  ${fromNative("double(float(a)) * double(float(b)) + double(float(c))")}
#endif
`,
  },
  {
    toFloat: widen,
    fromFloat:
      "const unsigned full = __float_as_int(x); bits = (unsigned short)(x != x ? 0x7fc0u : (full + 0x7fffu + (full >> 16 & 1u)) >> 16);",
    operators: {},
    fma: "return bf16::from(fusedBits(float(a), float(b), float(c)));",
    before: `// The bits of a·b + c rounded once to bfloat16: the sum in double is rounded to odd, so that the second rounding is exact.
${DEVICE} unsigned fusedBits(float a, float b, float c) {
  const double product = double(a) * double(b), sum = product + double(c), part = sum - product;
  const double error = (product - (sum - part)) + (double(c) - part);
  if (sum != sum) return 0x7fc0u;
  long long full = ${BIT_CAST}(long long, sum);
  const bool isInexact = error > 0.0 || error < 0.0;
  if (isInexact && sum - sum == 0.0 && (full & 1) == 0) full += (error > 0.0) == (sum > 0.0) ? 1 : -1;
  const double odd = ${BIT_CAST}(double, full);
  const unsigned sign = unsigned(full >> 32) & 0x80000000u;
  // Subnormal numbers are multiples of 2^-133.
  if (__builtin_fabs(odd) < ${String(2 ** -126)})
    return (sign | unsigned(__float_as_int(float(odd + ${SUBNORMAL_MAGIC} - ${SUBNORMAL_MAGIC})))) >> 16;
  full = (full + 0xfffffffffffll + (full >> 45 & 1)) & ~0x1fffffffffffll;
  return unsigned(__float_as_int(float(${BIT_CAST}(double, full)))) >> 16;
}`,
  },
  { parameters: "", names: "", functions: ["__shfl", "__shfl_xor", "__shfl_up", "__shfl_down"] },
);
