/** A run: opens study, judge and workspace, judges the baseline if there is none yet, and goes through its cycles. */

import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { EvolverError, Random, deriveSeed } from "@evolver/base";
import { championOf, explainChampion, judgeTrial, runCycle } from "./cycle.ts";
import type { CycleInput } from "./cycle.ts";
import type { Judge, OpenJudge } from "../judge/judge.ts";
import { openJudgeProcess } from "../judge/client.ts";
import { objectiveKey, championFolder, objectiveSlug, printRecord } from "../workspace/record.ts";
import type { Champion, CycleRecord, Objective } from "../workspace/record.ts";
import { renderKnowledge } from "../workspace/render/knowledge.ts";
import { renderLog } from "../workspace/render/log.ts";
import { renderProgress } from "../workspace/render/progress.ts";
import { renderTasks } from "../workspace/render/tasks.ts";
import { countRejected, formatTime } from "../workspace/render/text.ts";
import type { CandidateSummary, EvolveResult } from "./result.ts";
import { samplerNamed } from "../sampler/index.ts";
import { startOf } from "./start.ts";
import type { OpenStudy, SourceFile } from "../study/open-study.ts";
import type { StudyInput } from "../study/option.ts";
import type { Study } from "../study/study.ts";
import { isJudged, type Candidate, type Trial } from "../judge/verdict.ts";
import { Workspace } from "../workspace/workspace.ts";
import type { Changes } from "../workspace/repository.ts";

/** What `evolve` tells while it works. */
export type EvolveEvent =
  | {
      readonly kind: "open";
      readonly objective: Objective;
      readonly workspace: string;
      readonly cyclesBefore: number;
      /** `EvolveOptions.from` where there are records already, so that the search goes on from their champion. */
      readonly unusedFrom: string | null;
    }
  | { readonly kind: "cycle"; readonly cycle: number; readonly gap: string }
  | {
      readonly kind: "trial";
      readonly cycle: number;
      readonly index: number;
      readonly of: number;
      readonly trial: Trial;
    }
  | { readonly kind: "recorded"; readonly record: CycleRecord; readonly commit: string }
  /** Every point of the space has been tried, and the run ends early. */
  | { readonly kind: "exhausted"; readonly points: number };

/** What `evolve` runs. */
export interface EvolveOptions {
  /** The study's options, of which any may be left out. */
  readonly input?: StudyInput | undefined;
  /** Default "sim". */
  readonly device?: string | undefined;
  readonly cycles: number;
  /** Default 1. */
  readonly seed?: number | undefined;
  readonly workspace: string;
  /** A named point to begin with instead of the study's baseline, where there is no record yet. */
  readonly from?: string | undefined;
  /** The sampler's name; the policy's if absent. */
  readonly agent?: string | undefined;
  /** The policy's if absent. */
  readonly trialsPerCycle?: number | undefined;
  /** False: what is tried is the sampler's choice alone, whatever the study's model predicts. */
  readonly predict?: boolean | undefined;
  readonly onEvent?: ((event: EvolveEvent) => void) | undefined;
  /** Stops the run after writing what is complete. */
  readonly signal?: AbortSignal | undefined;
  /** The judge; another process unless a test brings its own. */
  readonly openJudge?: OpenJudge | undefined;
}

/**
 * @throws EvolverError INTERRUPTED if it was stopped before there was a baseline; STUDY_REFUSED; BASELINE_REJECTED;
 *   NO_VERDICT; what the workspace throws
 */
