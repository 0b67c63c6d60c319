/** `evolver bench`: measures a device, verifies what it computed, and writes a machine profile. */

import { join, relative } from "node:path";
import { EvolverError, measurement, quantity, rounded, orNothing, percent } from "@evolver/base";
import { isModelled, openDevice, type DeviceId } from "@evolver/device";
import {
  findTests,
  microbenchPlots,
  profileOf,
  runMicrobench,
  type MicrobenchReport,
  type Section,
} from "@evolver/machine";
import { benchWarnings } from "../bench-warnings.ts";
import { newCommand, type MakeCommand } from "../command.ts";
import { deviceOption, integer, list, workspaceOption } from "../options.ts";
import { EXIT, printJson, printText, table } from "../output.ts";
import { checkFile, checkFolder, writeOutput } from "../output-files.ts";
import { openProgress } from "../progress.ts";
import { benchTasks, type TasksFlags } from "./bench-tasks.ts";

interface BenchOptions {
  readonly device: string;
  /** Ids of tests; all if absent. */
  readonly only?: readonly string[];
  readonly quick: boolean;
  /** Where the machine profile goes. */
  readonly save?: string;
  /** A folder for the report, as JSON and text, and its plots. */
  readonly report?: string;
  readonly json: boolean;
}

export const benchCommand: MakeCommand = ({ finish }) =>
  newCommand(
    "bench",
    "measure a device: bandwidth, latency, throughput, occupancy; every result is verified (docs/microbench.md)",
  )
    .argument("<benchmark>", "microbench, or tasks: the kernels of the task suite, each improved")
    .addOption(deviceOption("sim"))
    .option("--only <tests>", "only these tests or tasks, for example streams,chase", list)
    .option("--quick", "smaller arrays and fewer settings", false)
    .option("--save <file>", "write the results as a machine profile")
    .option("--report <dir>", "write the report as JSON and text, and its plots as SVG")
    .option("--trials <n>", "tasks: candidates for each", integer(1, 1000))
    .option("--shrink <n>", "tasks: divide the number of elements by about this", integer(1, 2 ** 30), 1)
    .option("--seed <n>", "tasks: seed of data and search", integer(0, 2 ** 31), 1)
    .option("--profile <file>", "tasks: the machine profile that the roofline is drawn from")
    .option(
      "--peer <command>",
      "tasks: a program that times the same tasks, such as 'python3 packages/tasks/bench/torch.py'",
    )
    .addOption(workspaceOption("tasks: where the records go"))
    .action(async (what: string, options: BenchOptions & TasksFlags) =>
      finish(what === "tasks" ? await benchTasks(options) : await bench(what, options)),
    );

async function bench(what: string, options: BenchOptions): Promise<number> {
  if (what !== "microbench") {
    throw new EvolverError("UNKNOWN_BENCHMARK", `there is no benchmark "${what}"`, {
      hint: "there are microbench and tasks",
    });
  }
  findTests(options.only);
  if (options.save !== undefined && isModelled(options.device)) {
    throw new EvolverError(
      "NOTHING_MEASURED",
      "the simulator measures no times, so it cannot make a profile",
      {
        hint: "choose --device cpu, webgpu, cuda or hip",
      },
    );
  }
  await checkOutputs(options);
  const progress = openProgress();
  const device = await openDevice(options.device as DeviceId);
  try {
    const report = await runMicrobench(device, {
      ...(options.only === undefined ? {} : { only: options.only }),
      quick: options.quick,
      onProgress: (done, total, text) => progress.step(done, total, text),
    });
    progress.end();
    // Print first, so that a full disk does not lose the results.
    if (options.json) printJson(report);
    else printText(describe(report));
    for (const [path, text] of await filesOf(report, options)) await writeOutput(path, text);
    for (const line of benchWarnings(report, options.save !== undefined)) process.stderr.write(`${line}\n`);
    return report.verified ? EXIT.done : EXIT.no;
  } finally {
    progress.end();
    await device.close();
  }
}

const REPORT_FILES = /^report\.(?:json|txt)$|^[^/\\]*\.svg$/;

