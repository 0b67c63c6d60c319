/** `evolver ladder`: verifies and times every rung, and checks its claims. */

import { relationWords } from "@evolver/device";
import { duration, quantity } from "@evolver/base";
import type { LadderReport, RungReport } from "@evolver/lab";
import { newCommand, type MakeCommand } from "../command.ts";
import { deviceOption, integer, list } from "../options.ts";
import { EXIT, printJson, printText, table } from "../output.ts";
import { openProgress } from "../progress.ts";
import { addStudyArgument, givenInput, studyWith } from "../study-options.ts";

interface LadderFlags {
  readonly device: string;
  readonly rungs?: readonly string[];
  readonly seed: number;
  readonly json: boolean;
}

export const ladderCommand: MakeCommand = ({ args, finish }) =>
  addStudyArgument(
    newCommand(
      "ladder",
      "run the rungs of a study's ladder: verify each, time it, and check its claims with counters",
    )
      .addOption(deviceOption("sim"))
      .option("--rungs <ids>", "only these rungs, for example k01,k04", list)
      .option("--seed <n>", "seed of the random data", integer(0, 2 ** 31), 1)
      .action(async (study: string, flags: LadderFlags) => finish(await ladder(study, flags))),
    args,
  );

async function ladder(name: string, flags: LadderFlags): Promise<number> {
  const study = await studyWith(name, "ladder");
  const progress = openProgress();
  try {
    const report = await study.ladder.run({
      device: flags.device,
      input: await study.parseInput(givenInput(study, flags)),
      rungs: flags.rungs === undefined ? null : [...new Set(flags.rungs)],
      seed: flags.seed,
      onRung: (id, done, total) => progress.step(done, total, id),
    });
    progress.end();
    if (flags.json) printJson(report);
    else printText(describe(report));
    const good = report.rungs.every(({ verified, claims }) => verified && claims.every(({ holds }) => holds));
    return good ? EXIT.done : EXIT.no;
  } finally {
    progress.end();
  }
}

function describe(report: LadderReport): string {
  return [
    `${report.study} on ${report.device}: ${report.input}; time ${report.timeKind} (${report.timeKind === "measured" ? `${report.deviceName}; modelled: ${report.profile}` : report.profile})\n`,
    ladderTable(report.rungs, report.timeKind),
    ...report.rungs.map(describeRung),
  ].join("\n");
}

/** One line per rung. */
export function ladderTable(rungs: readonly RungReport[], timeKind: string): string {
  return table(rungs, [
    { title: "rung", value: ({ id }) => id },
    { title: "verified", value: ({ verified }) => (verified ? "yes" : "NO") },
    { title: "error", value: ({ error }) => error.toExponential(1), align: "right" },
    { title: "allowed", value: ({ bound }) => bound.toExponential(1), align: "right" },
    { title: `time (${timeKind})`, value: ({ timeMs }) => duration(timeMs), align: "right" },
    ...(timeKind === "measured"
      ? [
          {
            title: "time (modelled)",
            value: ({ modelledTimeMs }: RungReport) => duration(modelledTimeMs),
            align: "right" as const,
          },
        ]
      : []),
    { title: "TFLOP/s", value: ({ tflops }) => tflops.toPrecision(3), align: "right" },
    { title: "read", value: ({ counters }) => quantity(counters.globalReadBytes, "B"), align: "right" },
    { title: "sectors", value: ({ counters }) => quantity(counters.globalSectors), align: "right" },
    { title: "conflicts", value: ({ counters }) => quantity(counters.sharedConflicts), align: "right" },
    { title: "barriers", value: ({ counters }) => quantity(counters.barriers), align: "right" },
    { title: "what", value: ({ title }) => title },
  ]);
}

function describeRung({ id, title, idea, claims, found }: RungReport): string {
  const lines = [`\n${id} ${title}`, indent(idea)];
  for (const { text, holds, value, relation, limit } of claims) {
    const wanted = `${relationWords[relation]} ${format(limit)}`;
    lines.push(`  ${holds ? "✓" : "✗"} ${text} (counted ${format(value)}, ${wanted})`);
  }
  if (found !== "") lines.push(indent(`Found: ${found}`));
  return lines.join("\n");
}

const format = (value: number): string => (Number.isInteger(value) ? quantity(value) : value.toPrecision(3));

/** Prose wrapped at 100 columns, two spaces in. */
function indent(text: string): string {
  const lines: string[] = [];
  let line = " ";
  for (const word of text.split(/\s+/)) {
    if (line.length + word.length > 100) {
      lines.push(line);
      line = " ";
    }
    line += ` ${word}`;
  }
  return [...lines, line].join("\n");
}
