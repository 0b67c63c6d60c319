/**
 * Whether a plan is well-formed: the names in it exist, and types match. A judge has further rules of its own, which are not
 * here.
 */

import { EvolverError } from "@evolver/base";
import type { KernelIR } from "@evolver/kernel";
import { isElementType } from "../core/arrays.ts";
import type { Plan, PlanBuffer, PlanLaunch } from "./plan.ts";

const ROLES: readonly unknown[] = ["input", "output", "scratch"];

/** @throws EvolverError PLAN_INVALID */
export function checkPlan(plan: Plan): void {
  const lists: readonly unknown[] = [plan.kernels, plan.buffers, plan.launches];
  if (!lists.every((list) => Array.isArray(list)))
    throw planInvalid("A plan has lists of kernels, buffers and launches.");
  const buffers = new Map<string, PlanBuffer>();
  for (const buffer of plan.buffers) {
    if (buffers.has(buffer.name)) throw planInvalid(`Two buffers are called ${buffer.name}.`);
    buffers.set(buffer.name, buffer);
    checkBuffer(buffer);
  }
  for (const [i, launch] of plan.launches.entries()) {
    const kernel = plan.kernels[launch.kernel];
    if (kernel === undefined)
      throw planInvalid(`Launch ${i} is of kernel ${launch.kernel}, and there are ${plan.kernels.length}.`);
    const { workgroups } = launch;
    if (workgroups.length !== 3 || workgroups.some((n) => !Number.isSafeInteger(n) || n < 0))
      throw planInvalid(`Launch ${i} has workgroups [${workgroups.join(", ")}].`);
    checkArguments(i, launch, kernel, buffers);
  }
}

function checkBuffer({ name, role, element, length }: PlanBuffer): void {
  if (!Number.isSafeInteger(length) || length < 0) throw planInvalid(`Buffer ${name} has length ${length}.`);
  if (!isElementType(element)) throw planInvalid(`Buffer ${name} has element type ${String(element)}.`);
  if (!ROLES.includes(role)) throw planInvalid(`Buffer ${name} is not an input, output or scratch.`);
}

function checkArguments(
  i: number,
  { args }: PlanLaunch,
  kernel: KernelIR,
  buffers: ReadonlyMap<string, PlanBuffer>,
): void {
  for (const param of kernel.params) {
    const argument = args[param.name];
    if (param.kind === "scalar") {
      if (typeof argument !== "number")
        throw planInvalid(`Launch ${i} of ${kernel.name} lacks a number for ${param.name}.`);
      continue;
    }
    const buffer = typeof argument === "object" ? buffers.get(argument.buffer) : undefined;
    if (buffer === undefined)
      throw planInvalid(`Launch ${i} of ${kernel.name} lacks a buffer for ${param.name}.`);
    if (buffer.element !== param.memory.element)
      throw planInvalid(
        `Launch ${i} of ${kernel.name} passes ${buffer.element} for ${param.name}: ${param.memory.element}.`,
      );
  }
}

export const planInvalid = (what: string, cause?: unknown): EvolverError =>
  new EvolverError("PLAN_INVALID", what, { cause });
