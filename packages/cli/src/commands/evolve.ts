/** `evolver evolve`: improves a kernel in cycles, and says where the result is. */

import { isModelled } from "@evolver/device";
import { assertNever, duration, EvolverError, NOTHING } from "@evolver/base";
import {
  commitSettled,
  evolve as runEvolve,
  type EvolveEvent,
  type EvolveResult,
  type LadderReport,
  type Trial,
} from "@evolver/lab";
import { newCommand, type MakeCommand } from "../command.ts";
import { comparedWith, fastestRung, ladderTable } from "./ladder.ts";
import { interruptedCode, stopOnSignals } from "../interruption.ts";
import { deviceOption, integer, workspaceOption } from "../options.ts";
import { EXIT, printJson, printText, table } from "../output.ts";
import { checkWorkspaceFolder } from "../output-files.ts";
import { openProgress, type Progress } from "../progress.ts";
import { addStudyArgument, givenInput, studyNamed } from "../study-options.ts";

interface EvolveFlags {
  readonly device: string;
  readonly cycles: number;
  readonly trials?: number;
  readonly predict: boolean;
  /** The policy's if absent. */
  readonly agent?: string;
  readonly from?: string;
  readonly seed: number;
  readonly workspace: string;
  readonly json: boolean;
}

export const evolveCommand: MakeCommand = ({ args, finish }) =>
  addStudyArgument(
    newCommand(
      "evolve",
      "improve a kernel in cycles, each gain verified by the judge and committed to the workspace",
    )
      .addOption(deviceOption("sim"))
      .option("--cycles <n>", "cycles to run", integer(0, 100_000), 6)
      .option("--trials <n>", "candidates per cycle (default: the workspace's policy)", integer(1, 1000))
      .option(
        "--no-predict",
        "measure the sampler's first proposal and do not let the cost model choose among several",
      )
      .option(
        "--agent <name>",
        "the sampler that proposes candidates: evolutionary or random (default: the workspace's policy)",
      )
      .option(
        "--from <rung>",
        'start from this rung, or variant of one such as "k11 half tiles", instead of the baseline, if the workspace has no record yet',
      )
      .option(
        "--seed <n>",
        "seed of data and search; where times are modelled, the same seed gives the same result",
        integer(0, 2 ** 31),
        1,
      )
      .addOption(workspaceOption("a separate git repository, created if it does not exist"))
      .action(async (study: string, flags: EvolveFlags) => finish(await evolve(study, flags))),
    args,
  );

async function evolve(name: string, options: EvolveFlags): Promise<number> {
  const study = await studyNamed(name);
  const given = givenInput(study, options);
  await checkWorkspaceFolder(options.workspace);
  const progress = openProgress();
  const interruption = stopOnSignals(progress, undefined, commitSettled);
  try {
    const result = await runEvolve(study, {
      input: given,
      device: options.device,
      cycles: options.cycles,
      seed: options.seed,
      workspace: options.workspace,
      agent: options.agent,
      from: options.from,
      trialsPerCycle: options.trials,
      predict: options.predict,
      signal: interruption.signal,
      onEvent: reporter(progress, options.cycles),
    });
    progress.end();
    interruption.end();
    if (options.json) printJson(result);
    else if (result.interrupted || result.history.length === 0 || study.ladder === undefined)
      printText(describe(result, null));
    else {
      const { rungs, timeKind } = await study.ladder.run({
        device: options.device,
        input: await study.parseInput(given),
        rungs: null,
        seed: options.seed,
      });
      printText(describe(result, { rungs, timeKind }));
    }
    return result.interrupted ? interruptedCode() : EXIT.done;
  } catch (error) {
    // A judge that was being started when the signal came was ended by it. The signal itself may be seen a little later.
    await new Promise((resume) => setImmediate(resume));
    const isJudge = error instanceof EvolverError && error.code === "JUDGE_FAILED";
    if (isJudge && interruption.signal.aborted) return interruptedCode();
    throw error;
  } finally {
    progress.end();
    interruption.end();
  }
}

