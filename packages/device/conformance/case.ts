/**
 * What a conformance case is: a kernel with its inputs, and what must come out of it, worked out in plain TypeScript
 * and never by another device. Nothing here needs Node or a test runner, so that a page can run the cases too.
 */

import {
  scalarTypes,
  type ElementArray,
  type ElementType,
  type HalfType,
  type Kernel,
  type NumericType,
  type Params,
  type ScalarRow,
  type TypeDescriptor,
} from "@evolver/kernel";
import type { AnyTypedArray, Device, DeviceId, DeviceLimits, FindingKind } from "@evolver/device";

/**
 * What a device promises beyond the language's core.
 *
 * - `progress`: subgroups that wait for each other in a loop all get on.
 * - `subnormals`: f32 below 2⁻¹²⁶ is kept, not flushed to zero.
 * - `exactDivision`: `div`, `sqrt` and `fma` round once.
 * - `separateRounding`: a product that is added to something is rounded first, never fused with the sum.
 * - `specialLiterals`: arithmetic with a literal NaN, infinity or zero is not simplified as if there were no such values.
 * - `ordering`: atomics with an order other than "relaxed" order other memory.
 * - `dynamicUniformity`: kernels whose uniformity is not proved are taken.
 * - `subgroups`: subgroup operations, at one width.
 * - `subgroupBarriers`: barriers of a subgroup where other subgroups run something else.
 * - `waits`: phase barriers, as the device says itself.
 */
export type Capability =
  | "progress"
  | "subnormals"
  | "exactDivision"
  | "separateRounding"
  | "specialLiterals"
  | "ordering"
  | "dynamicUniformity"
  | "subgroups"
  | "subgroupBarriers"
  | "forwardProgress";

/** The device as cases see it. */
export interface Target {
  readonly id: DeviceId;
  /** The subgroup width. */
  readonly width: number;
  readonly limits: DeviceLimits;
  readonly capabilities: ReadonlySet<Capability>;
}

/** What must be in a buffer afterwards: these values to the bit, or what the rule says. */
export type Expected = AnyTypedArray | Rule;

export interface Rule {
  readonly values: AnyTypedArray;
  /** Allowed distance to `values[i]`, in units in the last place or absolute, whichever is larger. */
  readonly tolerance?: (
    expected: number,
    i: number,
  ) => { readonly ulps?: number; readonly absolute?: number };
  /** The values are bits of this type: all of its NaN count as equal. */
  readonly half?: HalfType;
  /** +0 and −0 count as equal. */
  readonly zeros?: boolean;
  /** The elements may stand in any order. */
  readonly anyOrder?: boolean;
}

export interface Launched {
  readonly kernel: Kernel<never>;
  readonly workgroups: number | readonly [number, number?, number?];
  /** Numbers for scalars; for buffers their contents, or the name of an earlier launch's buffer: `{ from: "x" }`. */
  readonly args: Readonly<Record<string, number | AnyTypedArray | { readonly from: string }>>;
  /** By the name of the parameter, after all launches. */
  readonly expected: Readonly<Record<string, Expected>>;
  /** What the simulator has to find, if anything. */
  readonly findings?: readonly FindingKind[];
}

/** A case that runs one kernel, or several that pass buffers on. */
export interface KernelCase {
  readonly name: string;
  readonly needs?: readonly Capability[];
  /** Builds it for a device; several launches run one after another, and share buffers by parameter name. */
  prepare(target: Target): Launched | readonly Launched[];
}

/** A case about the device itself. `check` throws what is wrong. */
export interface DeviceCase {
  readonly name: string;
  readonly needs?: readonly Capability[];
  check(device: Device, target: Target): Promise<void>;
}

export type Case = KernelCase | DeviceCase;

/** A launch with its types checked, then forgotten. */
export function launch<P extends Params>(
  options: {
    readonly kernel: Kernel<P>;
    readonly args: { readonly [K in keyof P]: Launched["args"][string] };
  } & Omit<Launched, "kernel" | "args">,
): Launched {
  return options as unknown as Launched;
}

export type Values<T extends NumericType> = ElementArray<T>;

/** An array of a type; the callback gives each element, which two-byte types round and hold as bits. */
export function array<T extends ElementType>(
  { type }: Pick<TypeDescriptor<T>, "type">,
  length: number,
  element: (i: number) => number = () => 0,
): Values<T> {
  const row: ScalarRow = scalarTypes[type];
  const numbers = Array.from({ length }, (_, i) =>
    row.encode(row.kind === "float" ? row.round(element(i)) : element(i)),
  );
  return scalarTypes[type].array.from(numbers) as unknown as Values<T>;
}

/** Whole numbers that look random and are the same everywhere: element i of stream `seed`, 32 bits. */
export function noise(i: number, seed = 1): number {
  let x = Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca77);
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
  x = Math.imul(x ^ (x >>> 12), 0x297a2d39);
  return (x ^ (x >>> 15)) >>> 0;
}

/** An f32 between −2 and 2 with few bits, so that sums of some hundred are exact in any order. */
export const smallFloat = (i: number, seed = 1): number => ((noise(i, seed) % 1025) - 512) / 256;

/** A workgroup's size as near to `wanted` as the device and whole subgroups allow. */
export function invocations(target: Target, wanted: number): number {
  const { width, limits } = target;
  const most = Math.floor(limits.maxInvocationsPerWorkgroup / width);
  return width * Math.max(1, Math.min(most, Math.round(wanted / width)));
}

/** How many subgroups of the target a workgroup may have, of those wanted. */
export const subgroupsOf = (target: Target, wanted: number): number =>
  Math.min(wanted, Math.floor(target.limits.maxInvocationsPerWorkgroup / target.width));
