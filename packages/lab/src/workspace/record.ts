/**
 * Records: one file per cycle, written once. They are the lab's whole memory; everything else in a workspace is
 * rendered from them.
 */

import { canonicalJson, countSchema, objectSchema, parseJsonWith, printJson, sha256 } from "@evolver/base";
import * as v from "valibot";
import { timeKindSchema, type TimeKind } from "../study/measurement.ts";
import type { StudyInput } from "../study/option.ts";
import { amountSchema, candidateSchema, timeSchema, trialSchema, verdictSchema } from "../judge/verdict.ts";
import type { Candidate, Trial, Verdict } from "../judge/verdict.ts";

/** What is optimised. Times are comparable within one objective only; a workspace may hold several. */
export interface Objective {
  readonly study: string;
  readonly title: string;
  readonly input: StudyInput;
  readonly inputTitle: string;
  readonly device: string;
  readonly profile: string;
}

/** The best candidate so far. */
export interface Champion {
  readonly trial: number;
  readonly title: string;
  readonly candidate: Candidate;
  readonly hash: string | null;
  readonly timeMs: number;
  readonly timeKind: TimeKind;
}

/** What a cycle leaves behind: a file in the workspace's `records` that is never changed. */
export interface CycleRecord {
  readonly format: 1;
  readonly id: string;
  /** 0 judges the baseline. */
  readonly cycle: number;
  /** ISO 8601, UTC. */
  readonly date: string;
  readonly durationMs: number;
  /** Who chose: the sampler's or agent's name. */
  readonly agent: string;
  readonly seed: number;
  readonly objective: Objective;
  readonly observations: readonly string[];
  /** The gap chosen, why, and the axes that could close it. */
  readonly reflection: { readonly gap: string; readonly why: string; readonly focus: readonly string[] };
  readonly action: string;
  readonly trials: readonly Trial[];
  readonly outcome: {
    readonly kept: boolean;
    readonly reason: string;
    /** Where time is measured: the winner as a fresh process judged it. */
    readonly secondLook?: Verdict;
    /** After the cycle. */
    readonly champion: Champion;
    /** Stopped before all its trials were done. */
    readonly interrupted: boolean;
  };
  readonly next: readonly string[];
}

/** Eight hexadecimal digits that tell objectives apart. A file counts by what is in it, wherever it lies. */
export function objectiveKey({ study, input, device, profile }: Objective): string {
  const named = Object.entries(input).filter(([name]) => typeof input[`${name}Hash`] !== "string");
  return sha256(canonicalJson({ study, input: Object.fromEntries(named), device, profile })).slice(0, 8);
}

/** The folder of an objective's champion and its name in renderings. */
export function objectiveSlug(objective: Objective): string {
  return `${objective.study}-${objectiveKey(objective)}`;
}

export const printRecord = (record: CycleRecord): string => printJson(record);

const objectiveSchema = v.looseObject({
  study: v.string(),
  title: v.string(),
  input: objectSchema<StudyInput>(),
  inputTitle: v.string(),
  device: v.string(),
  profile: v.string(),
});

const championSchema = v.looseObject({
  trial: countSchema,
  title: v.string(),
  candidate: candidateSchema,
  hash: v.nullable(v.string()),
  timeMs: timeSchema,
  timeKind: timeKindSchema,
});

const recordSchema = v.looseObject({
  format: v.literal(1, "this program reads format 1"),
  id: v.pipe(v.string(), v.ulid("it must be a ULID")),
  cycle: countSchema,
  date: v.string(),
  durationMs: amountSchema,
  agent: v.string(),
  seed: countSchema,
  objective: objectiveSchema,
  observations: v.array(v.string()),
  reflection: v.looseObject({ gap: v.string(), why: v.string(), focus: v.array(v.string()) }),
  action: v.string(),
  trials: v.array(trialSchema),
  outcome: v.looseObject({
    kept: v.boolean(),
    reason: v.string(),
    secondLook: v.exactOptional(verdictSchema),
    champion: championSchema,
    interrupted: v.boolean(),
  }),
  next: v.array(v.string()),
}) satisfies v.GenericSchema<unknown, CycleRecord>;

/**
 * @param path for the message
 * @param hint how to bring the file back
 * @throws EvolverError RECORD_CORRUPT
 */
export function parseRecord(text: string, path: string, hint: string): CycleRecord {
  const schema = v.pipe(
    recordSchema,
    v.forward(
      v.check(({ id }) => path.endsWith(`${id}.json`), "it must be the name of the file"),
      ["id"],
    ),
  );
  return parseJsonWith(schema, text, {
    what: "the damaged record",
    file: path,
    code: "RECORD_CORRUPT",
    hint,
  });
}

/** Within the workspace, the folder of the best code so far. */
export const championFolder = (objective: Objective): string => `champion/${objectiveSlug(objective)}`;
