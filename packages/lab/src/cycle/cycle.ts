/**
 * One cycle: observe → reflect → act → record, on data alone. It decides and writes the texts; the judge runs candidates, and
 * the workspace writes files.
 */

import { mostPromising } from "./time-predictor.ts";
import type { Judge } from "../judge/judge.ts";
import { counted, deriveSeed, type Random } from "@evolver/base";
import type { Champion } from "../workspace/record.ts";
import { memoryOf } from "../sampler/sampler.ts";
import type { Memory, Proposal, Sampler } from "../sampler/sampler.ts";
import { pointKey, spaceSize, withValue } from "../study/space.ts";
import type { Explanation, Measurement } from "../study/measurement.ts";
import type { OpenStudy } from "../study/open-study.ts";
import type { Point } from "../study/point.ts";
import { isJudged, type Candidate, type Trial, type Verdict } from "../judge/verdict.ts";
import { formatSpeedup, formatTime } from "../workspace/render/text.ts";
import type { Policy } from "../workspace/policy.ts";

export interface CycleInput {
  readonly study: OpenStudy;
  readonly judge: Judge;
  readonly sampler: Sampler;
  readonly policy: Policy;
  /** For the data of this cycle: all its candidates are verified on the same. */
  readonly dataSeed: number;
  /** All trials of the objective so far. */
  readonly trials: readonly Trial[];
  readonly champion: Champion;
  /** Cycles in a row, just before this one, that kept nothing. */
  readonly stuck: number;
  readonly random: Random;
  readonly onReflect: (gap: string) => void;
  readonly onTrial: (trial: Trial, index: number, of: number) => void;
  readonly signal: AbortSignal;
}

export interface CycleResult {
  readonly observations: readonly string[];
  readonly reflection: { readonly gap: string; readonly why: string; readonly focus: readonly string[] };
  readonly action: string;
  readonly trials: readonly Trial[];
  readonly kept: boolean;
  readonly reason: string;
  /** Where time is measured: the winner judged again, in a fresh process on fresh data. */
  readonly secondLook: Verdict | null;
  readonly champion: Champion;
  readonly interrupted: boolean;
  readonly next: readonly string[];
}

export async function runCycle(input: CycleInput): Promise<CycleResult> {
  const { study, sampler, policy, champion, stuck, random, signal } = input;
  const explanation = explainChampion(study, input.trials, champion);
  const reflection = reflect(input, explanation);
  input.onReflect(reflection.gap);
  const explore = Math.min(0.8, policy.explore + stuck * policy.exploreWhenStuck);

  const trials: Trial[] = [];
  let exhausted = false;
  for (let i = 0; i < policy.trialsPerCycle && !signal.aborted; i++) {
    const all = [...input.trials, ...trials];
    // What had no verdict in an earlier cycle may be tried again.
    const known = [...input.trials.filter(({ verdict }) => isJudged(verdict)), ...trials];
    const memory = memoryOf(study.space, known);
    const count = study.predict === undefined ? 1 : policy.proposalsPerTrial;
    const context = { space: study.space, memory, count, focus: reflection.focus, explore, random };
    const hint = hintFor(study, memory);
    const proposals = hint === null ? sampler.propose(context) : [hint];
    if (proposals.length === 0) {
      exhausted = true;
      break;
    }
    const proposal = await mostPromising(study, proposals, signal);
    const candidate: Candidate = { kind: "point", point: proposal.point };
    const trial = await judgeTrial(input, candidate, all, {
      title: study.describe(proposal.point),
      reason: proposal.reason,
      parents: proposal.parents,
    });
    if (trial === null) break;
    trials.push(trial);
    input.onTrial(trial, i, policy.trialsPerCycle);
  }

  const first = decide(champion, trials, policy);
  const { decision, secondLook } = await lookAgain(input, first, trials);
  const after = decision.winner ?? champion;
  const all = [...input.trials, ...trials];
  return {
    observations: observe(input, explanation),
    reflection,
    action: `${counted(trials.length, "trial")} by the ${sampler.name} sampler, ${Math.round(explore * 100)} % of them exploring.`,
    trials,
    kept: decision.winner !== null,
    reason: decision.reason,
    secondLook,
    champion: after,
    interrupted: signal.aborted && trials.length < policy.trialsPerCycle && !exhausted,
    next: nextSteps(study, all, after, explainChampion(study, all, after)),
  };
}

