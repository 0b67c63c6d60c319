/** Compares a sampler with random search, at the same number of trials, over several seeds. */

import { EvolverError, Random, deriveSeed } from "@evolver/base";
import type { Judge, OpenJudge } from "../judge/judge.ts";
import { openJudgeProcess } from "../judge/client.ts";
import { formatTime, table } from "../workspace/render/text.ts";
import { samplerNamed } from "../sampler/index.ts";
import { memoryOf } from "../sampler/sampler.ts";
import type { Sampler } from "../sampler/sampler.ts";
import { startOf } from "./start.ts";
import { pointKey } from "../study/space.ts";
import type { TimeKind } from "../study/measurement.ts";
import type { OpenStudy } from "../study/open-study.ts";
import type { StudyInput } from "../study/option.ts";
import type { Point } from "../study/point.ts";
import type { Study } from "../study/study.ts";
import type { Trial, Verdict } from "../judge/verdict.ts";

/** What `compareSamplers` runs. */
export interface CompareOptions {
  readonly input?: StudyInput | undefined;
  readonly device?: string | undefined;
  /** Default 10: seeds 1 to 10. */
  readonly seeds?: number | undefined;
  /** Trials of each search, the start not counted. */
  readonly trials: number;
  /** Default "evolutionary". */
  readonly sampler?: string | undefined;
  /** A named point that both searches begin with instead of the study's baseline. */
  readonly from?: string | undefined;
  /** Default 120,000. */
  readonly deadlineMs?: number | undefined;
  /** Of the trials of all searches. */
  readonly onTrial?: ((done: number, of: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly openJudge?: OpenJudge | undefined;
}

/** A sampler beside random search, at the same number of trials. */
export interface ComparisonReport {
  readonly study: string;
  readonly device: string;
  /** What the times stand on, and the input they are for. */
  readonly profile: string;
  readonly input: string;
  readonly timeKind: TimeKind | null;
  readonly sampler: string;
  readonly trials: number;
  readonly rows: readonly {
    readonly seed: number;
    /** The best verified time each found, in milliseconds. */
    readonly samplerMs: number;
    readonly randomMs: number;
  }[];
  /** Seeds on which the sampler's best is strictly faster, the same, slower. */
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  /** Distinct points that had to be judged. */
  readonly evaluated: number;
  /** Of those, the ones that the judge rejected: trials spent for nothing, in either search. */
  readonly rejected: number;
  /** The report as a Markdown table. */
  readonly text: string;
}

/**
 * Each point is judged in full once and its verdict remembered: the searches differ in what they ask for only.
 * @throws EvolverError INTERRUPTED, UNKNOWN_AGENT, UNKNOWN_RUNG, and what the study and the judge throw
 */
export async function compareSamplers(study: Study, options: CompareOptions): Promise<ComparisonReport> {
  const { device = "sim", seeds = 10, trials, deadlineMs = 120_000, signal } = options;
  const sampler = samplerNamed(options.sampler ?? "evolutionary");
  const input = await study.parseInput(options.input ?? {});
  const opened = await study.open(input, { id: device });
  const start = startOf(opened, options.from);
  const judge = await (options.openJudge ?? openJudgeProcess)(study, input, { device, signal });
  try {
    const verdicts = new Map<string, Verdict>();
    const verdictOf = cachedVerdicts(opened, judge, verdicts, deadlineMs, signal);
    const rows: ComparisonReport["rows"][number][] = [];
    let done = 0;
    const bestOf = (one: Sampler, seed: number): Promise<number> =>
      search(opened, one, {
        seed,
        start,
        trials,
        verdictOf,
        onTrial: () => options.onTrial?.(++done, 2 * seeds * trials),
      });
    for (let seed = 1; seed <= seeds; seed++) {
      const samplerMs = await bestOf(sampler, seed);
      const randomMs = await bestOf(samplerNamed("random"), seed);
      rows.push({ seed, samplerMs, randomMs });
    }
    const judged = [...verdicts.values()];
    return {
      study: study.id,
      device,
      profile: opened.profile,
      input: opened.inputTitle,
      timeKind: judged.find(({ timeKind }) => timeKind !== null)?.timeKind ?? null,
      ...summarise(sampler.name, trials, rows),
      evaluated: judged.length,
      rejected: judged.filter(({ status }) => status !== "ok").length,
    };
  } catch (error) {
    if (signal?.aborted !== true || error !== signal.reason) throw error;
    throw new EvolverError("INTERRUPTED", "Stopped before the comparison was complete.");
  } finally {
    await judge.close();
  }
}

type VerdictOf = (point: Point) => Promise<Verdict>;

function cachedVerdicts(
  study: OpenStudy,
  judge: Judge,
  cache: Map<string, Verdict>,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): VerdictOf {
  return async (point) => {
    const key = pointKey(study.space, point);
    let verdict = cache.get(key);
    if (verdict === undefined) {
      const seed = deriveSeed(0, "compare", key);
      const request = {
        candidate: { kind: "point", point },
        seed,
        known: {},
        champion: null,
        deadlineMs,
      } as const;
      verdict = await judge.judge(request, signal);
      cache.set(key, verdict);
    }
    return verdict;
  };
}

interface SearchOptions {
  readonly seed: number;
  readonly start: Point;
  readonly trials: number;
  readonly verdictOf: VerdictOf;
  readonly onTrial: () => void;
}

/** The best time that a search of so many trials finds, from its start on. */
async function search(
  study: OpenStudy,
  sampler: Sampler,
  { seed, start, trials: count, verdictOf, onTrial }: SearchOptions,
): Promise<number> {
  const trials: Trial[] = [];
  const random = new Random(deriveSeed(seed, "compare", sampler.name));
  let best = Infinity;
  const add = async (point: Point, parents: readonly number[], reason: string): Promise<Verdict> => {
    const verdict = await verdictOf(point);
    const number = trials.length;
    trials.push({ number, candidate: { kind: "point", point }, title: "", reason, parents, verdict });
    if (verdict.status === "ok" && verdict.timeMs !== null) best = Math.min(best, verdict.timeMs);
    return verdict;
  };
  let last = await add(start, [], "The start.");
  for (let i = 0; i < count; i++) {
    const focus = last.timeMs === null ? [] : focusOf(study, trials);
    const memory = memoryOf(study.space, trials);
    const [proposal] = sampler.propose({ space: study.space, memory, count: 1, focus, explore: 0.1, random });
    if (!proposal) break;
    last = await add(proposal.point, proposal.parents, proposal.reason);
    onTrial();
  }
  return best;
}

/** What the study says about the best trial so far, as a cycle would ask it. */
function focusOf(study: OpenStudy, trials: readonly Trial[]): readonly string[] {
  let best: Trial | null = null;
  for (const trial of trials)
    if (
      trial.verdict.timeMs !== null &&
      (best === null || trial.verdict.timeMs < (best.verdict.timeMs as number))
    )
      best = trial;
  if (best === null || best.candidate.kind !== "point") return [];
  const { timeMs, timeKind, noise, championTimeMs, counters, details } = best.verdict;
  if (timeMs === null || timeKind === null) return [];
  const measurement = { timeMs, timeKind, noise, championTimeMs, counters, details };
  return study.explain(measurement, best.candidate.point).axes;
}

function summarise(
  sampler: string,
  trials: number,
  rows: ComparisonReport["rows"],
): Pick<ComparisonReport, "sampler" | "trials" | "rows" | "wins" | "ties" | "losses" | "text"> {
  const wins = rows.filter(({ samplerMs, randomMs }) => samplerMs < randomMs).length;
  const losses = rows.filter(({ samplerMs, randomMs }) => samplerMs > randomMs).length;
  const ties = rows.length - wins - losses;
  const lines = rows.map(({ seed, samplerMs, randomMs }) => [
    String(seed),
    formatTime(samplerMs),
    formatTime(randomMs),
    samplerMs < randomMs ? sampler : samplerMs > randomMs ? "random" : "tie",
  ]);
  const text = [
    table(["seed", `${sampler}, best`, "random, best", "faster"], lines),
    "",
    `At ${trials} trials each, ${sampler} found a faster candidate than random search on ${wins} of ${rows.length} ` +
      `seeds (${ties} ties, ${losses} losses).`,
  ].join("\n");
  return { sampler, trials, rows, wins, ties, losses, text };
}
