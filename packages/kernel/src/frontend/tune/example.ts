/** Examples of a kernel: launches that tools may run, for any sizes and choices, and what the results have to be. */

import { deriveSeed, Random } from "@evolver/base";
import type { Access, ElementType } from "../../ir/types.ts";
import type { BufferDescriptor } from "../descriptors.ts";
import type { Params } from "../params.ts";
import type { Choices, Tune } from "./choices.ts";
import { isContentsRule, isMade, madeContents, type Contents, type OneOf } from "./contents.ts";
import type { Sizes, SizesOf } from "./sizes.ts";

/** Workgroups on x, or on x, y and z. */
export type Workgroups = number | readonly [number, number?, number?];

/** A launch: a number for each scalar; for each buffer its contents, or its length if a tool may choose the contents. */
export interface ExampleLaunch<P extends Params> {
  readonly workgroups: Workgroups;
  readonly args: {
    readonly [K in keyof P]: P[K] extends BufferDescriptor<ElementType, Access, boolean>
      ? Contents
      : number | OneOf;
  };
}

/** A launch with everything decided but the contents of buffers of which only the length is given. */
export interface PlainLaunch {
  readonly workgroups: Workgroups;
  readonly args: Readonly<Record<string, number | Float32Array | Int32Array | Uint32Array | Uint16Array>>;
}

/** An example, or one for each sizes and choices. */
export type Example<P extends Params, T extends Tune, S extends Sizes> =
  | ExampleLaunch<P>
  | ((sizes: SizesOf<S>, choices: Choices<T>, build: { readonly subgroup: number }) => ExampleLaunch<P>);

/** The names of parameters that a kernel may write. */
type WritableOf<P extends Params> = {
  readonly [K in keyof P]: P[K] extends BufferDescriptor<ElementType, infer A, boolean>
    ? A extends "read"
      ? never
      : K
    : never;
}[keyof P];

/** What a reference is given: what buffers hold before the launch, as float64, and scalars. */
export type ReferenceArgs<P extends Params> = {
  readonly [K in keyof P]: P[K] extends BufferDescriptor<ElementType, Access, boolean>
    ? Float64Array
    : number;
};

/** Rounds a number to what the kernel computes in, or not at all. */
export type Round = (value: number) => number;

/**
 * The truth about a kernel, in plain TypeScript on float64: what its outputs hold after the launch, by their names.
 *
 * Each step that a plain kernel would round goes through `round`. It does nothing where the truth is computed; where the
 * tolerance is worked out it rounds to f32, and the difference is what a plain kernel may be off.
 */
export type Reference<P extends Params> = (
  args: ReferenceArgs<P>,
  round: Round,
) => { readonly [K in WritableOf<P>]?: ArrayLike<number> };

/** A reference whose parameters are known at run time only. */
export type AnyReference = (
  args: Readonly<Record<string, Float64Array | number>>,
  round: Round,
) => Readonly<Record<string, ArrayLike<number> | undefined>>;

/** The work that a problem takes, whichever kernel does it: what the roofline is drawn from. */
export interface ProblemWork {
  /** Floating-point operations. */
  readonly flops?: number;
  /** Bytes that have to be read from and written to memory. Left out: all inputs and outputs, once each. */
  readonly bytes?: number;
}

/** Decides what an example leaves to rules. @param params of the kernel */
export function plainLaunch<P extends Params>(
  { workgroups, args }: ExampleLaunch<P>,
  params: P,
): PlainLaunch {
  const plain = Object.entries(args).map(([name, given]: [string, Contents | OneOf]) => {
    const param = params[name];
    if (typeof given === "object" && "oneOf" in given) return [name, given.oneOf[0] ?? 0] as const;
    if (param?.kind !== "buffer" || !isContentsRule(given)) return [name, given as number] as const;
    if (!isMade(given)) return [name, given.length] as const;
    return [name, madeContents(param.element, given, new Random(deriveSeed(1, name)))] as const;
  });
  return { workgroups, args: Object.fromEntries(plain) };
}