/** Before the measurement, which takes minutes. */
async function checkOutputs({ save, report }: BenchOptions): Promise<void> {
  if (save !== undefined && report !== undefined) {
    // "" is the very same; a name is a file in the folder; ".." is a folder in the file.
    const within = relative(report, save);
    if (/^(?:\.\.[/\\]?)*$/.test(within) || REPORT_FILES.test(within)) {
      throw new EvolverError("OUTPUT_NOT_WRITTEN", `--save ${save} would overwrite a file of the report`, {
        hint: "name a file outside the report's folder, or one such as profile.json in it",
      });
    }
  }
  if (save !== undefined) await checkFile(save);
  if (report !== undefined) await checkFolder(report, REPORT_FILES);
}

/** All that is asked for, so that nothing is written before everything is made. */
async function filesOf(
  report: MicrobenchReport,
  { save, report: folder }: BenchOptions,
): Promise<(readonly [string, string])[]> {
  const files: (readonly [string, string])[] = [];
  if (save !== undefined) files.push([save, `${JSON.stringify(profileOf(report), null, 2)}\n`]);
  if (folder === undefined) return files;
  files.push(
    [join(folder, "report.json"), `${JSON.stringify(report, null, 2)}\n`],
    [join(folder, "report.txt"), `${describe(report)}\n`],
  );
  // The chart library is large and needed only here.
  const { plotSvg } = await import("@evolver/guide/charts");
  for (const plot of microbenchPlots(report)) files.push([join(folder, `${plot.id}.svg`), plotSvg(plot)]);
  return files;
}

function describe(report: MicrobenchReport): string {
  const { device, deviceName, timeKind, clock, sections, verified, seconds } = report;
  const clocks =
    clock === null ? "clock not known" : `clock ${clock.gigahertz.toPrecision(3)} GHz (${clock.source})`;
  return [
    `microbench on ${device}: ${deviceName}; time ${timeKind}; ${clocks}`,
    ...sections.map((section) => describeSection(section, timeKind)),
    `\n${verified ? "all results verified" : "WRONG RESULTS: see the lines marked NO"}, ${seconds.toFixed(1)} s`,
  ].join("\n");
}

function describeSection({ title, about, results, figures }: Section, timeKind: string): string {
  const number = (value: number | null): string => orNothing(value, quantity);
  const rows = table(results, [
    { title: "what", value: ({ name }) => name },
    {
      title: "verified",
      value: ({ verified, skipped }) => (skipped ? "skipped" : verified ? "yes" : "NO"),
    },
    ...(timeKind === "none"
      ? [
          {
            title: "read",
            value: ({ counters }: (typeof results)[number]) => number(counters?.globalReadBytes ?? null),
            align: "right" as const,
          },
          {
            title: "written",
            value: ({ counters }: (typeof results)[number]) => number(counters?.globalWriteBytes ?? null),
            align: "right" as const,
          },
          {
            title: "sectors",
            value: ({ counters }: (typeof results)[number]) => number(counters?.globalSectors ?? null),
            align: "right" as const,
          },
          {
            title: "passes",
            value: ({ counters }: (typeof results)[number]) => number(counters?.sharedPasses ?? null),
            align: "right" as const,
          },
          {
            title: "conflicts",
            value: ({ counters }: (typeof results)[number]) => number(counters?.sharedConflicts ?? null),
            align: "right" as const,
          },
          {
            title: "FLOPs",
            value: ({ counters }: (typeof results)[number]) => number(counters?.flops ?? null),
            align: "right" as const,
          },
        ]
      : [
          {
            title: "result",
            value: ({ value }: (typeof results)[number]) => orNothing(value, rounded),
            align: "right" as const,
          },
          { title: "unit", value: ({ unit }: (typeof results)[number]) => unit },
          {
            title: "spread",
            value: ({ spread }: (typeof results)[number]) => orNothing(spread, percent),
            align: "right" as const,
          },
        ]),
    { title: "", value: ({ note }) => note ?? "" },
  ]);
  const found = figures.map(({ name, value, unit }) => `  ${name}: ${measurement(value, unit)}`);
  return [`\n${title}\n${about}\n`, rows, ...(found.length > 0 ? ["", ...found] : [])].join("\n");
}
