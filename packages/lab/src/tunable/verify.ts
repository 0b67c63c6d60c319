/** Verifies a kernel of one's own in a test: on every case that the judge has for it, under all checks of the simulator. */

import { EvolverError } from "@evolver/base";
import { baselineOf, buildOf, openDevice, tunableOf, TunablePlan, type DeviceId } from "@evolver/device";
import type { Choice, Kernel, Params, Tune } from "@evolver/kernel";
import { compareOutputs } from "../study/compare-outputs.ts";
import { PlanRunner } from "../judge/runner.ts";
import { pointAt, spaceSize } from "../study/space.ts";
import { casesOf } from "./cases.ts";
import { truthOf } from "./truth.ts";

/** How `verifyKernel` verifies. */
export interface VerifyOptions {
  /** By default the first value of each choice. */
  readonly choices?: Readonly<Record<string, Choice>>;
  /** By default "sim", which finds races and reads outside, too. */
  readonly device?: DeviceId;
  /** Of the data. */
  readonly seed?: number;
}

/** What was looked at, and how near to its limit the worst element was. */
export interface Verification {
  readonly cases: number;
  readonly error: number;
  readonly bound: number;
}

/**
 * Runs a kernel on ragged sizes and hostile data, and compares it with its reference.
 *
 * @throws EvolverError VERIFICATION_FAILED where a result is wrong or the simulator finds fault, and what `tunableOf` and devices throw
 */
export async function verify<P extends Params, T extends Tune>(
  subject: Kernel<P, T> | TunablePlan,
  { choices, device: id = "sim", seed = 1 }: VerifyOptions = {},
): Promise<Verification> {
  const tunable = subject instanceof TunablePlan ? subject : tunableOf(subject);
  const point = { ...baselineOf(tunable), ...choices };
  const device = await openDevice(id, id === "sim" ? { onFinding: "collect" } : {});
  try {
    const build = buildOf(device);
    const sizes = Object.fromEntries(
      Object.entries(tunable.sizes).map(([name, rule]) => [
        name,
        typeof rule === "number" ? rule : rule.value,
      ]),
    );
    const cases = casesOf({ tunable, sizes, build }, seed);
    let worst = { error: 0, bound: 0 };
    for (const { id: name, shape, inputs } of cases) {
      const fail = (reason: string): EvolverError =>
        new EvolverError("VERIFICATION_FAILED", `"${tunable.name}" is wrong on ${name}: ${reason}`, {
          where: [tunable.site.location],
          hint: `its choices were ${JSON.stringify(point)}, on ${id}`,
        });
      const plan = tunable.plan(shape, point, build);
      const runner = await PlanRunner.create(plan, device);
      try {
        const { outputs, fault } = await runner.verify(inputs);
        if (fault !== null) throw fail(fault.reason);
        const { error, bound, problem } = compareOutputs(
          outputs,
          truthOf({ tunable, problem: shape, plan, inputs, seed }),
        );
        if (problem !== null) throw fail(problem);
        const isWorse = (error ?? 0) * worst.bound >= worst.error * (bound ?? 0);
        if (isWorse) worst = { error: error ?? 0, bound: bound ?? 0 };
      } finally {
        runner.destroy();
      }
    }
    return { cases: cases.length, ...worst };
  } finally {
    await device.close();
  }
}

/** All combinations of a kernel's choices, those too that cannot be built. */
export function pointsOf({ tune }: { readonly tune: Tune }): readonly Readonly<Record<string, Choice>>[] {
  const space = {
    axes: Object.entries(tune).map(([name, values]) => ({ name, values })),
    whyInvalid: () => null,
  };
  return Array.from({ length: spaceSize(space) }, (_, index) => pointAt(space, index));
}
