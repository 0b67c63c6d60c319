/** Names in emitted code: readable, unique among what is in scope, and never a word of the target language. */

import type { BuiltinName } from "../../ir/builtins.ts";
import type { ForNode, Node } from "../../ir/nodes.ts";
import { ops, type OpName } from "../../ir/ops.ts";
import { nameOf, namesAt } from "../../ir/source-names.ts";
import { subgroupOps } from "../../ir/subgroup.ts";
import type { Value } from "../../ir/types.ts";
import { memoriesOf, resultsOf, variablesOf } from "../../ir/walk.ts";

/** Words of C++, CUDA, HIP, WGSL and JavaScript that users are likely to choose as names. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    "abs active alias alignas alignof and array as asm assert async atomic auto await bitcast bool break case catch " +
    "char class clamp const const_assert const_cast constexpr continue continuing cos debugger decltype default " +
    "delete diagnostic discard do double else enable enum eval explicit export extends extern f16 f32 false final " +
    "finally float fn for friend from fround function generic get goto half handle i32 if import in infer inline " +
    "instanceof int interface kernel let long loop main mat math max mediump min mod module mutable namespace new nil " +
    "noinline not null of operator or override package precise private protected ptr public read read_write ref " +
    "register reinterpret_cast requires restrict return run sampler select self set shared short signed sizeof " +
    "smooth static static_assert static_cast storage struct super switch target template texture this thread throw " +
    "trait true try type typedef typeid typename typeof u32 uint undefined uniform union unless unsigned use using " +
    "var varying vec2 vec3 vec4 vec2f vec4f void volatile wchar_t where while with workgroup write xor yield NaN " +
    "Infinity Math args arguments workgroups params sin exp exp2 log log2 sqrt rsqrt tanh floor ceil round trunc fma " +
    "NULL Self abstract alignas asm_fragment attribute become cast co_await co_return co_yield coherent column_major common compile compile_fragment concept consteval constinit crate demote demote_to_helper dynamic_cast external fallthrough filter finally fxgroup groupshared highp impl implements layout lowp macro macro_rules match meta mod move mut noexcept nointerpolation non_coherent noncoherent noperspective nullptr packoffset partial pass patch pixelfragment precision premerge priv pub readonly regardless require resource snorm std subroutine thread_local typename unorm unsafe unsized virtual wgsl writeonly saturate degrees radians dot cross normalize sign step mix countOneBits countLeadingZeros inverseSqrt " +
    "and_eq bitand bitor char8_t char16_t char32_t compl not_eq or_eq xor_eq linux unix i386 NAN INFINITY EOF BUFSIZ MAXFLOAT NZERO SNAN alloca stdin stdout stderr errno offsetof " +
    "Array DataView Error Float32Array Int32Array Object Symbol Uint32Array threadIdx blockIdx blockDim gridDim float2 float4 int2 int4 uint2 uint4 lane lanes invocation invocations"
  ).split(" "),
);

/**
 * Functions that C's headers declare: nvcc and hipcc see them around every file, so that a kernel, a function with
 * external linkage, cannot have their names.
 */
const C_FUNCTIONS: ReadonlySet<string> = new Set(
  (
    "index rindex remainder drem fmin fmax fmod pow hypot cbrt erf erfc gamma lgamma tgamma j0 j1 jn y0 y1 yn acos " +
    "asin atan atan2 cosh sinh acosh asinh atanh expm1 log10 log1p logb ilogb scalb scalbn ldexp frexp modf copysign " +
    "nearbyint rint lrint nextafter significand nan div ldiv labs rand srand random exit abort atexit system getenv " +
    "qsort bsearch malloc calloc realloc free memcpy memset memmove memcmp strlen strcmp time clock difftime mktime " +
    "signal raise printf puts putc getc remove rename read write open close pipe dup link unlink sleep pause alarm " +
    "access wait kill nice sync truncate isnan isinf isfinite signbit"
  ).split(" "),
);

/** A name that a function with external linkage may have in C++. */
export const linkable = (name: string): string => (C_FUNCTIONS.has(name) ? `${name}_` : name);

