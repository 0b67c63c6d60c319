/** `evolver bench microbench`: measures a device, verifies what it computed, and writes a machine profile. */

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openDevice, type DeviceId } from "@evolver/device";
import { EvolverError } from "@evolver/kernel";
import {
  findTests,
  plotSvg,
  profileOf,
  rooflineSvg,
  runMicrobench,
  type MicrobenchReport,
  type Section,
} from "@evolver/microbench";
import { benchWarnings } from "../benchWarnings.ts";
import { EXIT, fourDigits, measurement, printJson, printText, quantity, table } from "../output.ts";
import { openProgress } from "../progress.ts";

export interface BenchOptions {
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

export async function bench(what: string, options: BenchOptions): Promise<number> {
  if (what !== "microbench") {
    throw new EvolverError("UNKNOWN_BENCHMARK", `there is no benchmark "${what}"`, {
      hint: "there is microbench",
    });
  }
  findTests(options.only);
  if (options.save !== undefined && options.device === "sim") {
    throw new EvolverError("NOTHING_MEASURED", "the simulator measures nothing that a profile could hold", {
      hint: "choose --device cpu, webgpu, cuda or hip",
    });
  }
  const progress = openProgress();
  const device = await openDevice(options.device as DeviceId);
  try {
    const report = await runMicrobench(device, {
      ...(options.only === undefined ? {} : { only: options.only }),
      quick: options.quick,
      onProgress: (done, total, text) => progress.step(done, total, text),
    });
    progress.end();
    if (options.save !== undefined)
      await save(options.save, `${JSON.stringify(profileOf(report), null, 2)}\n`);
    if (options.report !== undefined) await writeReport(options.report, report);
    if (options.json) printJson(report);
    else printText(describe(report));
    for (const line of benchWarnings(report, options.save !== undefined)) process.stderr.write(`${line}\n`);
    return report.verified ? EXIT.done : EXIT.no;
  } finally {
    progress.end();
    await device.close();
  }
}

async function save(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new EvolverError("OUTPUT_NOT_WRITTEN", `${path} cannot be written: ${what}`, {
      hint: "name a file in a folder that may be written",
      cause: error,
    });
  }
}

async function writeReport(folder: string, report: MicrobenchReport): Promise<void> {
  await save(join(folder, "report.json"), `${JSON.stringify(report, null, 2)}\n`);
  await save(join(folder, "report.txt"), `${describe(report)}\n`);
  for (const plot of report.sections.flatMap(({ plots }) => plots)) {
    if (plot.series.length > 0) await save(join(folder, `${plot.id}.svg`), plotSvg(plot));
  }
  const roofline = rooflineSvg(report);
  if (roofline !== null) await save(join(folder, "roofline.svg"), roofline);
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
  const number = (value: number | null): string => (value === null ? "–" : quantity(value));
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
            value: ({ value }: (typeof results)[number]) => (value === null ? "–" : fourDigits(value)),
            align: "right" as const,
          },
          { title: "unit", value: ({ unit }: (typeof results)[number]) => unit },
          {
            title: "spread",
            value: ({ spread }: (typeof results)[number]) =>
              spread === null ? "–" : `${(100 * spread).toFixed(1)} %`,
            align: "right" as const,
          },
        ]),
    { title: "", value: ({ note }) => note ?? "" },
  ]);
  const found = figures.map(({ name, value, unit }) => `  ${name}: ${measurement(value, unit)}`);
  return [`\n${title}\n${about}\n`, rows, ...(found.length > 0 ? ["", ...found] : [])].join("\n");
}