function reporter(progress: Progress, cycles: number): (event: EvolveEvent) => void {
  let first = 0;
  return (event) => {
    switch (event.kind) {
      case "open":
        first = event.cyclesBefore;
        progress.line(`${event.objective.title}: ${event.objective.inputTitle}`);
        progress.line(
          `device ${event.objective.device}; times are ${isModelled(event.objective.device) ? "modelled for" : "measured on"} ${event.objective.profile}; workspace ${event.workspace}`,
        );
        if (first > 0) progress.line(`continuing after ${first} cycle${first === 1 ? "" : "s"}`);
        if (event.unusedFrom !== null)
          progress.line(
            `--from ${event.unusedFrom} is not used: the workspace already has records of this objective, and the search continues from its champion`,
          );
        break;
      case "cycle":
        progress.line(event.cycle === 0 ? event.gap : `cycle ${event.cycle}: ${event.gap}`);
        break;
      case "trial":
        progress.step(
          Math.max(0, event.cycle - first - 1),
          cycles,
          `trial ${event.index + 1}/${event.of}: ${outcomeOf(event.trial)}`,
        );
        break;
      case "recorded": {
        const { outcome, cycle } = event.record;
        progress.line(
          `${cycle === 0 ? "baseline" : outcome.kept ? "kept" : "reverted"}: ${outcome.reason} (commit ${event.commit.slice(0, 8)})`,
        );
        progress.step(Math.max(0, cycle - first), cycles, "cycles done");
        break;
      }
      case "exhausted":
        progress.line(
          event.points === 1
            ? "there is nothing to choose: state choices as `tune` of the kernel, and the lab tries them"
            : `all ${event.points} points of the space have been tried`,
        );
        break;
      default:
        assertNever(event, "event");
    }
  };
}

function outcomeOf({ title, verdict }: Trial): string {
  return verdict.status === "ok"
    ? `${duration(verdict.timeMs ?? 0)} ${verdict.timeKind} · ${title}`
    : `${verdict.status} · ${title}`;
}

/** So that the table fits into 112 columns. */
const CHAMPION_WIDTH = 60;

/** @param ladder null where the study has none, or there was no time for it */
function describe(result: EvolveResult, ladder: Pick<LadderReport, "rungs" | "timeKind"> | null): string {
  const { baseline, champion, timeKind } = result;
  const cycles = table(result.history, [
    { title: "cycle", value: ({ cycle }) => String(cycle), align: "right" },
    { title: "outcome", value: ({ cycle, kept }) => (cycle === 0 ? "baseline" : kept ? "kept" : "reverted") },
    { title: "trials", value: ({ trials }) => String(trials), align: "right" },
    { title: `time (${timeKind})`, value: ({ timeMs }) => duration(timeMs), align: "right" },
    { title: "commit", value: ({ commit }) => commit.slice(0, 8) },
    { title: "champion", value: (row) => row.champion, wrap: CHAMPION_WIDTH },
  ]);
  const best = fastestRung(ladder?.rungs ?? []);
  const rejected = result.rejected.map(({ reason, count }) => `${count} ${reason}`).join(", ");
  return [
    ...(result.history.length === 0
      ? [`\nNo cycle in this run, ${result.study} on ${result.profile}: ${result.input}`]
      : [`\nCycles of this run, ${result.study} on ${result.profile}: ${result.input}\n`, cycles]),
    ...(ladder === null
      ? []
      : [`\nThe ladder on the same input, ${timeKind}\n`, ladderTable(ladder.rungs, ladder.timeKind)]),
    `\nChampion: ${champion.title}`,
    `  ${duration(champion.timeMs)} ${timeKind}, ${result.speedup.toFixed(2)} times as fast as ${baseline.title} (${duration(baseline.timeMs)})`,
    ...result.explanation.observations.map((observation) => `  ${observation}`),
    ...(best === null
      ? []
      : [`  ${comparedWith(best, champion.timeMs)}, the fastest rung above (${duration(best.timeMs)})`]),
    `  error ${champion.error?.toExponential(1) ?? NOTHING}, allowed ${champion.bound?.toExponential(1) ?? NOTHING} (of the judge's cases, the one closest to its limit)`,
    `  ${result.trials} trials in this run${rejected === "" ? "" : `, of which rejected: ${rejected}`}${result.unjudged === 0 ? "" : `, and without a verdict: ${result.unjudged} (too slow on this machine now; they may be tried again)`}`,
    `\nWorkspace: ${result.workspace}, a git repository with a commit for every cycle`,
    `  ${result.championFolder}/ has the champion's source; npx evolver log, progress and tasks show the rest`,
    ...(result.interrupted ? ["  (interrupted; run the same command to continue)"] : []),
  ].join("\n");
}
