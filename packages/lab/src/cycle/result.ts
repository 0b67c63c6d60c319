/** What a run of cycles gives. */

import type { Explanation, TimeKind } from "../study/measurement.ts";
import type { Roof } from "../study/roof.ts";
import type { Candidate, Trial } from "../judge/verdict.ts";

/** A judged candidate, in short. */
export interface CandidateSummary {
  readonly trial: number;
  readonly title: string;
  readonly candidate: Candidate;
  readonly timeMs: number;
  readonly error: number | null;
  readonly bound: number | null;
  readonly counters: Trial["verdict"]["counters"];
}

/** What `evolver evolve --json` prints. */
export interface EvolveResult {
  readonly study: string;
  readonly device: string;
  readonly profile: string;
  readonly input: string;
  readonly seed: number;
  readonly agent: string;
  /** Cycles and trials of this run. */
  readonly cycles: number;
  readonly trials: number;
  readonly baseline: CandidateSummary;
  readonly champion: CandidateSummary;
  /** The baseline's time over the champion's. */
  readonly speedup: number;
  readonly timeKind: TimeKind;
  /** The least time that the problem can take, and its share of the champion's; null where that is not known. */
  readonly roof: (Roof & { readonly share: number }) | null;
  /** What the numbers say of the champion, for people. */
  readonly explanation: Explanation;
  readonly workspace: string;
  readonly championFolder: string;
  /** Hashes of this run's commits, oldest first. */
  readonly commits: readonly string[];
  readonly history: readonly {
    readonly cycle: number;
    readonly kept: boolean;
    readonly commit: string;
    readonly champion: string;
    readonly timeMs: number;
    readonly trials: number;
  }[];
  readonly rejected: readonly { readonly reason: string; readonly count: number }[];
  /** Trials to which the judge came to no verdict, so that nothing is known of them. */
  readonly unjudged: number;
  /** Whether the run ended early because every point of the space has been tried. */
  readonly exhausted: boolean;
  readonly interrupted: boolean;
}
