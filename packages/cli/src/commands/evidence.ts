/** `evolver evidence collect`: runs measurements on this machine and keeps what they say, for tables, charts and guides. */

import { resolve } from "node:path";
import { EvolverError } from "@evolver/base";
import { collect, findCommands, machineCommands, type Collected } from "@evolver/guide";
import { evidenceDevices, isEvidenceDevice, type EvidenceCommand } from "@evolver/lab";
import { loadStudy, loadTasks, studyNames } from "@evolver/studies";
import { Command } from "commander";
import { newCommand, type MakeCommand } from "../command.ts";
import { list } from "../options.ts";
import { EXIT, printJson, printText } from "../output.ts";
import { checkFolder } from "../output-files.ts";
import { openProgress } from "../progress.ts";
import { version } from "../version.ts";

interface CollectFlags {
  readonly only?: readonly string[];
  readonly device?: string;
  readonly goldens?: string;
  readonly hipHeaders?: string;
  readonly output: string;
  readonly json: boolean;
}

export const evidenceCommand: MakeCommand = async ({ finish }) => {
  const commands = await allCommands();
  const listed = commands.map(({ name, what, needs }) => {
    const needed = needs.length === 0 ? "" : `; needs ${needs.join(", ")}`;
    return `  ${name.padEnd(20)} ${what}${needed}`;
  });
  return new Command("evidence").description("measure this machine and keep the results").addCommand(
    newCommand("collect", "run measurements and keep each result in its own file")
      .option("--only <names>", "these measurements, with commas between them", list)
      .option(
        "--device <id>",
        `only what is measured on this device (${evidenceDevices.join(", ")}), and what needs none`,
      )
      .option("--goldens <dir>", "golden values to check against")
      .option("--hip-headers <dir>", "HIP's headers, for emitted HIP programs on an NVIDIA GPU")
      .option("-o, --output <dir>", "the folder of the evidence", "evidence/here")
      .addHelpText("after", `\nMeasurements:\n${listed.join("\n")}`)
      .action(async (flags: CollectFlags) => finish(await collectEvidence(commands, flags))),
  );
};

/** Of the machine, of each study, and of the tasks. */
async function allCommands(): Promise<EvidenceCommand[]> {
  const studies = await Promise.all(studyNames.map((name) => loadStudy(name)));
  const { taskCommands } = await loadTasks();
  return [...machineCommands, ...studies.flatMap(({ evidence = [] }) => evidence), ...taskCommands];
}

async function collectEvidence(all: readonly EvidenceCommand[], flags: CollectFlags): Promise<number> {
  const { only, device, goldens, hipHeaders, output, json } = flags;
  if (device !== undefined && !isEvidenceDevice(device))
    throw new EvolverError(
      "UNKNOWN_DEVICE",
      `evidence can be collected on ${evidenceDevices.join(" and ")}, not on "${device}"`,
    );
  const commands = findCommands(all, only ?? null).filter(
    ({ needs }) => device === undefined || needs.every((need) => need === device || !isEvidenceDevice(need)),
  );
  await checkFolder(output, /\.json$/);
  const progress = openProgress();
  try {
    const collected = await collect({
      commands,
      out: resolve(output),
      goldens: goldens === undefined ? null : resolve(goldens),
      hipHeaders: hipHeaders === undefined ? null : resolve(hipHeaders),
      evolver: [process.execPath, process.argv[1] as string],
      version: version(),
      onCommand: (name, done, total) => progress.step(done, total, name),
    });
    progress.end();
    if (json) printJson({ folder: resolve(output), measurements: collected });
    else printText(collected.map((each) => lineOf(each)).join("\n"));
    return collected.every(({ status, exitCode }) => status === "skipped" || exitCode === 0)
      ? EXIT.done
      : EXIT.no;
  } finally {
    progress.end();
  }
}

function lineOf({ name, status, why, exitCode, seconds }: Collected): string {
  const detail = why ?? `${seconds} s${exitCode === 0 ? "" : `, exit code ${exitCode}`}`;
  return `${name.padEnd(20)} ${status.padEnd(8)} ${detail}`;
}
