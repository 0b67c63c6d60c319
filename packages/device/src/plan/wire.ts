/** A plan as text for another process, and what tells whether two plans do the same. */

import { canonicalJson, sha256 } from "@evolver/base";
import { deserialise, hash, serialise, type KernelIR } from "@evolver/kernel";
import { planInvalid } from "./check.ts";
import type { Plan } from "./plan.ts";

/** Hexadecimal digits of a plan's hash: enough that no two plans meet by chance. */
const HASH_DIGITS = 24;

/** What to do about text that is no plan. */
const WRITTEN = "pass what `printPlan` gave";

/** The plan as text that `parsePlan` reads. */
export function printPlan(plan: Plan): string {
  return JSON.stringify({ ...plan, kernels: plan.kernels.map((kernel) => serialise(kernel)) });
}

/** @throws EvolverError PLAN_INVALID, or what `deserialise` throws. Whether the plan is well-formed is not looked at */
export function parsePlan(text: string): Plan {
  let wire: { readonly kernels?: unknown };
  try {
    wire = JSON.parse(text) as typeof wire;
  } catch (error) {
    throw planInvalid("The plan is not JSON.", WRITTEN, error);
  }
  if (typeof wire !== "object" || wire === null || !Array.isArray(wire.kernels))
    throw planInvalid("The plan has no list of kernels.", WRITTEN);
  const kernels = wire.kernels.map((kernel) => deserialise(kernel as Parameters<typeof deserialise>[0]));
  return { ...(wire as unknown as Plan), kernels };
}

/**
 * What the plan does, whatever it calls things: the normalised hashes of its kernels, and its launches with scratch
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
  return sha256(canonicalJson(launches)).slice(0, HASH_DIGITS);
}
