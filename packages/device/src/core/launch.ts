/**
 * What every device does before it runs anything: checks a launch against the kernel, and returns it as plain data. Bad
 * input is refused here, so that devices only get valid launches. build.ts checks kernels, buffer.ts buffers.
 */

import { EvolverError } from "@evolver/base";
import {
  scalarTypes,
  stepParameters,
  type BufferParam,
  type KernelIR,
  type Param,
  type ScalarParam,
  type WordType,
} from "@evolver/kernel";
import { assertOpen, OwnedBuffer, type BufferOwner, type HostBuffer } from "./buffer.ts";
import type { Launch } from "./device.ts";
import { invalid, shown } from "./invalid.ts";

/** A launch that was checked. */
export interface ResolvedLaunch<B extends OwnedBuffer = HostBuffer> {
  readonly workgroups: readonly [number, number, number];
  readonly workgroupCount: number;
  /** Linear indices to run, or null for all. */
  readonly sample: readonly number[] | null;
  /** Values of scalar parameters by name, already exact in the parameter's type. */
  readonly scalars: Readonly<Record<string, number>>;
  /** By the parameter's name. */
  readonly buffers: Readonly<Record<string, B>>;
}

/**
 * Checks a launch: DEVICE_CLOSED, INVALID_WORKGROUPS, MISSING_ARGUMENT, UNKNOWN_ARGUMENT, INVALID_ARGUMENT,
 * BUFFER_DESTROYED and ALIASED_BUFFER.
 *
 * @param bufferType the class of buffers that this device makes
 * @param sampling whether the device can run some of the workgroups only
 */
export function resolveLaunch<B extends OwnedBuffer>(
  ir: KernelIR,
  launch: Launch,
  owner: BufferOwner,
  bufferType: abstract new (...args: never[]) => B,
  sampling = false,
): ResolvedLaunch<B> {
  assertOpen(owner);
  const workgroups = resolveWorkgroups(ir, launch.workgroups, owner);
  const workgroupCount = workgroups[0] * workgroups[1] * workgroups[2];
  const args: Readonly<Record<string, unknown>> = launch.args ?? {};
  const where = [ir.site.location];
  const names = givenParams(ir).map((param) => param.name);
  for (const name of Object.keys(args)) {
    if (names.includes(name)) continue;
    throw new EvolverError("UNKNOWN_ARGUMENT", `kernel "${ir.name}" has no parameter "${name}"`, {
      where,
      hint: `its parameters are ${names.join(", ")}`,
    });
  }
  // A plain record would take no parameter with the name __proto__.
  const scalars = Object.create(null) as Record<string, number>;
  const buffers = Object.create(null) as Record<string, B>;
  for (const param of givenParams(ir)) {
    const value = args[param.name];
    if (value === undefined)
      throw new EvolverError(
        "MISSING_ARGUMENT",
        `the launch of "${ir.name}" gives no value for parameter "${param.name}"`,
        { where, hint: `pass ${wanted(param)} as args.${param.name}` },
      );
    if (param.kind === "scalar") scalars[param.name] = resolveScalar(ir, param, value);
    else buffers[param.name] = resolveBuffer(ir, param, value, owner, bufferType);
  }
  for (const param of ir.params)
    if (param.kind === "scalar" && param.lengthOf !== null)
      scalars[param.name] = resolveScalar(ir, param, (buffers[param.lengthOf] as B).length);
  refuseAliases(ir, buffers);
  return {
    workgroups,
    workgroupCount,
    sample: resolveSample(launch.sample, workgroupCount, owner, sampling),
    scalars,
    buffers,
  };
}

/** The parameters that a launch gives: all but the lengths of its buffers. */
export const givenParams = (ir: KernelIR): readonly Param[] =>
  ir.params.filter((param) => param.kind === "buffer" || param.lengthOf === null);

function resolveWorkgroups(
  ir: KernelIR,
  workgroups: Launch["workgroups"],
  owner: BufferOwner,
): [number, number, number] {
  const list = typeof workgroups === "number" ? [workgroups] : workgroups;
  const fail = (what: string, hint: string): EvolverError =>
    new EvolverError("INVALID_WORKGROUPS", `the launch of "${ir.name}" ${what}`, {
      where: [ir.site.location],
      hint,
    });
  if (!Array.isArray(list) || list.length < 1 || list.length > 3)
    throw fail(`has ${shown(workgroups)} for workgroups`, "pass a number or [x, y?, z?]");
  const counts = [0, 1, 2].map((axis) => (list as readonly unknown[])[axis] ?? 1);
  for (const [axis, count] of counts.entries()) {
    if (Number.isInteger(count) && (count as number) >= 0 && (count as number) <= 0xffffffff) continue;
    throw fail(
      `has ${shown(count)} workgroups on ${"xyz"[axis]}`,
      "counts are whole numbers from 0 to 4294967295",
    );
  }
  const [x, y, z] = counts as [number, number, number];
  if (x * y * z > owner.limits.maxWorkgroups)
    throw fail(
      `has ${x * y * z} workgroups, beyond the ${owner.id} device's limit of ${owner.limits.maxWorkgroups}`,
      "let each workgroup do more, or launch several times",
    );
  return [x, y, z];
}

