/** `evolver compare`: a sampler against random search at the same number of trials, over several seeds. */

import { compareSamplers } from "@evolver/lab";
import { findStudy } from "@evolver/studies";
import { stopOnSignals } from "../interruption.ts";
import { EXIT, printJson, printText } from "../output.ts";
import { openProgress } from "../progress.ts";

export interface CompareCommandOptions {
  readonly device: string;
  readonly sampler: string;
  readonly trials: number;
  readonly seeds: number;
  readonly shape?: string;
  readonly input?: string;
  readonly json: boolean;
}

/** Share of the seeds on which the sampler must be strictly faster: luck alone gives half. */
const SHARE_TO_WIN = 0.8;

export async function compare(name: string, options: CompareCommandOptions): Promise<number> {
  const { definition } = findStudy(name);
  const { device, sampler, trials, seeds, shape, input, json } = options;
  const progress = openProgress();
  const interruption = stopOnSignals(progress);
  try {
    const report = await compareSamplers(definition, {
      ...(shape === undefined && input === undefined
        ? {}
        : { input: { shape: shape ?? null, input: input ?? null } }),
      device,
      sampler,
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
