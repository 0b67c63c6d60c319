/** Expects numbers of the simulator's counters. */

import { EvolverError } from "@evolver/base";
import type { Counters } from "@evolver/device";
import { describeFinding } from "@evolver/device/check";
import type { Kernel, Params, Tune } from "@evolver/kernel";
import { launchLine } from "./expect-clean.ts";
import { callOf, shortPath } from "./failure.ts";
import { runChecks, type AnyKernel, type RunOptions } from "./run.ts";
import { checkWanted, compared, describeCompared, type Compared, type WantedCounters } from "./wanted.ts";

/** What is launched. */
export interface CountersOptions<P extends Params> extends RunOptions<P> {
  /** The subgroup width: 32 if absent. */
  readonly subgroup?: number;
}

/** A kernel whose counters are compared. */
export interface CountersExpectation {
  /**
   * Runs the kernel's example launch on the simulator, and compares its counters. Gives them all, for claims of other kinds.
   *
   * @throws AssertionError with each counter that is not as wanted, and where the simulator finds something wrong
   * @throws EvolverError UNKNOWN_COUNTER, INVALID_BOUND, NOTHING_WANTED, EXAMPLE_MISSING, and where the options are wrong
   */
  toHave(wanted: WantedCounters): Promise<Counters>;
}

/** `await expectCounters(kernel).toHave({ sharedConflicts: 0, barriers: { atMost: 4 } })` */
export function expectCounters<P extends Params, T extends Tune>(
  kernel: Kernel<P, T>,
  options: CountersOptions<P> = {},
): CountersExpectation {
  const any = kernel as unknown as AnyKernel;
  const { subgroup = 32 } = options;
  const toHave = async (wanted: WantedCounters): Promise<Counters> => {
    const call = callOf(toHave);
    checkWanted(wanted);
    const { findings, counters, launch } = await runChecks(any, options, { subgroup, schedules: 1 });
    if (launch !== null && launch.guessed.length > 0) throw noExample(any, launch.guessed);
    if (counters === null || launch === null || findings.length > 0) {
      const lines = findings.flatMap((finding) => describeFinding(finding, shortPath));
      throw call.failure(
        [`kernel "${kernel.name}" is not clean, so that its counters say nothing`, ...lines].join("\n"),
        findings[0]?.accesses,
      );
    }
    const all = compared(counters, wanted);
    const wrong = all.filter(({ holds }) => !holds);
    if (wrong.length === 0) return counters;
    const [few, many] = [paths(wrong), paths(all)];
    const which = many === 1 ? "a counter" : `${few} of ${many} counters`;
    const verb = few === 1 ? "is" : "are";
    throw call.failure(
      [
        `kernel "${kernel.name}": ${which} ${verb} not as wanted, at subgroup width ${subgroup}`,
        ...wrong.map((one) => `  ${describeCompared(one)}`),
        launchLine(launch),
      ].join("\n"),
    );
  };
  return { toHave };
}

/** Of how many counters, where one may have two bounds. */
const paths = (all: readonly Compared[]): number => new Set(all.map(({ path }) => path)).size;

/** Counters depend on the launch, and a guess may be another one in the next version. */
function noExample({ name, site }: AnyKernel, guessed: readonly string[]): EvolverError {
  return new EvolverError(
    "EXAMPLE_MISSING",
    `kernel "${name}" does not say how it is launched: nobody gives ${guessed.join(", ")}`,
    {
      where: [site.location],
      hint: "give the kernel an example: { workgroups, args }, or pass workgroups and args",
    },
  );
}