/** The first point that the author thinks well of and that has not been tried; null if there is none left. */
function hintFor({ space, hints = [] }: OpenStudy, memory: readonly Memory[]): Proposal | null {
  const tried = new Set(memory.map(({ key }) => key));
  const point = hints.find((each) => !tried.has(pointKey(space, each)) && space.whyInvalid(each) === null);
  return point === undefined ? null : { point, parents: [], reason: "A point that the author names." };
}

/** Judges one candidate as the trial after `before`; null if the run was stopped meanwhile. */
export async function judgeTrial(
  {
    judge,
    policy,
    dataSeed,
    champion,
    signal,
  }: Omit<CycleInput, "champion"> & { readonly champion: Champion | null },
  candidate: Candidate,
  before: readonly Trial[],
  words: Pick<Trial, "title" | "reason" | "parents">,
): Promise<Trial | null> {
  const number = before.length;
  const known: Record<string, number> = {};
  for (const { number: earlier, verdict } of before)
    if (verdict.hash !== null && verdict.status !== "duplicate") known[verdict.hash] ??= earlier;
  const request = {
    candidate,
    seed: dataSeed,
    known,
    champion: champion?.candidate ?? null,
    deadlineMs: policy.trialSeconds * 1000,
  };
  try {
    return { number, candidate, ...words, verdict: await judge.judge(request, signal) };
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

export function championOf(trial: Trial): Champion {
  const { number, title, candidate, verdict } = trial;
  if (verdict.timeMs === null || verdict.timeKind === null) throw new RangeError("a champion has a time");
  return {
    trial: number,
    title,
    candidate,
    hash: verdict.hash,
    timeMs: verdict.timeMs,
    timeKind: verdict.timeKind,
  };
}

/** The relative gain over the champion that a verdict must exceed to be kept. */
function gainNeeded({ noise }: Verdict, policy: Policy): number {
  return Math.max(policy.minimumGain, policy.sigmas * noise);
}

interface Decision {
  readonly winner: Champion | null;
  readonly reason: string;
}

/**
 * A measured gain may be luck, or come from a lucky memory layout of one process. So the winner is judged once more by a new
 * process on new data, and must win there too. A modelled time needs no second look.
 */
async function lookAgain(
  input: CycleInput,
  first: Decision,
  trials: readonly Trial[],
): Promise<{ readonly decision: Decision; readonly secondLook: Verdict | null }> {
  const { judge, policy, champion, dataSeed, signal } = input;
  const winner = trials.find(({ number }) => number === first.winner?.trial);
  if (first.winner === null || winner === undefined || first.winner.timeKind === "modelled" || signal.aborted)
    return { decision: first, secondLook: null };
  await judge.renew();
  const request = {
    candidate: winner.candidate,
    seed: deriveSeed(dataSeed, "second look", winner.number),
    known: {},
    champion: champion.candidate,
    deadlineMs: policy.trialSeconds * 1000,
  };
  let secondLook: Verdict;
  try {
    secondLook = await judge.judge(request, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    const reason = `Stopped before trial ${winner.number} was looked at again; the champion stays.`;
    return { decision: { winner: null, reason }, secondLook: null };
  }
  if (secondLook.status !== "ok") {
    const reason = `Trial ${winner.number} won, but a fresh judge rejects it: ${secondLook.reason}`;
    return { decision: { winner: null, reason }, secondLook };
  }
  const again = decide(champion, [{ ...winner, verdict: secondLook }], policy);
  const reason = again.winner
    ? `${first.reason} A second look in a fresh process agrees: ${timesOf(secondLook, champion)}.`
    : `Trial ${winner.number} won, but not in a second look in a fresh process: ${timesOf(secondLook, champion)}.`;
  return { decision: { winner: again.winner, reason }, secondLook };
}

const timesOf = (verdict: Verdict, champion: Champion): string =>
  `${formatTime(verdict.timeMs)} against ${formatTime(verdict.championTimeMs ?? champion.timeMs)}`;

function decide(champion: Champion, trials: readonly Trial[], policy: Policy): Decision {
  const passed = trials
    .filter(({ verdict }) => verdict.status === "ok")
    .map((trial) => {
      const { timeMs, championTimeMs } = trial.verdict;
      return { trial, gain: 1 - (timeMs as number) / (championTimeMs ?? champion.timeMs) };
    })
    .toSorted((a, b) => b.gain - a.gain || a.trial.number - b.trial.number);
  const best = passed[0];
  if (!best) return { winner: null, reason: "No candidate passed the judge; the champion stays." };
  const { trial, gain } = best;
  const needed = gainNeeded(trial.verdict, policy);
  const numbers = timesOf(trial.verdict, champion);
  if (gain > needed) {
    const speedup = formatSpeedup(1 / (1 - gain));
    return { winner: championOf(trial), reason: `Kept trial ${trial.number}: ${numbers}, ${speedup}.` };
  }
  return {
    winner: null,
    reason:
      `Nothing beat the champion by more than ${(needed * 100).toFixed(1)} %; ` +
      `the best was trial ${trial.number} with ${numbers}.`,
  };
}

/** What the numbers say of the champion, by the trial that it was judged in. */
export function explainChampion(study: OpenStudy, trials: readonly Trial[], champion: Champion): Explanation {
  const verdict = trials.find(({ number }) => number === champion.trial)?.verdict;
  if (!verdict || verdict.timeMs === null || verdict.timeKind === null)
    return { bottleneck: "unknown", observations: [], axes: [] };
  const measurement: Measurement = {
    timeMs: verdict.timeMs,
    timeKind: verdict.timeKind,
    noise: verdict.noise,
    championTimeMs: verdict.championTimeMs,
    counters: verdict.counters,
    details: verdict.details,
  };
  return study.explain(measurement, pointOf(champion.candidate));
}

function observe({ trials, champion, stuck }: CycleInput, explanation: Explanation): string[] {
  const ok = trials.filter(({ verdict }) => verdict.status === "ok").length;
  const observations = [
    `The champion is trial ${champion.trial}, ${champion.title}: ${formatTime(champion.timeMs)} ${champion.timeKind}.`,
    ...explanation.observations,
    `Trials so far: ${trials.length}, of which ${ok} were verified and timed.`,
  ];
  if (stuck > 0) observations.push(`${counted(stuck, "cycle")} in a row kept nothing.`);
  return observations;
}

function reflect(
  { study, trials, champion, stuck }: CycleInput,
  explanation: Explanation,
): CycleResult["reflection"] {
  const open = explanation.axes.filter((axis) => untried(study, trials, champion, axis).length > 0);
  const gap = `The champion is bound by ${explanation.bottleneck}`;
  const why =
    open.length > 0
      ? `${open.join(", ")} can change that, with the rest as it is, in ways not tried yet.`
      : "Single steps that could change that have been tried; combinations and other regions are left.";
  const wider =
    stuck > 0 ? ` After ${counted(stuck, "cycle")} without a gain the search looks further afield.` : "";
  return { gap, why: why + wider, focus: open };
}

/** Valid values of an axis that no trial has had with the champion's other values. */
function untried(
  study: OpenStudy,
  trials: readonly Trial[],
  champion: Champion,
  axis: string,
): (number | string)[] {
  const point = pointOf(champion.candidate);
  const values = study.space.axes.find(({ name }) => name === axis)?.values ?? [];
  if (point === null) return [];
  const seen = new Set(memoryOf(study.space, trials).map(({ key }) => key));
  return values.filter((value) => {
    const other = withValue(point, axis, value);
    return !seen.has(pointKey(study.space, other)) && study.space.whyInvalid(other) === null;
  });
}

function nextSteps(
  study: OpenStudy,
  trials: readonly Trial[],
  champion: Champion,
  explanation: Explanation,
): string[] {
  const steps: string[] = [];
  for (const axis of explanation.axes) {
    const values = untried(study, trials, champion, axis);
    if (values.length > 0)
      steps.push(`Against ${explanation.bottleneck}: try ${axis} ${values.join(", ")} on ${champion.title}.`);
  }
  const tried = new Set(memoryOf(study.space, trials).map(({ key }) => key)).size;
  steps.push(`Search on: ${tried} of at most ${counted(spaceSize(study.space), "point")} have been tried.`);
  const faults = trials.filter(({ verdict }) =>
    ["findings", "wrong-result", "crashed"].includes(verdict.status),
  );
  for (const { number, title, verdict } of faults.slice(-3))
    steps.push(`Look into trial ${number}, ${title}: ${verdict.status}.`);
  return steps;
}

function pointOf(candidate: Candidate): Point | null {
  return candidate.kind === "point" ? candidate.point : null;
}
