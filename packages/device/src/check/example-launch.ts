/**
 * The launch that a kernel is checked with: its own `example`, what the caller gives (of `evolver check`, its options), and
 * guesses for the rest. Guessed sizes are no multiple of the workgroup's, so that a missing bounds check shows.
 */

import { EvolverError, Random } from "@evolver/base";
import {
  isInteger,
  plainLaunch,
  raggedSizes,
  siteOfThrown,
  scalarTypes,
  visitNodes,
  writtenFirst,
  type Access,
  type BufferDescriptor,
  type ElementType,
  type Kernel,
  type KernelIR,
  type PlainLaunch,
  type WordType,
} from "@evolver/kernel";
import type { AnyTypedArray, Device, DeviceBuffer } from "../core/device.ts";
import { inMixedOrder, randomValues } from "./made-up-contents.ts";

/** What is known of a launch before the rest is guessed. */
export interface LaunchOptions {
  /** Workgroups on x, y, z. */
  readonly workgroups: readonly number[] | null;
  /** Scalars by value and buffers by length. */
  readonly args: Readonly<Record<string, number>>;
  /** Sizes of the problem, for a kernel that has some; small ragged ones for those that are left out. */
  readonly sizes?: Readonly<Record<string, number>>;
  /** What integers that the kernel only reads are made up as, where no contents are given: "mixed" if absent. */
  readonly integers?: MadeUpIntegers;
}

/** Each number below the length once, in mixed order; or zeros alone. */
type MadeUpIntegers = "mixed" | "zeros";

/** A launch for `checkKernel`, with what of it was guessed. */
export interface CheckLaunch {
  readonly workgroups: readonly [number, number, number];
  /** What each argument is, for the report: a value, or a buffer's length. */
  readonly summary: Readonly<Record<string, number | { readonly length: number }>>;
  readonly args: Readonly<Record<string, number | DeviceBuffer>>;
  /** Names of what was guessed. */
  readonly guessed: readonly string[];
  /** Names of the buffers of integers whose contents were made up (LaunchOptions.integers). */
  readonly madeUp: readonly string[];
}

/** Several integer scalars are probably extents of something; then they are small and the buffers large. */
const SMALL_EXTENT = 13;
const LARGE_LENGTH = 65_536;
const RAGGED = 7;
/** One GiB. */
const MOST_ELEMENTS = 2 ** 28;

/**
 * The launch with its buffers, on a device.
 *
 * @param ir the build that is launched; the device's own if absent
 * @throws EvolverError UNKNOWN_ARGUMENT, INVALID_ARGUMENT, INVALID_SIZE, EXAMPLE_THREW
 */
export function exampleLaunch(
  kernel: Kernel,
  device: Device,
  options: LaunchOptions,
  ir: KernelIR = kernel.build({ subgroup: device.subgroupSize, forwardProgress: device.forwardProgress }),
): CheckLaunch {
  const { params } = kernel;
  const example = exampleOf(kernel, options.sizes, device.subgroupSize);
  const unknown = Object.keys(options.args).find((name) => !Object.hasOwn(params, name));
  if (unknown !== undefined) {
    throw new EvolverError("UNKNOWN_ARGUMENT", `kernel "${kernel.name}" has no parameter "${unknown}"`, {
      hint: `its parameters are ${Object.keys(params).join(", ")}`,
    });
  }
  const guessed: string[] = [];
  const madeUp: string[] = [];
  const workgroups = threeCounts(
    options.workgroups ?? asList(example?.workgroups) ?? guess(guessed, "workgroups", [3]),
  );
  if (options.workgroups !== null) checkCount(workgroups, device.limits.maxWorkgroups);
  const size = ir.workgroupSize;
  const total = workgroups.reduce((product, count, axis) => product * count * (size[axis] as number), 1);
  const given = (name: string): number | AnyTypedArray | undefined =>
    options.args[name] ?? example?.args[name];
  const integerNames = Object.entries(params).flatMap(([name, param]) =>
    param.kind === "type" && param.type !== "f32" ? [name] : [],
  );
  const integers = integerNames.length;
  const ragged = Math.max(1, total - RAGGED);
  const length = integers === 0 ? total : integers === 1 ? ragged : LARGE_LENGTH;
  const extent = integers === 1 ? ragged : SMALL_EXTENT;

  const summary: Record<string, number | { length: number }> = {};
  const args: Record<string, number | DeviceBuffer> = {};
  const random = new Random(1);
  // A launch that reaches no further than a guess may leave elements unwritten that another would write.
  const isKnown = guessed.length === 0 && integerNames.every((name) => given(name) !== undefined);
  const reachesAll = isKnown || (integers <= 1 && integerNames.every((name) => given(name) === undefined));
  const scratch = new Set([...writtenFirst(ir)].map(({ name }) => name));
  const offsets = offsetLists(ir);
  for (const [name, param] of Object.entries(params)) {
    if (param.kind === "type") {
      const value = given(name) ?? guess(guessed, name, param.type === "f32" ? 0.5 : extent);
      if (typeof value !== "number") throw notNumber(kernel, name);
      if (Object.hasOwn(options.args, name)) checkScalar(kernel, name, param.type, value);
      summary[name] = value;
      args[name] = value;
    } else {
      const contents = given(name) ?? guess(guessed, name, length + (offsets.has(name) ? 1 : 0));
      if (typeof contents !== "number") {
        args[name] = device.createBuffer(param.element, contents);
        summary[name] = { length: (contents as AnyTypedArray).length };
        continue;
      }
      checkLength(kernel, name, contents);
      summary[name] = { length: contents };
      if (isIndices(param)) madeUp.push(name);
      // What nobody wrote counts as such only where the device sees a length.
      const isOpen = reachesAll && (param.access === "write" || scratch.has(name));
      args[name] = device.createBuffer(
        param.element,
        isOpen ? contents : makeUp(param, contents, options, random),
      );
    }
  }
  return { workgroups, summary, args, guessed, madeUp };
}

