/** `evolver check`: runs a kernel of the user's on the simulator with every check on. */

import { relative } from "node:path";
import { quantity } from "@evolver/base";
import { formatTrace } from "@evolver/device";
import {
  checkKernel,
  describeFinding,
  describeLaunch,
  nativeUse,
  shortList,
  type CheckLaunch,
  type CheckOptions,
  type KernelCheck,
} from "@evolver/device/check";
import { nativeUsesOf, usesIn } from "@evolver/device/check/source";
import { InvalidArgumentError, Option } from "commander";
import { newCommand, type MakeCommand } from "../command.ts";
import { estimateWork, longCheck } from "../estimate.ts";
import { interruptedCode, stopOnSignals } from "../interruption.ts";
import { fileOf, loadKernels, type NamedKernel } from "@evolver/lab";
import { integer, subgroupOption } from "../options.ts";
import { EXIT, printJson, printText } from "../output.ts";
import { openProgress, type Progress } from "../progress.ts";
import { resolveOwnPackages } from "@evolver/lab";
import { describeWeakened, weakenedBy, type Weakened } from "../weakened.ts";

interface CheckFlags {
  readonly subgroup: number;
  readonly workgroups?: readonly number[];
  readonly arg: Record<string, number>;
  readonly schedules: number;
  readonly traces: number;
  readonly maxSteps?: number;
  readonly deterministic: boolean;
  readonly json: boolean;
}

export const checkCommand: MakeCommand = ({ finish }) =>
  newCommand(
    "check",
    "run your kernel on the simulator with all checks: races, bounds, barriers, bank conflicts",
  )
    .argument("<file.ts#export>", "a TypeScript file; without #export, every kernel that it exports")
    .addOption(subgroupOption())
    .option(
      "--workgroups <x,y,z>",
      "workgroups to launch (default: the kernel's example, or a guess)",
      numbersIn,
    )
    .addOption(
      new Option("--arg <name=value>", "a scalar's value or a buffer's length; repeat for more")
        .argParser(collectArg)
        .default({}, "the example's"),
    )
    .option(
      "--schedules <n>",
      "orders of subgroups and workgroups to try; small kernels with atomics get several launches for each",
      integer(1, 64),
      3,
    )
    .option("--deterministic", "count a result that depends on the schedule as a finding", false)
    .option(
      "--max-steps <n>",
      "loop iterations of a subgroup after which it counts as endless (default: 100 million)",
      integer(1, 2 ** 40),
    )
    .option("--traces <n>", "lines of gpu.trace to show", integer(0, 1_000_000), 20)
    .action(async (target: string, options: CheckFlags) => {
      resolveOwnPackages();
      const { arg, workgroups, ...rest } = options;
      finish(await check(target, { ...rest, args: arg, workgroups: workgroups ?? null }));
    });

function numbersIn(text: string): number[] {
  const values = text.split(/[,x×]/).map(Number);
  if (values.length <= 3 && values.every((value) => Number.isInteger(value) && value >= 1)) return values;
  throw new InvalidArgumentError("give one to three whole numbers, such as 4 or 4,2,1.");
}

function collectArg(text: string, before: Record<string, number>): Record<string, number> {
  const match = /^([A-Za-z_]\w*)=(.+)$/.exec(text);
  const value = Number(match?.[2]);
  if (match === null || Number.isNaN(value))
    throw new InvalidArgumentError("give name=number, such as n=1000.");
  const name = match[1] as string;
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`${name} is given twice.`);
  return { ...before, [name]: value };
}

interface Options extends Pick<CheckOptions, "subgroup" | "workgroups" | "args" | "schedules" | "traces"> {
  readonly maxSteps?: number | undefined;
  /** Whether a result that depends on the schedule counts as a finding. */
  readonly deterministic?: boolean;
  readonly json: boolean;
}

interface Report extends Omit<KernelCheck, "launch"> {
  /** Why the source was not looked at for run-time values used as JavaScript values, or null. */
  readonly sourceProblem: string | null;
  /** The name it is exported by, which may differ from the kernel's own. */
  readonly export: string;
  readonly kernel: string;
  readonly subgroup: number;
  /** What targets promise less than the language for this kernel. */
  readonly weakened: readonly Weakened[];
  readonly launch:
    | (Pick<CheckLaunch, "workgroups" | "guessed" | "madeUp"> & { readonly args: CheckLaunch["summary"] })
    | null;
}

export async function check(target: string, options: Options): Promise<number> {
  const progress = openProgress();
  // Before there is anything to keep, signals end the process as they do by default: code of the user's that never
  // ends, in the file or in a kernel's body, would not let a listener of ours run.
  const named = await loadKernels(target);
  const kernels = named.map(({ kernel }) => kernel);
  const { uses, problem } = await nativeUsesOf(fileOf(target), kernels, options.subgroup);
  const interruption = stopOnSignals(
    progress,
    "stopping with what was found so far; press Ctrl-C again to stop at once",
  );
  const reports: Report[] = [];
  try {
    for (const one of named) {
      if (interruption.signal.aborted) break;
      const checked = await reportOn(one, options, { progress, signal: interruption.signal });
      const native = usesIn(one.kernel, uses).map(nativeUse);
      reports.push({ ...checked, findings: [...checked.findings, ...native], sourceProblem: problem });
    }
  } finally {
    progress.end();
    interruption.end();
  }
  if (options.json) printJson(reports.length === 1 ? reports[0] : reports);
  else printText(reports.map(describe).join("\n\n"));
  const amount = (report: Report): number =>
    report.findings.length + (options.deterministic === true ? report.warnings.length : 0);
  if (reports.some((report) => amount(report) > 0)) return EXIT.no;
  return interruption.signal.aborted ? interruptedCode() : EXIT.done;
}

