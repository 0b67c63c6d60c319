/**
 * Records: one file a cycle, written once. They are the lab's whole memory; everything else in a workspace is
 * rendered from them.
 */

import { EvolverError, canonicalJson, sha256 } from "@evolver/base";
import type { TimeKind } from "../study/measurement.ts";
import type { StudyInput } from "../study/option.ts";
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

export interface Champion {
  readonly trial: number;
  readonly title: string;
  readonly candidate: Candidate;
  readonly hash: string | null;
  readonly timeMs: number;
  readonly timeKind: TimeKind;
}

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

/** Eight hexadecimal digits that tell objectives apart. */
export function objectiveKey({ study, input, device, profile }: Objective): string {
  return sha256(canonicalJson({ study, input, device, profile })).slice(0, 8);
}

/** The folder of an objective's champion and its name in renderings. */
export function objectiveSlug(objective: Objective): string {
  return `${objective.study}-${objectiveKey(objective)}`;
}

export function printRecord(record: CycleRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/**
 * @param path for the message
 * @param restore the command that brings the file back
 * @throws EvolverError RECORD_CORRUPT
 */
export function parseRecord(text: string, path: string, restore: string): CycleRecord {
  const corrupt = (what: string, cause?: unknown): never => {
    throw new EvolverError("RECORD_CORRUPT", `The record ${path} is damaged: ${what}. Nothing was changed.`, {
      hint: `bring the committed file back with: ${restore}`,
      cause,
    });
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return corrupt("it is not JSON", error);
  }
  const problem = whyNotRecord(value, path);
  return problem === null ? (value as CycleRecord) : corrupt(problem);
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isCount: Check = (value) => isNumber(value) && Number.isSafeInteger(value) && (value as number) >= 0;
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const shape =
  (fields: Record<string, Check>): Check =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([name, check]) => check(value[name]));
const optional =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

const isCandidate: Check = (value) =>
  isObject(value) &&
  (value["kind"] === "point"
    ? isObject(value["point"])
    : value["kind"] === "module" && isText(value["path"]));

const isTrial = shape({
  number: isCount,
  candidate: isCandidate,
  title: isText,
  reason: isText,
  parents: (value) => Array.isArray(value) && value.every(isCount),
  verdict: shape({
    status: isText,
    reason: isText,
    hash: optional(isText),
    timeMs: optional(isNumber),
    cases: Array.isArray,
  }),
});

const FIELDS: Record<string, Check> = {
  id: (value) => typeof value === "string" && /^[0-9A-HJKMNP-TV-Z]{26}$/.test(value),
  cycle: isCount,
  date: isText,
  durationMs: isNumber,
  agent: isText,
  seed: isNumber,
  objective: shape({ study: isText, title: isText, input: isObject, device: isText, profile: isText }),
  observations: isTexts,
  reflection: shape({ gap: isText, why: isText, focus: isTexts }),
  action: isText,
  trials: (value) => Array.isArray(value) && value.every(isTrial),
  outcome: shape({
    kept: (value) => typeof value === "boolean",
    reason: isText,
    champion: shape({ trial: isCount, title: isText, candidate: isCandidate, timeMs: isNumber }),
  }),
  next: isTexts,
};

function whyNotRecord(value: unknown, path: string): string | null {
  if (!isObject(value)) return "it is not an object";
  if (value["format"] !== 1)
    return `its format is ${JSON.stringify(value["format"])}, and this program reads 1`;
  for (const [name, check] of Object.entries(FIELDS))
    if (!check(value[name])) return `its field "${name}" is missing or wrong`;
  return path.endsWith(`${String(value["id"])}.json`)
    ? null
    : `its id ${String(value["id"])} is not its name`;
}

/** Within the workspace, the folder of the best code so far. */
export const championFolder = (objective: Objective): string => `champion/${objectiveSlug(objective)}`;
