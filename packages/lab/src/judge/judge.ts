/** What the lab knows of the judge: ask, get a verdict. The judge itself is another process. */

import type { StudyInput } from "../study/option.ts";
import type { Study } from "../study/study.ts";
import type { Candidate, Verdict } from "./verdict.ts";

/** What a judge is asked about one candidate. */
export interface JudgeRequest {
  readonly candidate: Candidate;
  /** For fresh data: differs from cycle to cycle, so that no candidate has seen what it is verified on. */
  readonly seed: number;
  /** Trials by the hash of their plan, to refuse duplicates. */
  readonly known: Readonly<Record<string, number>>;
  /** Timed beside the candidate where time is measured. */
  readonly champion: Candidate | null;
  /**
   * Processor time for the whole trial; past it the judge and all it started are killed, and the trial is tried once more with
   * twice as much before it has no verdict.
   */
  readonly deadlineMs: number;
}

/** What the judge found when it opened the study. */
export interface Admission {
  readonly deviceName: string;
  /** The subgroup width that plans are built for. */
  readonly subgroup: number;
  /** Whether subgroups there can wait for each other, which plans are built for too. */
  readonly forwardProgress: boolean;
  /** What it made sure of, for the record. */
  readonly checks: readonly string[];
}

/** Verifies and times candidates, and says which ones count. */
export interface Judge {
  readonly admission: Admission;
  /**
   * A verdict, always; only an abort rejects (with the signal's reason).
   */
  judge(request: JudgeRequest, signal?: AbortSignal): Promise<Verdict>;
  /** Ends the judge's process; the next question starts another, with devices of its own. */
  renew(): Promise<void>;
  close(): Promise<void>;
}

/** @throws EvolverError STUDY_REFUSED if the study itself can be fooled */
export type OpenJudge = (
  study: Study,
  input: StudyInput,
  options: { readonly device: string; readonly signal?: AbortSignal | undefined },
) => Promise<Judge>;