export async function evolve(study: Study, options: EvolveOptions): Promise<EvolveResult> {
  const { cycles, seed = 1, device = "sim" } = options;
  if (!Number.isSafeInteger(cycles) || cycles < 0)
    throw new EvolverError("INVALID_OPTION", `The number of cycles must be a whole number, not ${cycles}.`);
  if (!Number.isSafeInteger(seed) || seed < 0 || seed > 0xffffffff)
    throw new EvolverError(
      "INVALID_SEED",
      `The seed must be a whole number from 0 to 4294967295, not ${seed}.`,
    );
  const input = await study.parseInput(options.input ?? {});
  const opened = await study.open(input, { id: device });
  // Before a workspace is made.
  startOf(opened, options.from);
  if (options.agent !== undefined) samplerNamed(options.agent);
  const workspace = await Workspace.open(options.workspace);
  let judge: Judge | null = null;
  try {
    // Early, so that a damaged policy is refused before the judge's work.
    const policy = workspace.policy();
    const agent = options.agent ?? policy.sampler;
    samplerNamed(agent);
    const objective: Objective = {
      study: study.id,
      title: study.title,
      input,
      inputTitle: opened.inputTitle,
      device,
      profile: opened.profile,
    };
    const key = objectiveKey(objective);
    const isBegun = workspace.records().some((record) => objectiveKey(record.objective) === key);
    const open = options.openJudge ?? openJudgeProcess;
    // It takes a while to open: not where there is nothing to judge.
    if (cycles > 0 || !isBegun) judge = await open(study, input, { device, signal: options.signal });
    const trialsPerCycle = options.trialsPerCycle ?? policy.trialsPerCycle;
    const run = new Run({
      workspace,
      study: opened,
      judge,
      objective,
      policy: { ...policy, trialsPerCycle, ...(options.predict === false ? { proposalsPerTrial: 1 } : {}) },
      agent,
      seed,
      options,
    });
    return await run.go(cycles);
  } catch (error) {
    if (options.signal?.aborted !== true || error !== options.signal.reason) throw error;
    throw interrupted();
  } finally {
    await judge?.close();
    workspace.close();
  }
}

function interrupted(): EvolverError {
  return new EvolverError("INTERRUPTED", "Stopped before there was anything to write; no record was made.");
}

interface RunParts {
  readonly workspace: Workspace;
  readonly study: OpenStudy;
  /** Null where nothing will be judged. */
  readonly judge: Judge | null;
  readonly objective: Objective;
  readonly policy: CycleInput["policy"];
  readonly agent: string;
  readonly seed: number;
  readonly options: EvolveOptions;
}

class Run {
  readonly #workspace: Workspace;
  readonly #study: OpenStudy;
  readonly #judge: Judge;
  readonly #objective: Objective;
  readonly #policy: CycleInput["policy"];
  readonly #agent: string;
  readonly #seed: number;
  readonly #options: EvolveOptions;
  readonly #signal: AbortSignal;
  /** All records of the workspace, and those of this objective. */
  readonly #all: CycleRecord[];
  readonly #own: CycleRecord[];
  readonly #written: { readonly record: CycleRecord; readonly commit: string }[] = [];

  constructor({ workspace, study, judge, objective, policy, agent, seed, options }: RunParts) {
    this.#workspace = workspace;
    this.#study = study;
    this.#judge = judge as Judge;
    this.#objective = objective;
    this.#policy = policy;
    this.#agent = agent;
    this.#seed = seed;
    this.#options = options;
    this.#signal = options.signal ?? new AbortController().signal;
    this.#all = workspace.records();
    const key = objectiveKey(objective);
    this.#own = this.#all.filter((record) => objectiveKey(record.objective) === key);
  }