interface Watch {
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

async function reportOn(
  { exportName, kernel }: NamedKernel,
  options: Options,
  { progress, signal }: Watch,
): Promise<Omit<Report, "sourceProblem">> {
  const { subgroup, workgroups, args, schedules, traces, maxSteps } = options;
  const { launch, ...checked } = await checkKernel(kernel, {
    ...{ subgroup, workgroups, args, schedules, traces, signal },
    ...(maxSteps === undefined ? {} : { maxSteps }),
    onLaunch: (made, ir) => {
      const warning = longCheck(estimateWork(ir, made.workgroups, made.args), schedules, exportName);
      if (warning !== null) progress.line(warning);
    },
    onProgress: ({ schedule, schedules: all, workgroups: done, of, findings }) =>
      progress.step(
        (schedule - 1) * of + done,
        all * of,
        `workgroups of ${exportName}, schedule ${schedule} of ${all}${findings > 0 ? `, ${findings} findings` : ""}`,
      ),
  });
  return {
    ...{ export: exportName, kernel: kernel.name, subgroup },
    ...checked,
    weakened: launch === null ? [] : weakenedBy(kernel, subgroup),
    launch: launch && summarise(launch),
  };
}

function summarise({ workgroups, summary, guessed, madeUp }: CheckLaunch): NonNullable<Report["launch"]> {
  return { workgroups, args: summary, guessed, madeUp };
}

function describe(report: Report): string {
  const { launch, counters } = report;
  const soFar = report.complete ? "" : " so far (stopped before the end)";
  const depends = report.warnings.length > 0 ? ", but its result depends on the schedule," : "";
  const verdict =
    report.findings.length === 0
      ? `${depends === "" ? "clean" : "no findings"}${soFar}${depends}`
      : `${report.findings.length} finding${report.findings.length === 1 ? "" : "s"}${soFar}`;
  const heading =
    report.export === report.kernel ? report.kernel : `${report.export} (kernel ${report.kernel})`;
  const lines = [`${heading}: ${verdict} at subgroup width ${report.subgroup}`];
  for (const finding of [...report.findings, ...report.warnings])
    lines.push(...describeFinding(finding, shortPath));
  for (const trace of report.traces) lines.push(`  ${formatTrace(trace)}`);
  if (report.tracesLeftOut > 0)
    lines.push(`  … ${report.tracesLeftOut} more lines of gpu.trace; --traces <n> shows n`);
  if (report.sourceProblem !== null)
    lines.push(
      `  not looked for: run-time values as JavaScript conditions, such as if (x.get(0)): ${report.sourceProblem}`,
    );
  if (report.conditional.length > 0)
    lines.push(
      `  with other contents of ${launch?.madeUp.join(", ")}, which check made up (give them in the example to know):`,
    );
  for (const finding of report.conditional)
    lines.push(...describeFinding(finding, shortPath).map((line) => `  ${line}`));
  if (launch !== null) {
    lines.push(`  launch: ${describeLaunch(launch.workgroups, launch.args)}`);
    if (launch.madeUp.length > 0)
      lines.push(
        `  made up: ${launch.madeUp.join(", ")} (each whole number below the length once, in mixed order, and zeros in one more run)`,
      );
    if (launch.guessed.length > 0) {
      lines.push(
        `  guessed: ${launch.guessed.join(", ")}; give the kernel an \`example\`, or pass --workgroups and --arg name=value`,
      );
    }
  }
  if (counters !== null) {
    lines.push(
      `  global ${quantity(counters.globalReadBytes, "B")} read, ${quantity(counters.globalWriteBytes, "B")} written in ${quantity(counters.globalSectors)} sectors; ` +
        `shared conflicts ${quantity(counters.sharedConflicts)}; barriers ${quantity(counters.barriers)}; ` +
        `divergent branches ${quantity(counters.divergentBranches)} of ${quantity(counters.branches)}; ${quantity(counters.flops, "FLOP")}`,
    );
  }
  lines.push(...describeWeakened(report.weakened));
  if (report.neverRan.length > 0) {
    const places = report.neverRan.map(({ file, line }) => `${shortPath(file)}:${line}`);
    lines.push(`  never ran, so nothing is known of it: ${shortList([...new Set(places)])}`);
  }
  if (report.launches > 0)
    lines.push(
      `  this is what ${report.launches} ${report.launches === 1 ? "launch" : "launches"} of this one size and data showed, no proof: other sizes, data, widths and orders, rounding, and what a target weakens are not covered (docs/check.md)`,
    );
  return lines.join("\n");
}

function shortPath(file: string): string {
  const shorter = relative(process.cwd(), file);
  return shorter.startsWith("..") ? file : shorter;
}
