/** `evolver ladder`: verifies and times every rung, and checks its claims. */

import { findRung, relationWords } from "@evolver/device";
import { duration, quantity } from "@evolver/base";
import type { Champion, LadderReport, RungReport, Study, StudyLadder } from "@evolver/lab";
import { lastCycle } from "../champion.ts";
import { newCommand, type MakeCommand } from "../command.ts";
import { longLadder } from "../estimate.ts";
import { deviceOption, integer, list, workspaceOption } from "../options.ts";
import { EXIT, printJson, printText, table } from "../output.ts";
import { openProgress } from "../progress.ts";
import { addStudyArgument, givenInput, studyWith } from "../study-options.ts";

interface LadderFlags {
  readonly device: string;
  readonly rungs?: readonly string[];
  readonly list: boolean;
  readonly seed: number;
  readonly workspace: string;
  readonly json: boolean;
}

export const ladderCommand: MakeCommand = ({ args, finish }) =>
  addStudyArgument(
    newCommand(
      "ladder",
      "run the rungs of a study's ladder: verify each, time it, and check its claims with counters",
    )
      .addOption(deviceOption("sim"))
      .option("--rungs <ids>", 'only these rungs or variants of them, for example "k01,k11 half tiles"', list)
      .option("--list", "run nothing, and list the rungs and their variants", false)
      .option("--seed <n>", "seed of the random data", integer(0, 2 ** 31), 1)
      .addOption(workspaceOption("the workspace whose champion is named beside the rungs, if it has one"))
      .action(async (study: string, flags: LadderFlags) => finish(await ladder(study, flags))),
    args,
  );

async function ladder(name: string, flags: LadderFlags): Promise<number> {
  const study = await studyWith(name, "ladder");
  for (const id of flags.rungs ?? []) findRung(study.ladder.named, id);
  if (flags.list) return listRungs(study, flags);
  const given = givenInput(study, flags);
  const input = await study.parseInput(given);
  const { workspace, device } = flags;
  // Before the work, which a damaged workspace must not lose.
  const champion = lastCycle({ workspace, study: name, device, input })?.outcome.champion ?? null;
  const progress = openProgress();
  try {
    const report = await study.ladder.run({
      device: flags.device,
      input,
      rungs: flags.rungs === undefined ? null : [...new Set(flags.rungs)],
      seed: flags.seed,
      onWork: (work) => {
        const warning = longLadder(work, device);
        if (warning !== null) progress.line(warning);
        progress.step(0, 1, "making the data and the reference");
      },
      onRung: (id, done, total) => progress.step(done, total, id),
    });
    progress.end();
    if (flags.json) printJson(report);
    else {
      const options = Object.entries(given).map(([option, value]) => ` --${option} ${String(value)}`);
      const searched = { champion, workspace, evolve: `npx evolver evolve ${name}${options.join("")}` };
      printText(describe(report, searched));
    }
    const good = report.rungs.every(({ verified, claims }) => verified && claims.every(({ holds }) => holds));
    return good ? EXIT.done : EXIT.no;
  } finally {
    progress.end();
  }
}

/** The rungs that there are, and after each its variants; only those of `--rungs` where it is given. */
function listRungs(
  { id: study, ladder: { named: all } }: Study & { readonly ladder: StudyLadder },
  flags: LadderFlags,
): number {
  const named = all.filter(({ id }) => flags.rungs?.includes(id) ?? true);
  const rungs = named.map(({ id, title, variantOf }) => ({ id, title, variantOf }));
  if (flags.json) printJson({ study, rungs });
  else
    printText(
      table(rungs, [
        { title: "rung", value: ({ id }) => id },
        { title: "what", value: ({ title }) => title },
      ]),
    );
  return EXIT.done;
}

/** What a search found for the same input. */
interface Searched {
  /** Null where the workspace has none. */
  readonly champion: Champion | null;
  readonly workspace: string;
  /** The command that searches. */
  readonly evolve: string;
}

function describe(report: LadderReport, searched: Searched): string {
  const { study, device, deviceName, input, compared, timeKind, profile, rungs } = report;
  const times =
    timeKind === "measured"
      ? `Times are measured on ${deviceName}; those modelled are for ${profile}.`
      : `Times are modelled for ${profile}.`;
  return [
    `${study} on ${device}: ${input}`,
    `${times} The table is of this input. Claims are counted on a smaller problem, which each rung names.`,
    ...(compared === null
      ? []
      : [`Compared with the reference, which would take too long for all: ${compared}.`]),
    "",
    ladderTable(rungs, timeKind),
    ...bestOf(report, searched),
    ...rungs.map(describeRung),
  ].join("\n");
}

/** The fastest rung of the table, and whether a search found something faster: the rungs are not the best there is. */
function bestOf({ rungs, timeKind }: LadderReport, { champion, workspace, evolve }: Searched): string[] {
  const best = fastestRung(rungs);
  if (best === null) return [];
  const fastest = `\nFastest of these rungs: ${best.id}, ${duration(best.timeMs)} ${timeKind}.`;
  if (champion === null)
    return [`${fastest} A search may find a faster kernel that is not on the ladder:`, `  ${evolve}`];
  return [
    `${fastest} The champion of ${workspace} on this input is no rung of the ladder:`,
    `  ${duration(champion.timeMs)} ${champion.timeKind}, ${comparedWith(best, champion.timeMs)}: ${champion.title}`,
  ];
}

/** Of those whose results are right; null if none is. */
export function fastestRung(rungs: readonly RungReport[]): RungReport | null {
  const [best] = rungs.filter(({ verified }) => verified).toSorted((a, b) => a.timeMs - b.timeMs);
  return best ?? null;
}

/** "1.40 times as fast as k09" */
export function comparedWith({ id, timeMs }: RungReport, other: number): string {
  return other <= timeMs
    ? `${(timeMs / other).toFixed(2)} times as fast as ${id}`
    : `${(other / timeMs).toFixed(2)} times as long as ${id}`;
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

function describeRung({ id, title, idea, claimsOn, claims, found }: RungReport): string {
  const lines = [`\n${id} ${title}`, indent(idea)];
  if (claims.length > 0) lines.push(`  Claims, counted on ${claimsOn}:`);
  for (const { text, holds, value, relation, limit } of claims) {
    const wanted = `${relationWords[relation]} ${format(limit)}`;
    lines.push(`  ${holds ? "✓" : "✗"} ${text} (counted ${format(value)}, ${wanted})`);
  }
  if (found !== "") lines.push(indent(`Found there: ${found}`));
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
