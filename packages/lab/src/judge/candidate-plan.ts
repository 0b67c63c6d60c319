/** The judge's rules for a candidate's plan, beyond being well-formed: it fits the case, and its structure cannot cheat. */

import { checkPlan, type AnyTypedArray, type Plan, type PlanBuffer } from "@evolver/device";
import { EvolverError } from "@evolver/base";
import type { ElementType, WordType } from "@evolver/kernel";
import type { Case } from "../study/case.ts";

/** What a case wants of every plan for it: its inputs and outputs. */
export interface PlanSignature {
  readonly inputs: Readonly<Record<string, { readonly element: ElementType; readonly length: number }>>;
  readonly outputs: Readonly<Record<string, { readonly element: ElementType; readonly length: number }>>;
}

/** What a case gives, and wants. */
export function signatureOf({ inputs, outputs, halves }: Case): PlanSignature {
  const described = Object.entries(inputs).map(([name, data]) => {
    const element = data instanceof Uint16Array ? (halves?.[name] ?? "f16") : wordTypeOf(data);
    return [name, { element, length: data.length }] as const;
  });
  return { inputs: Object.fromEntries(described), outputs };
}

const wordTypeOf = (data: AnyTypedArray): WordType =>
  data instanceof Float32Array ? "f32" : data instanceof Int32Array ? "i32" : "u32";

/** The most that a buffer may have, in elements: 1 GiB of four bytes each. */
export const MAX_BUFFER_LENGTH = 2 ** 28;
/** The most that may be zeroed once, in elements: it is read back after each run that is looked at. */
const MAX_ZEROED_ONCE = 2 ** 16;

/**
 * Checks that a plan is well-formed, takes and gives what the case says, and never reads an output.
 * @throws EvolverError PLAN_INVALID
 */
export function checkCandidatePlan(plan: Plan, signature: PlanSignature): void {
  checkPlan(plan);
  const buffers = new Map(plan.buffers.map((buffer) => [buffer.name, buffer]));
  for (const buffer of plan.buffers) checkBuffer(buffer, signature);
  for (const name of Object.keys(signature.outputs))
    if (!isWritten(buffers.get(name)?.role)) throw invalid(`The plan has no output called ${name}.`);
  for (const { kernel: index, args } of plan.launches) {
    const kernel = plan.kernels[index] as Plan["kernels"][number];
    for (const param of kernel.params) {
      const argument = args[param.name];
      if (param.kind === "scalar" || typeof argument !== "object") continue;
      // A kernel that sees what an output holds could tell by it that its work is done already.
      if (buffers.get(argument.buffer)?.role === "output" && param.memory.access !== "write")
        throw invalid(
          `Kernel ${kernel.name} may read the output ${argument.buffer}, as ${param.name}; outputs are declared "write", and ` +
            "what launches hand on to each other goes through scratch.",
        );
    }
  }
}

/** Whether a buffer of the role holds a result. */
const isWritten = (role: PlanBuffer["role"] | undefined): boolean => role === "output" || role === "inout";

function checkBuffer({ name, role, element, length, zeroed }: PlanBuffer, signature: PlanSignature): void {
  if (length > MAX_BUFFER_LENGTH) throw invalid(`Buffer ${name} has length ${length}.`);
  if (role === "scratch") {
    if (zeroed === "once" && length > MAX_ZEROED_ONCE)
      throw invalid(
        `Scratch ${name} has ${length} elements; where it is zeroed once, ${MAX_ZEROED_ONCE} are the most.`,
      );
    return;
  }
  const [given, result] = [signature.inputs[name], signature.outputs[name]];
  // What is changed in place is both, and the case says so: else a kernel could keep what an earlier run has left.
  const wanted = role === "inout" ? result && given : role === "input" ? given : result;
  if (given !== undefined && result !== undefined && role !== "inout")
    throw invalid(`The case changes ${name} in place; the plan has it as ${role}, which must be inout.`);
  if (wanted === undefined) throw invalid(`The case has no ${role} called ${name}.`);
  if (wanted.element !== element || wanted.length !== length)
    throw invalid(
      `The ${role} ${name} is ${wanted.length} ${wanted.element}; the plan says ${length} ${element}.`,
    );
}

const invalid = (what: string): EvolverError => new EvolverError("PLAN_INVALID", what);
