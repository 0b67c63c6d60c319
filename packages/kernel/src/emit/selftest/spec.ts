/**
 * What a self-test is made from: one launch of a kernel with its inputs, and how its results are judged. Plain data and
 * text; the files beside this one turn it into a program for a target.
 */

import { EvolverError } from "@evolver/base";
import type { KernelIR } from "../../ir/nodes.ts";
import { isHalf } from "../../ir/types.ts";

/** Bits for f16 and bf16. */
type Values = Float32Array | Int32Array | Uint32Array | Uint16Array;

/**
 * What a buffer holds before the launch. "uniform" (f32 in [−1, 1)) and "normal" (f32, mean 0, variance 1) are drawn by
 * the program itself from a seed; "unset" is NaN in f32 and all bits elsewhere, for what the kernel has to write.
 */
export type SelftestContents =
  | { readonly kind: "uniform" | "normal"; readonly seed: number }
  | { readonly kind: "values"; readonly values: Values }
  | { readonly kind: "zeros" | "unset" };

/** What must be in a buffer afterwards. */
export interface SelftestExpected {
  readonly values: Values;
  /** How far an f32 may be off; exact where null. NaN only ever equals NaN. */
  readonly tolerance: { readonly relative: number; readonly absolute: number } | null;
}

/** A buffer of a self-test: its contents before the launch, and what is expected after it. */
export interface SelftestBuffer {
  /** In elements. */
  readonly length: number;
  readonly contents: SelftestContents;
  readonly expected?: SelftestExpected;
}

/**
 * A judge written by hand for the study, in C++ and in JavaScript. Each text defines a function `verify` that takes the
 * buffers after the launch, in the order of the kernel's parameters (`const float*`, typed arrays), prints what it
 * found, and returns whether all is right. What the kernel only reads is as it was.
 */
export interface SelftestReference {
  readonly cpp: string;
  readonly js: string;
}

/** A launch of a kernel, and what its results have to be: what a program with its own test is made from. */
export interface Selftest {
  /** For people: what is tested, on what. */
  readonly title: string;
  readonly workgroups: readonly [number, number, number];
  /** For each parameter of the kernel. */
  readonly args: Readonly<Record<string, number | SelftestBuffer>>;
  readonly reference?: SelftestReference;
  /** Useful floating-point operations of the launch, for TFLOP/s. */
  readonly flops?: number;
}

/** The numbers that a program draws for "uniform" contents, so that expected values can be worked out here. */
export function uniformValues(length: number, seed: number): Float32Array {
  let state = seed | 0;
  return Float32Array.from({ length }, () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * 2 - 1;
  });
}

/** The self-test with the lengths of buffers that the kernel asks for. */
export function withLengths(ir: KernelIR, selftest: Selftest): Selftest {
  const lengths = ir.params.flatMap((param): [string, number][] =>
    param.kind === "scalar" && param.lengthOf !== null
      ? [[param.name, (selftest.args[param.lengthOf] as SelftestBuffer).length]]
      : [],
  );
  return { ...selftest, args: { ...selftest.args, ...Object.fromEntries(lengths) } };
}

/** Elements that a program may carry as numbers, inputs and expected values together. */
const EMBEDDED_LIMIT = 1 << 20;

/**
 * @throws EvolverError SELFTEST_INVALID where the arguments are not the kernel's, SELFTEST_TOO_LARGE where too many
 *   numbers would stand in the file, SELFTEST_EMPTY where nothing would be checked
 */
export function checkSelftest(ir: KernelIR, { args, reference }: Selftest): void {
  let embedded = 0;
  let expectations = 0;
  for (const param of ir.params) {
    if (param.kind === "scalar" && param.lengthOf !== null) continue;
    const value = args[param.name];
    if (value === undefined || (typeof value === "number") !== (param.kind === "scalar")) {
      throw new EvolverError(
        "SELFTEST_INVALID",
        `the self-test of "${ir.name}" needs a ${param.kind === "scalar" ? "number" : "buffer"} for "${param.name}"`,
      );
    }
    if (typeof value === "number") continue;
    const { kind } = value.contents;
    if (
      param.kind === "buffer" &&
      isHalf(param.memory.element) &&
      (kind === "uniform" || kind === "normal")
    ) {
      throw new EvolverError(
        "SELFTEST_INVALID",
        `the self-test of "${ir.name}" draws numbers for "${param.name}", which holds ${param.memory.element}`,
        { hint: 'only f32 is drawn by the program: give { kind: "values" } with the bits' },
      );
    }
    if (value.contents.kind === "values") embedded += value.contents.values.length;
    if (value.expected !== undefined) {
      expectations++;
      embedded += value.expected.values.length;
    }
  }
  if (embedded > EMBEDDED_LIMIT) {
    throw new EvolverError(
      "SELFTEST_TOO_LARGE",
      `the self-test of "${ir.name}" would carry ${embedded} numbers; ${EMBEDDED_LIMIT} is the most`,
      { hint: "give the kernel a smaller example" },
    );
  }
  if (reference === undefined && expectations === 0) {
    throw new EvolverError("SELFTEST_EMPTY", `the self-test of "${ir.name}" would check nothing`, {
      hint: "the kernel has to write a buffer",
    });
  }
}
