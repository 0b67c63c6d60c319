/** `evolver check`: runs a kernel of the user's on the simulator with every check on. */

import { relative } from "node:path";
import { EvolverError, quantity, type SourceLocation } from "@evolver/base";
import type { NativeUse } from "@evolver/kernel/lint";
import {
  explore,
  formatTrace,
  type Counters,
  type Exploration,
  type Finding,
  type Trace,
} from "@evolver/device";
import { InvalidArgumentError, Option } from "commander";
import { newCommand, type MakeCommand } from "../command.ts";
import { estimateWork, longCheck } from "../estimate.ts";
import { exampleLaunch, type CheckLaunch, type LaunchOptions } from "../example-launch.ts";
import { Findings, weigh } from "../findings.ts";
import { interruptedCode, stopOnSignals } from "../interruption.ts";
import { fileOf, loadKernels, type NamedKernel } from "@evolver/lab";
import { nativeUsesOf, usesIn } from "../native-uses.ts";
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

interface CheckOptions extends LaunchOptions {
  readonly subgroup: number;
  /** How many orders of subgroups and workgroups to try. */
  readonly schedules: number;
  /** How many lines of gpu.trace to show. */
  readonly traces: number;
  readonly maxSteps?: number | undefined;
  /** Whether a result that depends on the schedule counts as a finding. */
  readonly deterministic?: boolean;
  readonly json: boolean;
}

interface ReportedAccess {
  readonly action: string;
  readonly file: string;
  readonly line: number;
  readonly lanes: readonly number[];
  readonly workgroup: readonly number[];
}

interface ReportedFinding {
  readonly kind: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly lanes: readonly number[];
  readonly accesses: readonly ReportedAccess[];
  readonly count: number;
  /** What to do, of a kernel that does not build. */
  readonly hint?: string;
}

interface Report {
  /** Why the source was not looked at for run-time values used as JavaScript values, or null. */
  readonly sourceProblem: string | null;
  /** The name it is exported by, which may differ from the kernel's own. */
  readonly export: string;
  readonly kernel: string;
  readonly subgroup: number;
  readonly findings: readonly ReportedFinding[];
  /** What would be wrong if a buffer whose contents were made up held others: no fault of the kernel as such. */
  readonly conditional: readonly ReportedFinding[];
  /** Without findings: that the result depends on the schedule, which may be meant. */
  readonly warnings: readonly ReportedFinding[];
  /** How often it was launched. */
  readonly launches: number;
  /** False where it was stopped before its end. */
  readonly complete: boolean;
  /** Where parts of it begin that never ran. */
  readonly neverRan: readonly { readonly file: string; readonly line: number }[];
  /** What gpu.trace showed under the first schedule, and how many lines more there were. */
  readonly traces: readonly Trace[];
  readonly tracesLeftOut: number;
  readonly counters: Counters | null;
  /** What targets promise less than the language for this kernel. */
  readonly weakened: readonly Weakened[];
  readonly launch:
    | (Pick<CheckLaunch, "workgroups" | "guessed" | "madeUp"> & { readonly args: CheckLaunch["summary"] })
    | null;
}

