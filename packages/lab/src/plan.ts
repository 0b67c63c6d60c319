/**
 * A plan: what a candidate would have a device do, as plain data. The judge runs it on buffers of its own; nothing
 * of the candidate's code is in it.
 */

import { EvolverError, canonicalJson, sha256 } from "@evolver/base";
import { deserialise, hash, serialise } from "@evolver/kernel";
import type { ElementType, KernelIR } from "@evolver/kernel";

export interface PlanBuffer {
  readonly name: string;
  /** Inputs and outputs are those of the case, by name. Scratch belongs to the plan. */
  readonly role: "input" | "output" | "scratch";
  readonly element: ElementType;
  /** In elements. */
  readonly length: number;
  /**
   * Scratch only. Without it, scratch holds garbage at first and then garbage or what the last run left; with true, the
   * judge zeroes it before each run; with "once", before the first, for kernels that leave zeros behind. That they do
   * is checked, so there may be 65,536 elements of it at most.
   */
  readonly zeroed?: boolean | "once";
}

/** A number for a scalar parameter, the name of one of the plan's buffers for a buffer. */
export type PlanArgument = number | { readonly buffer: string };

export interface PlanLaunch {
  /** Index into the plan's kernels. */
  readonly kernel: number;
  readonly workgroups: readonly [number, number, number];
  /** One for each parameter of the kernel. */
  readonly args: Readonly<Record<string, PlanArgument>>;
}

export interface Plan {
  readonly kernels: readonly KernelIR[];
  readonly buffers: readonly PlanBuffer[];
  /** Run in order. */
  readonly launches: readonly PlanLaunch[];
}

/** What a case wants of every plan for it: its inputs and outputs. */
export interface PlanSignature {
  readonly inputs: Readonly<Record<string, { readonly element: ElementType; readonly length: number }>>;
  readonly outputs: Readonly<Record<string, { readonly element: ElementType; readonly length: number }>>;
}

/** The most scratch that a plan may ask for, in elements: 1 GiB. */
const MAX_BUFFER_LENGTH = 2 ** 28;
/** The most that may be zeroed once, in elements: it is read back after each run that is looked at. */
const MAX_ZEROED_ONCE = 2 ** 16;

/**
 * Checks that a plan is well-formed and takes and gives what the case says.
 * @throws EvolverError PLAN_INVALID
 */
