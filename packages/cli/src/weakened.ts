/** What targets promise less than the language for a kernel, as `check` lists it below what the simulator found. */

import { EvolverError } from "@evolver/base";
import {
  emit,
  emitTargetNames,
  emitTargets,
  weakenings,
  type EmitTarget,
  type Kernel,
  type LoweringTopic,
} from "@evolver/kernel";

export interface Weakened {
  /** The targets of which this holds. */
  readonly targets: readonly EmitTarget[];
  readonly topic: LoweringTopic | "refused";
  /** What the kernel asks for. */
  readonly request: string;
  /** What is promised instead. */
  readonly became: string;
  /** The first line that asks for it. */
  readonly line: number;
}

/** Of every target but JavaScript, which is what the simulator checks against. */
export function weakenedBy(kernel: Kernel, subgroup: number): readonly Weakened[] {
  const found = new Map<string, Weakened>();
  for (const target of emitTargetNames.filter((name) => name !== "js")) {
    for (const { topic, request, became, line } of of(kernel, target, subgroup)) {
      const key = `${request}\n${became}`;
      const targets = [...(found.get(key)?.targets ?? []), target];
      found.set(key, { targets, topic, request, became, line });
    }
  }
  return [...found.values()];
}

function of(kernel: Kernel, target: EmitTarget, subgroup: number): readonly Omit<Weakened, "targets">[] {
  const { subgroupSizes, forwardProgress } = emitTargets[target];
  const widths: readonly number[] = subgroupSizes ?? [subgroup];
  const width = widths.includes(subgroup) ? subgroup : (widths[0] as number);
  try {
    const { lowering } = emit(kernel.build({ subgroup: width, forwardProgress }), target);
    return weakenings(lowering).map(({ topic, request, became, where }) => ({
      topic,
      request,
      became,
      line: where.line,
    }));
  } catch (error) {
    if (!(error instanceof EvolverError)) throw error;
    const became = error.message.split("\n")[0] as string;
    return [{ topic: "refused", request: "the kernel", became, line: error.where[0]?.line ?? 0 }];
  }
}

/** The lines of `check`. */
export const describeWeakened = (weakened: readonly Weakened[]): string[] =>
  weakened.map(({ targets, topic, request, became, line }) => {
    const what = topic === "refused" ? "refused" : `${request}, first at line ${line}`;
    return `  on ${targets.join(", ")}: ${what}: ${became}`;
  });