export async function check(target: string, options: CheckOptions): Promise<number> {
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
      const report = await checkKernel(one, options, { progress, signal: interruption.signal });
      const native = usesIn(one.kernel, uses).map(nativeUse);
      reports.push({ ...report, findings: [...report.findings, ...native], sourceProblem: problem });
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

async function checkKernel(
  { exportName, kernel }: NamedKernel,
  options: CheckOptions,
  { progress, signal }: Watch,
): Promise<Omit<Report, "sourceProblem">> {
  const common = { export: exportName, kernel: kernel.name, subgroup: options.subgroup };
  let launch: CheckLaunch | null = null;
  const traces: Trace[] = [];
  const traced = (): Pick<Report, "traces" | "tracesLeftOut"> => ({
    traces: traces.slice(0, options.traces),
    tracesLeftOut: Math.max(0, traces.length - options.traces),
  });
  const run = (schedules: number, launchOptions: LaunchOptions): Promise<Exploration> =>
    explore(
      kernel,
      (device) => {
        const made = exampleLaunch(kernel, device, launchOptions);
        if (launch === null) {
          const ir = kernel.build({ subgroup: device.subgroupSize, forwardProgress: device.forwardProgress });
          const warning = longCheck(estimateWork(ir, made.workgroups, made.args), schedules, exportName);
          if (warning !== null) progress.line(warning);
        }
        launch ??= made;
        return { workgroups: made.workgroups, args: made.args as never };
      },
      {
        ...{ schedules, signal, subgroup: options.subgroup },
        ...(options.maxSteps === undefined ? {} : { maxSteps: options.maxSteps }),
        maxTraces: launchOptions === options ? MOST_TRACES : 0,
        onTrace: (trace) => void traces.push(trace),
        onProgress: ({ schedule, workgroups, of, findings }) =>
          progress.step(
            (schedule - 1) * of + workgroups,
            schedules * of,
            `workgroups of ${exportName}, schedule ${schedule} of ${schedules}${findings > 0 ? `, ${findings} findings` : ""}`,
          ),
      },
    );
  try {
    const mixed = await run(options.schedules, options);
    const { madeUp = [] } = launch ?? ({} as Partial<CheckLaunch>);
    const zeros = madeUp.length > 0 ? await run(1, { ...options, integers: "zeros" }) : null;
    const weighed =
      zeros === null
        ? { findings: mixed.findings, conditional: [] }
        : weigh(new Findings(mixed.findings), new Findings(zeros.findings), madeUp);
    return {
      ...common,
      findings: weighed.findings.map(reported),
      conditional: weighed.conditional.map(reported),
      warnings: mixed.warnings.map(reported),
      counters: mixed.counters,
      launches: mixed.launches + (zeros?.launches ?? 0),
      complete: mixed.complete && zeros?.complete !== false,
      neverRan: mixed.neverRan.map(({ file, line }) => ({ file, line })),
      ...traced(),
      weakened: weakenedBy(kernel, options.subgroup),
      launch: launch && summarise(launch),
    };
  } catch (error) {
    if (!(error instanceof EvolverError) || error.where.length === 0) throw error;
    const rest = {
      conditional: [],
      warnings: [],
      counters: null,
      launches: 0,
      complete: true,
      neverRan: [],
      ...traced(),
      weakened: [],
      launch: null,
    };
    return { ...common, findings: [refused(error)], ...rest };
  }
}

/** More are not kept, however many lines are shown. */
const MOST_TRACES = 100_000;

function nativeUse({ file, line, message, hint }: NativeUse): ReportedFinding {
  const accesses = [access("used", { file, line, column: 1 }, [], [])];
  return { kind: "native-use", message: `${message}; ${hint}`, file, line, lanes: [], accesses, count: 1 };
}

function summarise({ workgroups, summary, guessed, madeUp }: CheckLaunch): NonNullable<Report["launch"]> {
  return { workgroups, args: summary, guessed, madeUp };
}

/** A kernel that does not build has one finding: why. */
function refused(error: EvolverError): ReportedFinding {
  const accesses = error.where.map((location) => access(location.note ?? "here", location, [], []));
  const first = accesses[0] as ReportedAccess;
  const kind = error.code.toLowerCase().replaceAll("_", "-");
  const message = error.message.split("\n")[0] as string;
  return {
    ...{ kind, message, file: first.file, line: first.line, lanes: [], accesses, count: 1 },
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  };
}

function reported(finding: Finding): ReportedFinding {
  const accesses = finding.accesses.map(({ action, location, lanes, workgroup }) =>
    access(action, location, lanes, workgroup),
  );
  const first = accesses[0] as ReportedAccess;
  const { kind, message, count } = finding;
  return { kind, message, file: first.file, line: first.line, lanes: first.lanes, accesses, count };
}

function access(
  action: string,
  location: SourceLocation,
  lanes: readonly number[],
  workgroup: readonly number[],
): ReportedAccess {
  return { action, file: location.file, line: location.line, lanes, workgroup };
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
  for (const finding of [...report.findings, ...report.warnings]) lines.push(...describeFinding(finding));
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
    lines.push(...describeFinding(finding).map((line) => `  ${line}`));
  if (launch !== null) {
    const args = Object.entries(launch.args).map(
      ([name, value]) => `${name}=${typeof value === "number" ? value : `[${value.length}]`}`,
    );
    lines.push(`  launch: ${launch.workgroups.join("×")} workgroups, ${args.join(" ")}`);
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

function describeFinding({ kind, message, count, accesses, hint }: ReportedFinding): string[] {
  const lines = accesses.map(({ action, file, line, lanes, workgroup }) => {
    const who =
      lanes.length === 0 ? "" : `, invocation ${shortList(lanes)} of workgroup [${workgroup.join(", ")}]`;
    return `    ${action} at ${shortPath(file)}:${line}${who}`;
  });
  const help = hint === undefined ? [] : hint.split("\n").map((line) => `    help: ${line}`);
  return [`  ${kind}: ${message}${count > 1 ? ` (${count} times)` : ""}`, ...lines, ...help];
}

function shortPath(file: string): string {
  const shorter = relative(process.cwd(), file);
  return shorter.startsWith("..") ? file : shorter;
}

function shortList(list: readonly (number | string)[]): string {
  return list.length <= 8 ? list.join(", ") : `${list.slice(0, 8).join(", ")}, … (${list.length})`;
}
