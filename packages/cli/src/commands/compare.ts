/** `evolver compare`: a sampler against random search at the same number of trials, over several seeds. */

import { EvolverError } from "@evolver/base";
import { compareSamplers } from "@evolver/lab";
import { loadStudy } from "@evolver/studies";
import { stopOnSignals } from "../interruption.ts";
import { newCommand, type MakeCommand } from "../command.ts";
import { deviceOption, integer } from "../options.ts";
import { EXIT, printJson, printText } from "../output.ts";
import { openProgress } from "../progress.ts";
import { addStudyArgument, givenInput } from "../study-options.ts";

interface CompareFlags {
  readonly device: string;
  readonly sampler: string;
  readonly from?: string;
  readonly trials: number;
  readonly seeds: number;
  readonly json: boolean;
}

export const compareCommand: MakeCommand = ({ args, finish }) =>
  addStudyArgument(
    newCommand(
      "compare",
      "compare a sampler with random search at the same number of trials; exits 1 if it is not better",
    )
      .addOption(deviceOption("sim"))
      .option("--sampler <name>", "the sampler to compare with random search", "evolutionary")
      .option("--from <rung>", "start both from this rung, or variant of one, instead of the baseline")
      .option("--trials <n>", "candidates of each search", integer(1, 100_000), 36)
      .option("--seeds <n>", "searches of each kind", integer(1, 1000), 10)
      .action(async (study: string, flags: CompareFlags) => finish(await compare(study, flags))),
    args,
  );

/** The sampler that others are compared with. */
const BASE = "random";

/** Share of the seeds on which the sampler must be strictly faster: luck alone gives half. */
const SHARE_TO_WIN = 0.8;

async function compare(name: string, flags: CompareFlags): Promise<number> {
  const study = await loadStudy(name);
  if (flags.sampler === BASE)
    throw new EvolverError("INVALID_OPTION", "random search is what samplers are compared with", {
      hint: "name another with --sampler, such as evolutionary",
    });
  const { device, sampler, from, trials, seeds, json } = flags;
  const progress = openProgress();
  const interruption = stopOnSignals(progress);
  try {
    const report = await compareSamplers(study, {
      input: givenInput(study, flags),
      device,
      sampler,
      from,
      trials,
      seeds,
      onTrial: (done, of) => progress.step(done, of, "trials"),
      signal: interruption.signal,
    });
    progress.end();
    const needed = Math.ceil(SHARE_TO_WIN * seeds);
    const passed = report.wins >= needed;
    if (json) printJson({ ...report, needed, passed });
    else {
      printText(
        `${report.study} on ${report.device}: ${report.input}; best time ${report.timeKind}, ${report.profile}\n`,
      );
      printText(report.text);
      printText(
        `${report.evaluated} distinct candidates judged, ${report.rejected} rejected; ` +
          `${passed ? "passed" : "not passed"}: ${needed} wins are needed.`,
      );
    }
    return passed ? EXIT.done : EXIT.no;
  } finally {
    progress.end();
    interruption.end();
  }
}
