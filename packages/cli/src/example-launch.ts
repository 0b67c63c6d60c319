/**
 * The launch that `evolver check` runs: the kernel's own `example`, the command line's arguments, and guesses for the
 * rest. Guessed sizes are no multiple of the workgroup's, so that a missing bounds check shows.
 */

import { type AnyTypedArray, type Device, type DeviceBuffer } from "@evolver/device";
import { EvolverError, Random } from "@evolver/base";
import {
  isInteger,
  scalarTypes,
  type BufferDescriptor,
  type ElementType,
  type Kernel,
  type KernelIR,
} from "@evolver/kernel";

export interface LaunchOptions {
  /** Workgroups on x, y, z. */
  readonly workgroups: readonly number[] | null;
  /** Scalars by value and buffers by length. */
  readonly args: Readonly<Record<string, number>>;
}

export interface CheckLaunch {
  readonly workgroups: readonly [number, number, number];
  /** What each argument is, for the report: a value, or a buffer's length. */
  readonly summary: Readonly<Record<string, number | { readonly length: number }>>;
  readonly args: Readonly<Record<string, number | DeviceBuffer>>;
  /** Names of what was guessed. */
  readonly guessed: readonly string[];
}

/** Several integer scalars are probably extents of something; then they are small and the buffers large. */
const SMALL_EXTENT = 13;
const LARGE_LENGTH = 65_536;
const RAGGED = 7;
/** One GiB. */
const MOST_ELEMENTS = 2 ** 28;

/**
 * @param ir the build that is launched; the device's own if absent
 * @throws EvolverError UNKNOWN_ARGUMENT, INVALID_ARGUMENT
 */
export function exampleLaunch(
  kernel: Kernel,
  device: Device,
  options: LaunchOptions,
  ir: KernelIR = kernel.build({ subgroup: device.subgroupSize, forwardProgress: device.forwardProgress }),
): CheckLaunch {
  const { params, example } = kernel;
  const unknown = Object.keys(options.args).find((name) => !(name in params));
  if (unknown !== undefined) {
    throw new EvolverError("UNKNOWN_ARGUMENT", `kernel "${kernel.name}" has no parameter "${unknown}"`, {
      hint: `its parameters are ${Object.keys(params).join(", ")}`,
    });
  }
  const guessed: string[] = [];
  const workgroups = threeCounts(
    options.workgroups ?? asList(example?.workgroups) ?? guess(guessed, "workgroups", [3]),
  );
  const size = ir.workgroupSize;
  const total = workgroups.reduce((product, count, axis) => product * count * (size[axis] as number), 1);
  const integers = Object.values(params).filter(
    (param) => param.kind === "type" && param.type !== "f32",
  ).length;
  const ragged = Math.max(1, total - RAGGED);
  const length = integers === 0 ? total : integers === 1 ? ragged : LARGE_LENGTH;
  const extent = integers === 1 ? ragged : SMALL_EXTENT;

  const summary: Record<string, number | { length: number }> = {};
  const args: Record<string, number | DeviceBuffer> = {};
  const random = new Random(1);
  for (const [name, param] of Object.entries(params)) {
    const given = options.args[name] ?? example?.args[name];
    if (param.kind === "type") {
      const value = given ?? guess(guessed, name, param.type === "f32" ? 0.5 : extent);
      if (typeof value !== "number") throw notNumber(kernel, name);
      summary[name] = value;
      args[name] = value;
    } else {
      const contents = given ?? guess(guessed, name, length);
      if (typeof contents === "number") checkLength(kernel, name, contents);
      const array = typeof contents === "number" ? fill(param, contents, random) : contents;
      summary[name] = { length: array.length };
      args[name] = device.createBuffer(param.element, array);
    }
  }
  return { workgroups, summary, args, guessed };
}

function guess<T>(guessed: string[], name: string, value: T): T {
  guessed.push(name);
  return value;
}

function asList(counts: number | readonly (number | undefined)[] | undefined): readonly number[] | null {
  if (counts === undefined) return null;
  return typeof counts === "number" ? [counts] : counts.map((count) => count ?? 1);
}

function threeCounts(counts: readonly number[]): [number, number, number] {
  return [counts[0] ?? 1, counts[1] ?? 1, counts[2] ?? 1];
}

function notNumber(kernel: Kernel, name: string): EvolverError {
  return new EvolverError(
    "INVALID_ARGUMENT",
    `parameter "${name}" of kernel "${kernel.name}" is a number, not an array`,
  );
}

function checkLength(kernel: Kernel, name: string, length: number): void {
  if (Number.isInteger(length) && length >= 0 && length <= MOST_ELEMENTS) return;
  throw new EvolverError(
    "INVALID_ARGUMENT",
    `${length} is not a length for the buffer "${name}" of kernel "${kernel.name}"`,
    { hint: `give a whole number from 0 to ${MOST_ELEMENTS}` },
  );
}

/** Values in [−1, 1), or zeros for atomic memory and indices, which usually start from zero. */
function fill(
  param: BufferDescriptor<ElementType, "read" | "write" | "read_write", boolean>,
  length: number,
  random: Random,
): AnyTypedArray {
  const { element } = param;
  const { array, encode, round } = scalarTypes[element];
  if (isInteger(element)) return new array(length);
  return array.from(Array.from({ length }, () => encode(round(random.uniform() * 2 - 1))));
}
