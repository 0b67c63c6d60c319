/**
 * Whether a plan is well-formed: the names in it exist, and types match; and whether its launches make sense, as far as
 * that shows before they run. A judge has further rules of its own, which are not here.
 */

import { EvolverError } from "@evolver/base";
import { elementTypes, memoriesOf, visitNodes, type KernelIR, type Memory } from "@evolver/kernel";
import { isElementType } from "../core/arrays.ts";
import type { DeviceBuffer } from "../core/device.ts";
import { shown } from "../core/invalid.ts";
import { givenParams, refuseAliases, resolveScalar } from "../core/launch.ts";
import type { Plan, PlanArgument, PlanBuffer, PlanLaunch } from "./plan.ts";

const ROLES: readonly unknown[] = ["input", "output", "inout", "scratch"];

/** Plans also come from text and from callers without types, so that nothing in them is what its type says. */
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** @throws EvolverError PLAN_INVALID */
export function checkPlan(plan: Plan): void {
  const lists: readonly unknown[] = isRecord(plan) ? [plan.kernels, plan.buffers, plan.launches] : [null];
  if (!lists.every((list) => Array.isArray(list)))
    throw planInvalid(
      "A plan has lists of kernels, buffers and launches.",
      "pass what `done()` of a builder gives",
    );
  const buffers = new Map<string, PlanBuffer>();
  for (const buffer of plan.buffers) {
    checkBuffer(buffer);
    if (buffers.has(buffer.name))
      throw planInvalid(`Two buffers are called ${buffer.name}.`, "give one of them another name");
    buffers.set(buffer.name, buffer);
  }
  for (const [i, launch] of plan.launches.entries()) {
    if (!isRecord(launch)) throw planInvalid(`Launch ${i} is ${shown(launch)}.`, LAUNCH_HAS);
    const kernel = plan.kernels[launch.kernel];
    if (kernel === undefined)
      throw planInvalid(
        `Launch ${i} is of kernel ${shown(launch.kernel)}, and there are ${plan.kernels.length}.`,
        "kernels are given by their index in the plan's list, from 0 on",
      );
    const what = `Launch ${i} of ${kernel.name}`;
    const workgroups: unknown = launch.workgroups;
    if (!Array.isArray(workgroups))
      throw planInvalid(`${what} has ${shown(workgroups)} for workgroups.`, COUNTS);
    if (workgroups.length !== 3 || workgroups.some((n) => !Number.isSafeInteger(n) || n < 0))
      throw planInvalid(`${what} has workgroups [${workgroups.map(shown).join(", ")}].`, COUNTS);
    if (!isRecord(launch.args)) throw planInvalid(`${what} has ${shown(launch.args)} for args.`, LAUNCH_HAS);
    checkArguments(what, launch, kernel, buffers);
  }
}

const COUNTS = "workgroups on x, y and z are whole numbers from 0 on";
const LAUNCH_HAS = "a launch has a kernel, workgroups, and args with a value for each parameter";

function checkBuffer(buffer: PlanBuffer): void {
  if (!isRecord(buffer) || typeof buffer.name !== "string")
    throw planInvalid(
      `A buffer is ${isRecord(buffer) ? `called ${shown(buffer.name)}` : shown(buffer)}.`,
      "buffers have a name, which is a string, a role, an element type and a length",
    );
  const { name, role, element, length } = buffer;
  if (!Number.isSafeInteger(length) || length < 0)
    throw planInvalid(
      `Buffer ${name} has length ${shown(length)}.`,
      "lengths are whole numbers of elements, from 0 on",
    );
  if (!isElementType(element))
    throw planInvalid(
      `Buffer ${name} has element type ${String(element)}.`,
      `types are ${elementTypes.join(", ")}`,
    );
  if (!ROLES.includes(role))
    throw planInvalid(
      `Buffer ${name} is not an input, output, inout or scratch.`,
      `roles are ${ROLES.join(", ")}`,
    );
}

function checkArguments(
  what: string,
  { args }: PlanLaunch,
  kernel: KernelIR,
  buffers: ReadonlyMap<string, PlanBuffer>,
): void {
  const listed = [...buffers.keys()].join(", ") || "no buffers";
  for (const param of givenParams(kernel)) {
    const { name } = param;
    const argument: unknown = args[name];
    if (param.kind === "scalar") {
      if (typeof argument === "number") continue;
      const hint = `pass a number as args.${name}`;
      if (argument === undefined) throw planInvalid(`${what} lacks a number for ${name}.`, hint);
      throw planInvalid(`${what} passes ${given(argument)} for ${name}, which is ${param.type}.`, hint);
    }
    const { element } = param.memory;
    const hint = `pass the name of a buffer of ${element} as args.${name}`;
    if (argument === undefined) throw planInvalid(`${what} lacks a buffer for ${name}.`, hint);
    if (!isRecord(argument) || typeof argument["buffer"] !== "string")
      throw planInvalid(
        `${what} passes ${given(argument)} for ${name}, which is a buffer of ${element}.`,
        hint,
      );
    const buffer = buffers.get(argument["buffer"]);
    if (buffer === undefined)
      throw planInvalid(
        `${what}, parameter ${name}: there is no buffer "${argument["buffer"]}"; the plan has ${listed}.`,
        hint,
      );
    if (buffer.element !== element)
      throw planInvalid(`${what} passes ${buffer.element} for ${name}: ${element}.`, hint);
  }
}