export function checkPlan(plan: Plan, signature: PlanSignature): void {
  const fail = (what: string): never => {
    throw new EvolverError("PLAN_INVALID", what);
  };
  if (!Array.isArray(plan.kernels) || !Array.isArray(plan.buffers) || !Array.isArray(plan.launches))
    fail("A plan has lists of kernels, buffers and launches.");
  const buffers = new Map<string, PlanBuffer>();
  for (const buffer of plan.buffers) {
    if (buffers.has(buffer.name)) fail(`Two buffers are called ${buffer.name}.`);
    buffers.set(buffer.name, buffer);
    if (!Number.isSafeInteger(buffer.length) || buffer.length < 0 || buffer.length > MAX_BUFFER_LENGTH)
      fail(`Buffer ${buffer.name} has length ${buffer.length}.`);
    if (!["f32", "i32", "u32"].includes(buffer.element))
      fail(`Buffer ${buffer.name} has element type ${buffer.element}.`);
    if (buffer.role === "scratch") {
      if (buffer.zeroed === "once" && buffer.length > MAX_ZEROED_ONCE)
        fail(
          `Scratch ${buffer.name} has ${buffer.length} elements; where it is zeroed once, ${MAX_ZEROED_ONCE} are the most.`,
        );
      continue;
    }
    const wanted = buffer.role === "input" ? signature.inputs[buffer.name] : signature.outputs[buffer.name];
    if (!wanted) fail(`The case has no ${buffer.role} called ${buffer.name}.`);
    else if (wanted.element !== buffer.element || wanted.length !== buffer.length)
      fail(
        `The ${buffer.role} ${buffer.name} is ${wanted.length} ${wanted.element}; the plan says ` +
          `${buffer.length} ${buffer.element}.`,
      );
  }
  for (const name of Object.keys(signature.outputs))
    if (buffers.get(name)?.role !== "output") fail(`The plan has no output called ${name}.`);
  for (const [i, launch] of plan.launches.entries()) {
    const kernel = plan.kernels[launch.kernel];
    if (!kernel) {
      fail(`Launch ${i} is of kernel ${launch.kernel}, and there are ${plan.kernels.length}.`);
      return;
    }
    if (launch.workgroups.length !== 3 || launch.workgroups.some((n) => !Number.isSafeInteger(n) || n < 0))
      fail(`Launch ${i} has workgroups [${launch.workgroups.join(", ")}].`);
    for (const param of kernel.params) {
      const argument = launch.args[param.name];
      if (param.kind === "scalar") {
        if (typeof argument !== "number")
          fail(`Launch ${i} of ${kernel.name} lacks a number for ${param.name}.`);
        continue;
      }
      const buffer = typeof argument === "object" ? buffers.get(argument.buffer) : undefined;
      if (!buffer) fail(`Launch ${i} of ${kernel.name} lacks a buffer for ${param.name}.`);
      else if (buffer.element !== param.memory.element)
        fail(
          `Launch ${i} of ${kernel.name} passes ${buffer.element} for ${param.name}: ${param.memory.element}.`,
        );
      // A kernel that sees what an output holds could tell by it that its work is done already.
      else if (buffer.role === "output" && param.memory.access !== "write")
        fail(
          `Kernel ${kernel.name} may read the output ${buffer.name}, as ${param.name}; outputs are declared "write", and ` +
            "what launches hand on to each other goes through scratch.",
        );
    }
  }
}

/**
 * What the plan does, whatever it calls things: the normalised hashes of its kernels, and its launches with buffers
 * by number. Two plans of equal hash do the same.
 */
export function planHash(plan: Plan): string {
  const kernels = plan.kernels.map((kernel) => hash(kernel));
  const numbers = new Map<string, number>();
  const launches = plan.launches.map((launch) => {
    const kernel = plan.kernels[launch.kernel] as KernelIR;
    const args = kernel.params.map(({ name }) => {
      const argument = launch.args[name];
      if (typeof argument !== "object") return argument ?? null;
      const buffer = plan.buffers.find((candidate) => candidate.name === argument.buffer);
      if (buffer && buffer.role !== "scratch") return argument.buffer;
      if (!numbers.has(argument.buffer)) numbers.set(argument.buffer, numbers.size);
      return [numbers.get(argument.buffer) as number, buffer?.length ?? 0, buffer?.zeroed ?? false];
    });
    return [kernels[launch.kernel] ?? null, launch.workgroups, args];
  });
  return sha256(canonicalJson(launches)).slice(0, 24);
}

/** The plan as text that `parsePlan` reads. */
export function printPlan(plan: Plan): string {
  return JSON.stringify({ ...plan, kernels: plan.kernels.map((kernel) => serialise(kernel)) });
}

/** @throws EvolverError PLAN_INVALID, or what `deserialise` throws */
export function parsePlan(text: string): Plan {
  let wire: { kernels?: unknown };
  try {
    wire = JSON.parse(text) as typeof wire;
  } catch (error) {
    throw new EvolverError("PLAN_INVALID", "The plan is not JSON.", { cause: error });
  }
  if (typeof wire !== "object" || wire === null || !Array.isArray(wire.kernels))
    throw new EvolverError("PLAN_INVALID", "The plan has no list of kernels.");
  const kernels = wire.kernels.map((kernel) => deserialise(kernel as Parameters<typeof deserialise>[0]));
  return { ...(wire as unknown as Plan), kernels };
}
