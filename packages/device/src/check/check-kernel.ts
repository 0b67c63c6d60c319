/** A kernel's example launch under every check of the simulator: what `evolver check` runs, and tests of kernels. */

import { EvolverError } from "@evolver/base";
import type { Kernel, KernelIR } from "@evolver/kernel";
import type { Counters } from "../core/counters.ts";
import type { Trace } from "../core/traces.ts";
import { explore, type Exploration, type ExploreOptions } from "../sim/explore.ts";
import { exampleLaunch, ownThrow, type CheckLaunch, type LaunchOptions } from "./example-launch.ts";
import { refusal, toldFinding, type ToldFinding } from "./told.ts";
import { Findings, weigh } from "./weigh.ts";

/** What to check a kernel under. */
export interface CheckOptions
  extends LaunchOptions, Pick<ExploreOptions, "maxSteps" | "signal" | "onProgress"> {
  readonly subgroup: number;
  /** How many orders of subgroups and workgroups to try. */
  readonly schedules: number;
  /** How many lines of gpu.trace to keep. */
  readonly traces: number;
  /** Told what is launched, before it runs. */
  readonly onLaunch?: (launch: CheckLaunch, ir: KernelIR) => void;
}

/** What a check showed. */
export interface KernelCheck {
  readonly findings: readonly ToldFinding[];
  /** What would be wrong if a buffer whose contents were made up held others: no fault of the kernel as such. */
  readonly conditional: readonly ToldFinding[];
  /** Without findings: that the result depends on the schedule, which may be meant. */
  readonly warnings: readonly ToldFinding[];
  readonly counters: Counters | null;
  /** How often it was launched. */
  readonly launches: number;
  /** False where it was stopped before its end. */
  readonly complete: boolean;
  /** Where parts of it begin that never ran. */
  readonly neverRan: readonly { readonly file: string; readonly line: number }[];
  /** What gpu.trace showed under the first schedule, and how many lines more there were. */
  readonly traces: readonly Trace[];
  readonly tracesLeftOut: number;
  /** Null where the kernel does not build: then its finding says why. */
  readonly launch: CheckLaunch | null;
}

/** More are not kept, however many lines are shown. */
const MOST_TRACES = 100_000;

/**
 * Runs the launch under several schedules, and once more where contents were made up.
 *
 * @throws EvolverError what the options are wrong in; a kernel that does not build has a finding
 */
export async function checkKernel(kernel: Kernel, options: CheckOptions): Promise<KernelCheck> {
  const { subgroup, schedules, maxSteps, signal, onProgress, onLaunch } = options;
  let launch: CheckLaunch | null = null;
  const traces: Trace[] = [];
  const traced = (): Pick<KernelCheck, "traces" | "tracesLeftOut"> => ({
    traces: traces.slice(0, options.traces),
    tracesLeftOut: Math.max(0, traces.length - options.traces),
  });
  const run = (times: number, launchOptions: LaunchOptions): Promise<Exploration> =>
    explore(
      kernel,
      (device) => {
        const made = exampleLaunch(kernel, device, launchOptions);
        if (launch === null) {
          const { subgroupSize, forwardProgress } = device;
          onLaunch?.(made, kernel.build({ subgroup: subgroupSize, forwardProgress }));
        }
        launch ??= made;
        return { workgroups: made.workgroups, args: made.args as never };
      },
      {
        ...{ schedules: times, subgroup },
        ...(signal === undefined ? {} : { signal }),
        ...(maxSteps === undefined ? {} : { maxSteps }),
        ...(onProgress === undefined ? {} : { onProgress }),
        maxTraces: launchOptions === options ? MOST_TRACES : 0,
        onTrace: (trace) => void traces.push(trace),
      },
    );
  try {
    tryBuild(kernel, subgroup);
    const mixed = await run(schedules, options);
    const { madeUp = [] } = launch ?? ({} as Partial<CheckLaunch>);
    const zeros = madeUp.length > 0 ? await run(1, { ...options, integers: "zeros" }) : null;
    const weighed =
      zeros === null
        ? { findings: mixed.findings, conditional: [] }
        : weigh(new Findings(mixed.findings), new Findings(zeros.findings), madeUp);
    return {
      findings: weighed.findings.map(toldFinding),
      conditional: weighed.conditional.map(toldFinding),
      warnings: mixed.warnings.map(toldFinding),
      counters: mixed.counters,
      launches: mixed.launches + (zeros?.launches ?? 0),
      complete: mixed.complete && zeros?.complete !== false,
      neverRan: mixed.neverRan.map(({ file, line }) => ({ file, line })),
      ...traced(),
      launch,
    };
  } catch (error) {
    if (!(error instanceof EvolverError) || error.where.length === 0) throw error;
    const nothing = { conditional: [], warnings: [], counters: null, launches: 0, neverRan: [] };
    return { findings: [refusal(error)], ...nothing, complete: true, ...traced(), launch: null };
  }
}

/** Of what is thrown while a kernel is built, all but its `workgroup` has a line already. */
function tryBuild(kernel: Kernel, subgroup: number): void {
  try {
    kernel.build({ subgroup });
  } catch (error) {
    if (!(error instanceof EvolverError)) throw ownThrow(kernel, "WORKGROUP_THREW", "workgroup", error);
  }
}