const given = (argument: unknown): string => shown(isRecord(argument) ? argument["buffer"] : argument);

/**
 * Finds in a well-formed plan what would fail at a launch, or leaves a result unwritten.
 *
 * @param bound buffers of a device, by the plan's names, where they are known: two names may stand for one
 * @throws EvolverError INVALID_ARGUMENT for a scalar that does not fit its type, ALIASED_BUFFER for one buffer passed twice to a
 *   kernel that may write it, PLAN_INVALID for an output that no launch writes, PLAN_WRITES_INPUT, and PLAN_READS_UNWRITTEN for
 *   scratch that is read while it holds garbage
 */
export function checkLaunches(plan: Plan, bound: Readonly<Record<string, DeviceBuffer>> = {}): void {
  const written = new Set<string>();
  const buffers = new Map(plan.buffers.map((buffer) => [buffer.name, buffer]));
  for (const [i, { kernel: index, args }] of plan.launches.entries()) {
    const kernel = plan.kernels[index] as KernelIR;
    const passed: Record<string, unknown> = {};
    for (const param of givenParams(kernel)) {
      const argument = args[param.name] as PlanArgument;
      if (param.kind === "scalar") resolveScalar(kernel, param, argument);
      if (param.kind === "scalar" || typeof argument === "number") continue;
      passed[param.name] = bound[argument.buffer] ?? argument.buffer;
    }
    refuseAliases(kernel, passed);
    const uses = usesOf(kernel);
    for (const { name, memory } of kernel.params.filter((param) => param.kind === "buffer")) {
      const buffer = buffers.get((args[name] as { readonly buffer: string }).buffer) as PlanBuffer;
      const use = uses.get(memory);
      // What a caller gives holds what the caller wrote.
      const full = bound[buffer.name] === undefined ? written : new Set([...written, buffer.name]);
      if (use !== undefined) checkUse(`Launch ${i} of ${kernel.name}`, use, buffer, full);
      if (memory.access !== "read") written.add(buffer.name);
    }
  }
  for (const { name, role } of plan.buffers)
    if ((role === "output" || role === "inout") && !written.has(name))
      throw planInvalid(
        `No launch writes the ${role === "inout" ? "buffer" : "output"} ${name}.`,
        'pass it for a parameter that is declared "write" or "read_write", or leave it out',
      );
}

/** @param hint what to do about it */
export const planInvalid = (what: string, hint: string, cause?: unknown): EvolverError =>
  new EvolverError("PLAN_INVALID", what, { hint, cause });

/** What a kernel does to a buffer, whatever it declares. */
interface Use {
  /** Loads, and atomic operations that change what is there. */
  reads: boolean;
  /** Of any kind. */
  writes: boolean;
  /** Writes that do not depend on what was there. */
  stores: boolean;
}

function usesOf({ body }: KernelIR): ReadonlyMap<Memory, Use> {
  const uses = new Map<Memory, Use>();
  visitNodes(body, (node) => {
    for (const { memory, access } of memoriesOf(node)) {
      const use = uses.get(memory) ?? { reads: false, writes: false, stores: false };
      uses.set(memory, use);
      if (access !== "write") use.reads = true;
      if (access !== "read") use.writes = true;
      if (access === "write") use.stores = true;
    }
  });
  return uses;
}

/** @param written the buffers that launches before may have written */
function checkUse(
  what: string,
  { reads, writes, stores }: Use,
  { name, role, zeroed = false }: PlanBuffer,
  written: ReadonlySet<string>,
): void {
  if (role === "input" && writes)
    throw new EvolverError("PLAN_WRITES_INPUT", `${what} writes the input ${name}.`, {
      hint: "inputs belong to the user of the plan, and a second run would begin with what the first has left: write to scratch or an output, or declare the buffer with .inout(name, type, length)",
    });
  // A kernel that also stores may store first.
  if (role !== "scratch" || zeroed !== false || written.has(name) || !reads || stores) return;
  throw new EvolverError(
    "PLAN_READS_UNWRITTEN",
    `${what} reads the scratch ${name}, which no launch before has written.`,
    {
      hint: "launch what writes it first, or let it begin with zeros: .scratch(name, type, length, true)",
    },
  );
}
