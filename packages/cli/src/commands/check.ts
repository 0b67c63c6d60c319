/** `evolver check`: runs a kernel of the user's on the simulator with every check on. */

import { relative } from "node:path";
import { EvolverError, quantity, type SourceLocation } from "@evolver/base";
import type { NativeUse } from "@evolver/kernel/lint";
import { formatTrace, openSim, type Counters, type Finding, type Trace } from "@evolver/device";
import { InvalidArgumentError } from "commander";
import { newCommand, type MakeCommand } from "../command.ts";
import { exampleLaunch, type CheckLaunch, type LaunchOptions } from "../example-launch.ts";
import { Findings, weigh } from "../findings.ts";
import { fileOf, loadKernels, type NamedKernel } from "../load-kernel.ts";
import { nativeUsesOf, usesIn } from "../native-uses.ts";
import { integer, subgroupOption } from "../options.ts";
import { EXIT, printJson, printText } from "../output.ts";
import { resolveOwnPackages } from "../resolve-hook.ts";
import { describeWeakened, weakenedBy, type Weakened } from "../weakened.ts";

interface CheckFlags {
  readonly subgroup: number;
  readonly workgroups?: readonly number[];
  readonly arg: Record<string, number>;
  readonly schedules: number;
  readonly traces: number;
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
      counts,
    )
    .option("--arg <name=value>", "a scalar's value or a buffer's length; repeat for more", collectArg, {})
    .option("--schedules <n>", "subgroup schedules to try", integer(1, 64), 3)
    .option("--traces <n>", "lines of gpu.trace to show", integer(0, 1_000_000), 20)
    .action(async (target: string, options: CheckFlags) => {
      resolveOwnPackages();
      const { arg, workgroups, ...rest } = options;
      finish(await check(target, { ...rest, args: arg, workgroups: workgroups ?? null }));
    });

function counts(text: string): number[] {
  const values = text.split(/[,x×]/).map(Number);
  if (values.length <= 3 && values.every((value) => Number.isInteger(value) && value >= 1)) return values;
  throw new InvalidArgumentError("give one to three whole numbers, such as 4 or 4,2,1.");
}

function collectArg(text: string, before: Record<string, number>): Record<string, number> {
  const match = /^([A-Za-z_]\w*)=(.+)$/.exec(text);
  const value = Number(match?.[2]);
  if (match === null || Number.isNaN(value))
    throw new InvalidArgumentError("give name=number, such as n=1000.");
  return { ...before, [match[1] as string]: value };
}

interface CheckOptions extends LaunchOptions {
  readonly subgroup: number;
  /** How many subgroup schedules to try. */
  readonly schedules: number;
  /** How many lines of gpu.trace to show. */
  readonly traces: number;
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

async function check(target: string, options: CheckOptions): Promise<number> {
  const reports: Report[] = [];
  const named = await loadKernels(target);
  const kernels = named.map(({ kernel }) => kernel);
  const { uses, problem } = await nativeUsesOf(fileOf(target), kernels, options.subgroup);
  for (const one of named) {
    const report = await checkKernel(one, options);
    const native = usesIn(one.kernel, uses).map(nativeUse);
    reports.push({ ...report, findings: [...report.findings, ...native], sourceProblem: problem });
  }
  if (options.json) printJson(reports.length === 1 ? reports[0] : reports);
  else printText(reports.map(describe).join("\n\n"));
  return reports.every((report) => report.findings.length === 0) ? EXIT.done : EXIT.no;
}

async function checkKernel(
  { exportName, kernel }: NamedKernel,
  options: CheckOptions,
): Promise<Omit<Report, "sourceProblem">> {
  const mixed = new Findings();
  const zeros = new Findings();
  let counters: Counters | null = null;
  let launch: CheckLaunch | null = null;
  const traces: Trace[] = [];
  const traced = (): Pick<Report, "traces" | "tracesLeftOut"> => ({
    traces: traces.slice(0, options.traces),
    tracesLeftOut: Math.max(0, traces.length - options.traces),
  });
  const run = async (seed: number, launchOptions: LaunchOptions, findings: Findings): Promise<void> => {
    const device = openSim({
      subgroup: options.subgroup,
      onFinding: "collect",
      // One schedule is enough to read.
      maxTraces: counters === null ? MOST_TRACES : 0,
      onTrace: (trace) => void traces.push(trace),
      ...(seed === 0 ? {} : { seed }),
    });
    try {
      const program = await device.compile(kernel);
      const { workgroups, args, ...rest } = exampleLaunch(kernel, device, launchOptions);
      launch ??= { workgroups, args, ...rest };
      const result = await program.run({ workgroups, args: args as never });
      counters ??= result.counters;
      findings.add(result.findings);
    } finally {
      await device.close();
    }
  };
  try {
    for (let seed = 0; seed < options.schedules; seed++) await run(seed, options, mixed);
    const madeUp = (launch as CheckLaunch | null)?.madeUp ?? [];
    if (madeUp.length > 0) await run(0, { ...options, integers: "zeros" }, zeros);
    const { findings, conditional } =
      madeUp.length > 0
        ? weigh(mixed, zeros, madeUp)
        : { findings: [...mixed.byPlace.values()], conditional: [] };
    return {
      export: exportName,
      kernel: kernel.name,
      subgroup: options.subgroup,
      findings: findings.map(reported),
      conditional: conditional.map(reported),
      ...traced(),
      counters,
      weakened: weakenedBy(kernel, options.subgroup),
      launch: launch && summarise(launch),
    };
  } catch (error) {
    if (!(error instanceof EvolverError) || error.where.length === 0) throw error;
    return {
      export: exportName,
      kernel: kernel.name,
      subgroup: options.subgroup,
      findings: [refused(error)],
      conditional: [],
      ...traced(),
      counters: null,
      weakened: [],
      launch: null,
    };
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
  return { kind, message, file: first.file, line: first.line, lanes: [], accesses, count: 1 };
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
  const verdict =
    report.findings.length === 0
      ? "clean"
      : `${report.findings.length} finding${report.findings.length === 1 ? "" : "s"}`;
  const heading =
    report.export === report.kernel ? report.kernel : `${report.export} (kernel ${report.kernel})`;
  const lines = [`${heading}: ${verdict} at subgroup width ${report.subgroup}`];
  for (const finding of report.findings) lines.push(...describeFinding(finding));
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
  return lines.join("\n");
}

function describeFinding({ kind, message, count, accesses }: ReportedFinding): string[] {
  const lines = accesses.map(({ action, file, line, lanes, workgroup }) => {
    const who =
      lanes.length === 0 ? "" : `, invocation ${shortList(lanes)} of workgroup [${workgroup.join(", ")}]`;
    return `    ${action} at ${shortPath(file)}:${line}${who}`;
  });
  return [`  ${kind}: ${message}${count > 1 ? ` (${count} times)` : ""}`, ...lines];
}

function shortPath(file: string): string {
  const shorter = relative(process.cwd(), file);
  return shorter.startsWith("..") ? file : shorter;
}

function shortList(lanes: readonly number[]): string {
  return lanes.length <= 8 ? lanes.join(", ") : `${lanes.slice(0, 8).join(", ")}, … (${lanes.length})`;
}
