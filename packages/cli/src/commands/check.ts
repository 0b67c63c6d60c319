/** `evolver check`: runs a kernel of the user's on the simulator with every check on. */

import {
  checkKernel,
  nativeUse,
  shortList,
  type CheckLaunch,
  type CheckOptions,
} from "@evolver/device/check";
import { nativeUsesOf, usesIn } from "@evolver/device/check/source";
import { fileOf, resolveOwnPackages, type NamedKernel } from "@evolver/lab";
import { InvalidArgumentError, Option } from "commander";
import { expandTargets, loadTargets, type LoadedTargets } from "../check/load-targets.ts";
import { describeReport, shortPath, type Report } from "../check/report.ts";
import { sarifLog, sarifRoot, type SarifInput } from "../check/sarif.ts";
import { newCommand, type MakeCommand } from "../command.ts";
import { estimateWork, longCheck } from "../estimate.ts";
import { failureDocument, tell } from "../failure.ts";
import { interruptedCode, stopOnSignals } from "../interruption.ts";
import { filePath, integer, subgroupOption } from "../options.ts";
import { checkFile, writeOutput } from "../output-files.ts";
import { EXIT, printJson, printText } from "../output.ts";
import { openProgress, type Progress } from "../progress.ts";
import { version } from "../version.ts";
import { weakenedBy } from "../weakened.ts";

interface CheckFlags {
  readonly subgroup: number;
  readonly workgroups?: readonly number[];
  readonly arg: Record<string, number>;
  readonly size: Record<string, number>;
  readonly schedules: number;
  readonly traces: number;
  readonly maxSteps?: number;
  readonly deterministic: boolean;
  readonly sarif?: string;
  readonly json: boolean;
}

export const checkCommand: MakeCommand = ({ finish }) =>
  newCommand(
    "check",
    "run your kernel on the simulator with all checks: races, bounds, barriers, bank conflicts",
  )
    .argument(
      "<file.ts#export...>",
      "TypeScript files, or patterns such as 'src/**/*.ts'; without #export, every kernel that a file exports",
    )
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
    .addOption(
      new Option("--size <name=value>", "a size of the problem, of a kernel that has sizes; repeat for more")
        .argParser(collectArg)
        .default({}, "small ones that are no multiple of anything"),
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
    .option("--sarif <file>", "write the findings as SARIF 2.1.0, which GitHub and editors show", filePath)
    .option("--traces <n>", "lines of gpu.trace to show", integer(0, 1_000_000), 20)
    .action(async (files: string[], options: CheckFlags) => {
      resolveOwnPackages();
      const { arg, size, workgroups, ...rest } = options;
      finish(await check(files, { ...rest, args: arg, sizes: size, workgroups: workgroups ?? null }));
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

interface Options extends Pick<
  CheckOptions,
  "subgroup" | "workgroups" | "args" | "sizes" | "schedules" | "traces"
> {
  readonly maxSteps?: number | undefined;
  /** Whether a result that depends on the schedule counts as a finding. */
  readonly deterministic?: boolean;
  /** Where to write SARIF. */
  readonly sarif?: string | undefined;
  readonly json: boolean;
}

export async function check(given: readonly string[], options: Options): Promise<number> {
  const progress = openProgress();
  const names = await expandTargets(given);
  if (options.sarif !== undefined) await checkFile(options.sarif, names.map(fileOf));
  // Before there is anything to keep, signals end the process as they do by default: code of the user's that never
  // ends, in the file or in a kernel's body, would not let a listener of ours run.
  const targets = await loadTargets(names);
  const sources = await Promise.all(
    targets.loaded.map(({ file, kernels }) =>
      nativeUsesOf(
        file,
        kernels.map(({ kernel }) => kernel),
        options.subgroup,
      ),
    ),
  );
  for (const { error } of targets.failed) tell(error);
  const interruption = stopOnSignals(
    progress,
    "stopping with what was found so far; press Ctrl-C again to stop at once",
  );
  const reports: Report[] = [];
  try {
    for (const [at, { file, kernels }] of targets.loaded.entries()) {
      const { uses, problem } = sources[at] as (typeof sources)[number];
      for (const one of kernels) {
        if (interruption.signal.aborted) break;
        const checked = await reportOn(one, options, { progress, signal: interruption.signal });
        const native = usesIn(one.kernel, uses).map(nativeUse);
        const findings = [...checked.findings, ...native];
        reports.push({ file, ...checked, findings, sourceProblem: problem });
      }
    }
  } finally {
    progress.end();
    interruption.end();
  }
  const { deterministic = false } = options;
  if (options.sarif !== undefined)
    await writeSarif(options.sarif, { reports, failed: targets.failed, deterministic });
  print(reports, targets, options);
  if (targets.failed.length > 0) return EXIT.misuse;
  if (reports.some((report) => isWrong(report, deterministic))) return EXIT.no;
  return interruption.signal.aborted ? interruptedCode() : EXIT.done;
}

const isWrong = ({ findings, warnings }: Report, deterministic: boolean): boolean =>
  findings.length > 0 || (deterministic && warnings.length > 0);

async function writeSarif(path: string, found: Omit<SarifInput, "version" | "root">): Promise<void> {
  const log = sarifLog({ ...found, version: version(), root: sarifRoot(process.cwd()) });
  await writeOutput(path, `${JSON.stringify(log, null, 2)}\n`);
}

function print(
  reports: readonly Report[],
  { several, failed, without }: LoadedTargets,
  options: Options,
): void {
  if (options.json) {
    const all = [...reports, ...failed.map(({ file, error }) => ({ file, ...failureDocument(error) }))];
    printJson(!several && all.length === 1 ? all[0] : all);
    return;
  }
  const texts = reports.map((report) => describeReport(report, several));
  if (several) {
    const wrong = reports.filter((report) => isWrong(report, options.deterministic === true)).length;
    const files = new Set(reports.map(({ file }) => file)).size;
    const parts = [
      `${plural(reports.length, "kernel")} in ${plural(files, "file")}: ${wrong === 0 ? "none" : wrong} with findings`,
      ...(without.length === 0 ? [] : [`no kernels in ${shortList(without.map(shortPath))}`]),
      ...(failed.length === 0 ? [] : [`not loaded: ${shortList(failed.map(({ file }) => shortPath(file)))}`]),
    ];
    texts.push(parts.join("; "));
  }
  printText(texts.join("\n\n"));
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

interface Watch {
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

async function reportOn(
  { exportName, kernel }: NamedKernel,
  options: Options,
  { progress, signal }: Watch,
): Promise<Omit<Report, "file" | "sourceProblem">> {
  const { subgroup, workgroups, args, sizes = {}, schedules, traces, maxSteps } = options;
  const { launch, ...checked } = await checkKernel(kernel, {
    ...{ subgroup, workgroups, args, sizes, schedules, traces, signal },
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

/** Without the buffers themselves. */
function summarise({ workgroups, summary, guessed, madeUp }: CheckLaunch): NonNullable<Report["launch"]> {
  return { workgroups, args: summary, guessed, madeUp };
}