  async go(cycles: number): Promise<EvolveResult> {
    this.#emit({
      kind: "open",
      objective: this.#objective,
      workspace: this.#workspace.root,
      cyclesBefore: Math.max(0, this.#own.length - 1),
      unusedFrom: this.#own.length === 0 ? null : (this.#options.from ?? null),
    });
    if (this.#own.length === 0) await this.#judgeBaseline();
    const baselineRecords = this.#written.length;
    let left = true;
    for (let i = 0; i < cycles && left && !this.#signal.aborted; i++) left = await this.#cycle();
    const done = this.#written.length - baselineRecords;
    return this.#summary(done, { exhausted: !left, interrupted: left && done < cycles });
  }

  async #judgeBaseline(): Promise<void> {
    const started = performance.now();
    const baseline = startOf(this.#study, this.#options.from);
    const title = this.#study.describe(baseline);
    this.#emit({ kind: "cycle", cycle: 0, gap: `Judging the baseline, ${title}` });
    const trial = await judgeTrial(this.#cycleInput([], null, 0), { kind: "point", point: baseline }, [], {
      title,
      reason: "The baseline.",
      parents: [],
    });
    if (trial === null) throw interrupted();
    this.#emit({ kind: "trial", cycle: 0, index: 0, of: 1, trial });
    if (!isJudged(trial.verdict))
      throw new EvolverError(
        "NO_VERDICT",
        `The judge came to no verdict on the baseline. ${trial.verdict.reason}`,
        {
          hint: "run again, choose a smaller input, or raise trialSeconds in the workspace's policy.json and commit it; nothing was written",
        },
      );
    if (trial.verdict.status !== "ok")
      throw new EvolverError("BASELINE_REJECTED", `The judge rejects the baseline: ${trial.verdict.reason}`, {
        hint: "correct the kernel, or the reference that it is compared with; nothing was written",
      });
    const champion = championOf(trial);
    await this.#record(started, {
      cycle: 0,
      agent: "baseline",
      observations: [...this.#judge.admission.checks],
      reflection: { gap: "Nothing to compare with yet", why: "Every gain is measured from here.", focus: [] },
      action: "Judge the baseline.",
      trials: [trial],
      outcome: {
        kept: true,
        reason: `The baseline takes ${formatTime(champion.timeMs)} ${champion.timeKind}.`,
        champion,
        interrupted: false,
      },
      next: ["Find something faster."],
    });
  }

  /** @returns whether there is something left to try */
  async #cycle(): Promise<boolean> {
    const started = performance.now();
    const last = this.#own.at(-1) as CycleRecord;
    const cycle = last.cycle + 1;
    const trials = this.#own.flatMap((record) => record.trials);
    const input = this.#cycleInput(trials, last.outcome.champion, cycle);
    const result = await runCycle({ ...input, champion: last.outcome.champion });
    if (result.trials.length === 0) {
      if (!result.interrupted) this.#emit({ kind: "exhausted", points: trials.length });
      return result.interrupted;
    }
    await this.#record(started, {
      cycle,
      agent: this.#agent,
      observations: result.observations,
      reflection: result.reflection,
      action: result.action,
      trials: result.trials,
      outcome: {
        kept: result.kept,
        reason: result.reason,
        ...(result.secondLook === null ? {} : { secondLook: result.secondLook }),
        champion: result.champion,
        interrupted: result.interrupted,
      },
      next: result.next,
    });
    return true;
  }

  #cycleInput<C extends Champion | null>(
    trials: readonly Trial[],
    champion: C,
    cycle: number,
  ): Omit<CycleInput, "champion"> & { readonly champion: C } {
    const kept = this.#own.findLastIndex((record) => record.outcome.kept);
    return {
      study: this.#study,
      judge: this.#judge,
      sampler: samplerNamed(this.#agent),
      policy: this.#policy,
      dataSeed: deriveSeed(this.#seed, "data", cycle),
      trials,
      champion,
      stuck: Math.max(0, this.#own.length - 1 - kept),
      random: new Random(deriveSeed(this.#seed, "cycle", cycle)),
      onReflect: (gap) => this.#emit({ kind: "cycle", cycle, gap }),
      onTrial: (trial, index, of) => this.#emit({ kind: "trial", cycle, index, of, trial }),
      signal: this.#signal,
    };
  }

  /** Writes one record and all that is rendered from it, as one commit. */
  async #record(
    started: number,
    content: Omit<CycleRecord, "format" | "id" | "date" | "durationMs" | "seed" | "objective">,
  ): Promise<void> {
    const record: CycleRecord = {
      format: 1,
      id: this.#workspace.newId(),
      cycle: content.cycle,
      date: new Date().toISOString(),
      durationMs: Math.round(performance.now() - started),
      agent: content.agent,
      seed: this.#seed,
      objective: this.#objective,
      observations: content.observations,
      reflection: content.reflection,
      action: content.action,
      trials: content.trials,
      outcome: content.outcome,
      next: content.next,
    };
    const all = [...this.#all, record];
    const own = [...this.#own, record];
    const slug = objectiveSlug(this.#objective);
    const changes = new Map<string, string | null>([
      [`records/${record.id}.json`, printRecord(record)],
      ["evolution_log.md", renderLog(all)],
      ["PROGRESS.md", renderProgress(all)],
      ["TASKS.md", renderTasks(all)],
      [`knowledge/${slug}.md`, renderKnowledge(this.#study.space, own)],
    ]);
    const { kept, champion, reason } = content.outcome;
    if (kept) for (const [path, text] of await this.#championFiles(champion)) changes.set(path, text);
    const subject = content.cycle === 0 ? "baseline" : kept ? "kept" : "reverted";
    const message = `${this.#objective.study} cycle ${content.cycle}: ${subject}\n\n${reason}\n\nRecord: ${record.id}`;
    const commit = await this.#workspace.commit(changes, message);
    this.#all.push(record);
    this.#own.push(record);
    this.#written.push({ record, commit });
    this.#emit({ kind: "recorded", record, commit });
  }

  /** The champion's folder as it shall be: new files, and null for old ones that go. */
  async #championFiles(champion: Champion): Promise<Changes> {
    const folder = championFolder(this.#objective);
    const files = new Map<string, string | null>();
    for (const path of this.#workspace.filesBelow(folder)) files.set(path, null);
    for (const { path, text } of await this.#sources(champion.candidate))
      files.set(`${folder}/${path}`, text);
    const about = { ...champion, objective: this.#objective };
    files.set(`${folder}/champion.json`, `${JSON.stringify(about, null, 2)}\n`);
    return files;
  }

  async #sources(candidate: Candidate): Promise<readonly SourceFile[]> {
    const { subgroup, forwardProgress } = this.#judge.admission;
    if (candidate.kind === "point") return this.#study.emit(candidate.point, { subgroup, forwardProgress });
    return [{ path: basename(candidate.path), text: await readFile(candidate.path, "utf8") }];
  }

  #summary(cycles: number, end: Pick<EvolveResult, "exhausted" | "interrupted">): EvolveResult {
    const trials = this.#own.flatMap((record) => record.trials);
    const summarise = ({ trial, title, candidate, timeMs }: Champion): CandidateSummary => {
      const verdict = trials.find(({ number }) => number === trial)?.verdict;
      const { error = null, bound = null, counters = null } = verdict ?? {};
      return { trial, title, candidate, timeMs, error, bound, counters };
    };
    const baseline = (this.#own[0] as CycleRecord).outcome.champion;
    const champion = (this.#own.at(-1) as CycleRecord).outcome.champion;
    const written = this.#written.flatMap(({ record }) => record.trials);
    return {
      study: this.#objective.study,
      device: this.#objective.device,
      profile: this.#objective.profile,
      input: this.#objective.inputTitle,
      seed: this.#seed,
      agent: this.#agent,
      cycles,
      trials: written.length,
      baseline: summarise(baseline),
      champion: summarise(champion),
      speedup: baseline.timeMs / champion.timeMs,
      timeKind: champion.timeKind,
      roof: this.#roof(champion.timeMs),
      explanation: explainChampion(this.#study, trials, champion),
      workspace: this.#workspace.root,
      championFolder: championFolder(this.#objective),
      commits: this.#written.map(({ commit }) => commit),
      history: this.#written.map(({ record, commit }) => ({
        cycle: record.cycle,
        kept: record.outcome.kept,
        commit,
        champion: record.outcome.champion.title,
        timeMs: record.outcome.champion.timeMs,
        trials: record.trials.length,
      })),
      rejected: countRejected(written.map(({ verdict }) => verdict)),
      unjudged: written.filter(({ verdict }) => !isJudged(verdict)).length,
      ...end,
    };
  }

  #roof(timeMs: number): EvolveResult["roof"] {
    const { roof } = this.#study;
    return roof === undefined ? null : { ...roof, share: roof.timeMs / timeMs };
  }

  #emit(event: EvolveEvent): void {
    this.#options.onEvent?.(event);
  }
}