/** For the sizes that are given, and small ragged ones for the rest. */
function exampleOf(kernel: Kernel, sizes: LaunchOptions["sizes"], subgroup: number): PlainLaunch | null {
  const all = { ...raggedSizes(kernel.sizes), ...sizes };
  try {
    const launch = kernel.launch(all, subgroup);
    return launch && plainLaunch(launch, kernel.params);
  } catch (error) {
    throw ownThrow(kernel, "EXAMPLE_THREW", "example", error);
  }
}

/**
 * What a function of the kernel's author threw, as an error with its line.
 *
 * @param what the option of the kernel that the function is
 */
export function ownThrow(kernel: Kernel, code: string, what: string, error: unknown): unknown {
  if (error instanceof EvolverError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const definition = { ...kernel.site.location, note: "the kernel was defined here" };
  const thrown = error instanceof Error ? siteOfThrown(error).location : definition;
  return new EvolverError(code, `\`${what}\` of kernel "${kernel.name}" threw: ${message}`, {
    where: thrown.line > 0 ? [thrown, definition] : [definition],
    hint: "give it sizes and choices that go together",
    cause: error,
  });
}

/**
 * Buffers with the offsets of rows, of which there is one more than rows: a loop goes from one of their elements to another.
 */
function offsetLists(ir: KernelIR): ReadonlySet<string> {
  const loadedFrom = new Map<number, string>();
  const names = new Set<string>();
  visitNodes(ir.body, (node) => {
    if (node.kind === "load" && node.memory.space === "global")
      for (const { id } of node.results) loadedFrom.set(id, node.memory.name);
    if (node.kind !== "for") return;
    const [from, to] = [loadedFrom.get(node.from.id), loadedFrom.get(node.to.id)];
    if (to !== undefined && from === to) names.add(to);
  });
  return names;
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

function checkCount(workgroups: readonly number[], most: number): void {
  const count = workgroups.reduce((product, each) => product * each, 1);
  if (count <= most) return;
  throw new EvolverError("INVALID_WORKGROUPS", `${workgroups.join("×")} are ${count} workgroups`, {
    hint: `${most} are the most, and a few thousand show what there is to see`,
  });
}

/** What the command line gives; of an example the launch itself says what is wrong, with its line. */
function checkScalar(kernel: Kernel, name: string, type: WordType, value: number): void {
  const exact = scalarTypes[type].literal(value);
  if (typeof exact === "number" && (Number.isFinite(exact) || !Number.isFinite(value))) return;
  throw new EvolverError(
    "INVALID_ARGUMENT",
    `the parameter "${name}" of kernel "${kernel.name}" is ${type}, which does not hold ${value}`,
    { hint: `give ${RANGES[type]}` },
  );
}

const RANGES: Readonly<Record<WordType, string>> = {
  f32: "a number up to 3.4e38",
  i32: "a whole number from −2147483648 to 2147483647",
  u32: "a whole number from 0 to 4294967295",
};

function checkLength(kernel: Kernel, name: string, length: number): void {
  if (Number.isInteger(length) && length >= 0 && length <= MOST_ELEMENTS) return;
  throw new EvolverError(
    "INVALID_ARGUMENT",
    `${length} is not a length for the buffer "${name}" of kernel "${kernel.name}"`,
    { hint: `give a whole number from 0 to ${MOST_ELEMENTS}` },
  );
}

type AnyBuffer = BufferDescriptor<ElementType, Access, boolean>;

/** Whether a buffer holds integers that the kernel only reads: they may well be indices. */
const isIndices = ({ element, access }: AnyBuffer): boolean => isInteger(element) && access === "read";

/** What a buffer of which only the length is known holds. */
function makeUp(
  param: AnyBuffer,
  length: number,
  { integers = "mixed" }: LaunchOptions,
  random: Random,
): AnyTypedArray {
  const { element, access } = param;
  if (isIndices(param) && integers === "mixed") return inMixedOrder(element, length);
  // Integers that the kernel changes, counters above all, usually start from zero.
  if (isInteger(element) || access === "write") return new scalarTypes[element].array(length);
  return randomValues(element, length, random);
}
