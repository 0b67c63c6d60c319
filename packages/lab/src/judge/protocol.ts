/** The messages between the lab and its judge. All carry a nonce that only the two of them know. */

import { countSchema, EvolverError, finiteSchema, objectSchema, parseWith } from "@evolver/base";
import * as v from "valibot";
import type { StudyInput } from "../study/option.ts";
import { candidateSchema, verdictSchema, type Verdict } from "./verdict.ts";
import type { Admission, JudgeRequest } from "./judge.ts";

export interface OpenMessage {
  readonly kind: "open";
  readonly nonce: string;
  readonly module: string;
  readonly export: string;
  readonly input: StudyInput;
  readonly device: string;
  /** Check the study itself; not needed again when a judge replaces one that was killed. */
  readonly admit: boolean;
}

interface JudgeMessage {
  readonly kind: "judge";
  readonly nonce: string;
  readonly request: JudgeRequest;
}

export type ToJudge = OpenMessage | JudgeMessage;

export type FromJudge =
  | { readonly kind: "opened"; readonly nonce: string; readonly admission: Admission }
  | { readonly kind: "verdict"; readonly nonce: string; readonly verdict: Verdict }
  | { readonly kind: "failed"; readonly nonce: string; readonly code: string; readonly message: string };

const admissionSchema = v.looseObject({
  deviceName: v.string(),
  subgroup: countSchema,
  forwardProgress: v.boolean(),
  checks: v.array(v.string()),
}) satisfies v.GenericSchema<unknown, Admission>;

const answerSchema = v.variant("kind", [
  v.strictObject({ kind: v.literal("opened"), nonce: v.string(), admission: admissionSchema }),
  v.strictObject({ kind: v.literal("verdict"), nonce: v.string(), verdict: verdictSchema }),
  v.strictObject({ kind: v.literal("failed"), nonce: v.string(), code: v.string(), message: v.string() }),
]) satisfies v.GenericSchema<unknown, FromJudge>;

/**
 * An answer of the judge, or null for a message that is not the judge's: a candidate runs in that process too and may send
 * any message, but does not know the nonce.
 *
 * @throws EvolverError JUDGE_FAILED where a message of the judge is no valid answer
 */
export function parseAnswer(message: unknown, nonce: string): FromJudge | null {
  if (!v.is(v.looseObject({ nonce: v.literal(nonce) }), message)) return null;
  return parseWith(answerSchema, message, { what: "the judge's answer", code: "JUDGE_FAILED" });
}

const openSchema = v.strictObject({
  kind: v.literal("open"),
  nonce: v.string(),
  module: v.string(),
  export: v.string(),
  input: objectSchema<StudyInput>(),
  device: v.string(),
  admit: v.boolean(),
}) satisfies v.GenericSchema<unknown, OpenMessage>;

const requestSchema = v.strictObject({
  candidate: candidateSchema,
  seed: finiteSchema,
  known: v.record(v.string(), countSchema),
  champion: v.nullable(candidateSchema),
  deadlineMs: finiteSchema,
}) satisfies v.GenericSchema<unknown, JudgeRequest>;

const questionSchema = v.variant("kind", [
  openSchema,
  v.strictObject({ kind: v.literal("judge"), nonce: v.string(), request: requestSchema }),
]) satisfies v.GenericSchema<unknown, ToJudge>;

/** A question to the judge. @throws EvolverError JUDGE_FAILED */
export function parseQuestion(message: unknown): ToJudge {
  return parseWith(questionSchema, message, { what: "the question to the judge", code: "JUDGE_FAILED" });
}

/** An error as a message carries it. */
export function describeError(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof EvolverError) return { code: error.code, message: error.message };
  return {
    code: "JUDGE_FAILED",
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}
