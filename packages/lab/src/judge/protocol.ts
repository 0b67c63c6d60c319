/** The messages between the lab and its judge. All carry a nonce that only the two of them know. */

import { EvolverError } from "@evolver/base";
import type { StudyInput } from "../study/option.ts";
import type { Verdict } from "./verdict.ts";
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

/** An error as a message carries it. */
export function describeError(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof EvolverError) return { code: error.code, message: error.message };
  return {
    code: "JUDGE_FAILED",
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}