const BUILTIN_NAMES = [
  "workgroupIndex",
  "localIndex",
  "subgroupId",
  ...["workgroupId", "localId", "globalId", "numWorkgroups"].flatMap((name) =>
    ["X", "Y", "Z"].map((axis) => name + axis),
  ),
];

/** The name under which emitted code holds a built-in: `globalId.x` is globalIdX. */
export const builtinName = (builtin: BuiltinName): string =>
  builtin.replace(/\.([xyz])$/, (_, axis: string) => axis.toUpperCase());

/** What macros of C's headers look like: INT_MAX, M_PI, L_tmpnam. CUDA's begin with its name. */
const C_MACRO = /^[A-Z][A-Z0-9]*(?=_)/;
const CUDA_MACRO = /^cuda[A-Z]/;

/** A name as all languages allow it. None may begin with two underscores, which C++ and WGSL keep for themselves. */
function allowed(wanted: string): string {
  const stripped = wanted.startsWith("__") || wanted === "_" ? `${wanted.replace(/^_+/, "")}_` : wanted;
  const named = /^[\d_]/.test(stripped) ? `name${stripped}` : stripped;
  if (RESERVED.has(named) || CUDA_MACRO.test(named)) return `${named}_`;
  return named.replace(C_MACRO, (capitals) => capitals.toLowerCase());
}

/** Hands out names; scopes nest as blocks do, and a name is free again when its scope closes. */
export class Names {
  /** By name: how many of it, numbered from 2 on, the scope and those around it have handed out. */
  readonly #scopes: Map<string, number>[];

  /** @param taken names of helpers and the like that stand around the kernel */
  constructor(taken: Iterable<string>) {
    this.#scopes = [new Map([...taken, ...BUILTIN_NAMES].map((name) => [name, 1]))];
  }

  open(): void {
    this.#scopes.push(new Map());
  }

  close(): void {
    this.#scopes.pop();
  }

  /** A name in the innermost scope: the wanted one, or that with a number. */
  take(wanted: string): string {
    const base = allowed(wanted);
    const separator = /\d$/.test(base) ? "_" : "";
    const innermost = this.#scopes.at(-1) as Map<string, number>;
    let count = this.#count(base);
    let name = count === 0 ? base : `${base}${separator}${++count}`;
    while (count > 0 && this.#count(name) > 0) name = `${base}${separator}${++count}`;
    innermost.set(base, Math.max(count, 1));
    if (name !== base) innermost.set(name, Math.max(innermost.get(name) ?? 0, 1));
    return name;
  }

  #count(name: string): number {
    let count = 0;
    for (const scope of this.#scopes) count = Math.max(count, scope.get(name) ?? 0);
    return count;
  }
}

/** Calls whose last operation has another name than they. */
const BY_CALL: Readonly<Record<string, OpName>> = { clamp: "min", dot: "fma" };

/** The name that the user gave to a value, or null. */
export function givenName(node: Node, value: Value): string | null {
  const results = resultsOf(node);
  const names = namesAt(node.site.location);
  const { callee } = names;
  if (node.kind === "for") return names.parameter;
  // A call may record other operations beside the one that gives its result.
  if (node.kind === "op" && node.op !== (BY_CALL[callee] ?? callee) && !node.op.startsWith("bitcast"))
    return null;
  if (node.kind === "varGet" && callee !== "get") return null;
  return nameOf(names, results.indexOf(value), results.length);
}

/** A word for a value: the user's, or else one for the operation, or for what is read. */
export const hintFor = (node: Node, value: Value): string => givenName(node, value) ?? describing(node);

function describing(node: Node): string {
  if (node.kind === "op") {
    if (node.result.type === "index") return "offset";
    return node.result.type === "bool" ? "condition" : ops[node.op].noun;
  }
  if (node.kind === "subgroup") return subgroupOps[node.op].noun;
  const source = memoriesOf(node)[0]?.memory ?? variablesOf(node)[0]?.variable;
  if (source === undefined) return "value";
  return `${source.name}${node.kind === "atomic" ? "Before" : "Value"}`;
}

/** The name of a loop's index: the user's, or else a letter by depth, then i2, j2, … */
export const loopName = (node: ForNode, depth: number): string =>
  givenName(node, node.induction) ?? ("ijklmn"[depth % 6] as string);