/** The number that a scalar parameter gets, exact in its type. @throws EvolverError INVALID_ARGUMENT */
export function resolveScalar(ir: KernelIR, param: ScalarParam, value: unknown): number {
  const where = [ir.site.location];
  if (typeof value !== "number")
    throw invalid(
      `parameter "${param.name}" of "${ir.name}" is ${param.type}, not ${shown(value)}`,
      `pass ${wanted(param)}`,
      where,
    );
  const exact = scalarTypes[param.type].literal(value);
  if (typeof exact !== "number")
    throw invalid(
      `parameter "${param.name}" of "${ir.name}" is ${param.type}; ${value} is not one`,
      `pass ${wanted(param)}`,
      where,
    );
  const loop = exact === 0 ? stepParameters(ir).find(({ name }) => name === param.name)?.loop : undefined;
  if (loop !== undefined)
    throw invalid(
      `parameter "${param.name}" of "${ir.name}" is 0 and the step of a loop, which would not end (invalid-loop-step)`,
      "pass another step",
      [loop.site.location],
    );
  return exact;
}

function resolveBuffer<B extends OwnedBuffer>(
  ir: KernelIR,
  param: BufferParam,
  value: unknown,
  owner: BufferOwner,
  bufferType: abstract new (...args: never[]) => B,
): B {
  const where = [ir.site.location];
  const what = `parameter "${param.name}" of "${ir.name}"`;
  if (!(value instanceof bufferType) || value.owner !== owner) {
    const foreign = value instanceof OwnedBuffer ? "a buffer of another device" : shown(value);
    throw invalid(`${what} is a buffer, not ${foreign}`, `make it with createBuffer of this device`, where);
  }
  if (value.destroyed)
    throw new EvolverError("BUFFER_DESTROYED", `the buffer for ${what} was destroyed`, {
      where,
      hint: "destroy a buffer only after the last run that uses it",
    });
  if (value.element !== param.memory.element)
    throw invalid(
      `${what} holds ${param.memory.element}; the buffer passed holds ${value.element}`,
      `pass ${wanted(param)}`,
      where,
    );
  return value;
}

/**
 * WebGPU refuses a buffer that is passed twice and written, and we tell GPU compilers that it does not happen.
 *
 * @param buffers by the parameter's name what stands for a buffer: itself, or the name that it has in a plan
 * @throws EvolverError ALIASED_BUFFER
 */
export function refuseAliases(ir: KernelIR, buffers: Readonly<Record<string, unknown>>): void {
  const names = new Map<unknown, BufferParam[]>();
  for (const param of ir.params) {
    if (param.kind !== "buffer") continue;
    const buffer = buffers[param.name];
    const others = names.get(buffer) ?? [];
    names.set(buffer, [...others, param]);
    const first = others[0];
    if (first === undefined || (first.memory.access === "read" && param.memory.access === "read")) continue;
    throw new EvolverError(
      "ALIASED_BUFFER",
      `one buffer is passed to "${ir.name}" as "${first.name}" and as "${param.name}", and the kernel may write it`,
      {
        where: [ir.site.location],
        hint: "declare one read_write parameter for a kernel that works in place, or pass two buffers",
      },
    );
  }
}

function resolveSample(
  sample: readonly number[] | undefined,
  workgroupCount: number,
  owner: BufferOwner,
  sampling: boolean,
): readonly number[] | null {
  if (sample === undefined) return null;
  if (!sampling)
    throw invalid(`the ${owner.id} device cannot run a sample of the workgroups`, "leave out `sample`");
  for (const index of sample) {
    if (Number.isInteger(index) && index >= 0 && index < workgroupCount) continue;
    throw invalid(
      `sample names workgroup ${index} of a launch of ${workgroupCount}`,
      "give linear indices from 0 to the number of workgroups − 1",
    );
  }
  return [...sample];
}

const NUMBERS: Readonly<Record<WordType, string>> = {
  f32: "a number",
  i32: "a whole number from −2³¹ to 2³¹ − 1",
  u32: "a whole number from 0 to 2³² − 1",
};

function wanted(param: ScalarParam | BufferParam): string {
  if (param.kind === "buffer") return `a buffer of ${param.memory.element}`;
  return NUMBERS[param.type];
}
