/** What the judge says about a candidate, as data, and the schemas that records and messages are held to. */

import { countSchema, finiteSchema, objectSchema, type Json } from "@evolver/base";
import type { Counters } from "@evolver/device";
import * as v from "valibot";
import { timeKindSchema, type TimeKind } from "../study/measurement.ts";
import type { Point } from "../study/point.ts";

const VERDICT_STATUSES = [
  "ok",
  "duplicate",
  /** Neither a point of the space nor a plan of the right shape. */
  "invalid",
  "build-failed",
  /** The device refused the kernel or the launch: too much shared memory, too many invocations. */
  "launch-failed",
  "wrong-result",
  /** The simulator found a race, an uninitialised read, a divergent barrier, … */
  "findings",
  "out-of-bounds-write",
  "input-modified",
  /** The same input gave two answers. */
  "nondeterministic",
  /** None: each time that it was tried, it used up its budget. It says nothing of the candidate, which may be tried again. */
  "timeout",
  "crashed",
] as const;

/** How a trial ended; "ok" or what failed. */
export type VerdictStatus = (typeof VERDICT_STATUSES)[number];

/** One case that was run, in the order they were. */
export interface CaseOutcome {
  readonly case: string;
  readonly seed: number;
  readonly stage: "verify" | "repeat" | "verify-after-timing";
  readonly device: string;
  /** Of the output closest to its bound. */
  readonly error: number | null;
  readonly bound: number | null;
}

/** What the judge says about a candidate. */
export interface Verdict {
  readonly status: VerdictStatus;
  /** Why, in one or two sentences; empty if ok. */
  readonly reason: string;
  /** The normalised hash of the plan, once there is one. */
  readonly hash: string | null;
  /** Worst over the cases, by error / bound. */
  readonly error: number | null;
  readonly bound: number | null;
  readonly timeMs: number | null;
  readonly timeKind: TimeKind | null;
  /** Relative standard error of timeMs. */
  readonly noise: number;
  /** Of the champion, timed in the same session; null if modelled. */
  readonly championTimeMs: number | null;
  readonly counters: Counters | null;
  readonly details: { readonly [key: string]: Json | undefined };
  readonly cases: readonly CaseOutcome[];
}

/** What may be judged: a point of the space, or a module that prints a plan. */
export type Candidate =
  | { readonly kind: "point"; readonly point: Point }
  | {
      readonly kind: "module";
      /** Absolute path of the TypeScript file. */
      readonly path: string;
      /** The function in it that gives the plan; "plan" if absent. */
      readonly export?: string;
    };

/** One candidate, judged. */
export interface Trial {
  /** 0 is the baseline; counts on over all cycles of the objective. */
  readonly number: number;
  readonly candidate: Candidate;
  /** One line for people. */
  readonly title: string;
  /** Why it was proposed. */
  readonly reason: string;
  /** Numbers of the trials it comes from. */
  readonly parents: readonly number[];
  readonly verdict: Verdict;
}

/** Milliseconds that something took. */
export const timeSchema = v.pipe(
  finiteSchema,
  v.check((value) => value > 0, "it must be more than 0"),
);

/** A number that is finite and not negative. */
export const amountSchema = v.pipe(finiteSchema, v.minValue(0, "it must not be negative"));

const caseSchema = v.looseObject({
  case: v.string(),
  seed: finiteSchema,
  stage: v.picklist(["verify", "repeat", "verify-after-timing"]),
  device: v.string(),
  error: v.nullable(amountSchema),
  bound: v.nullable(amountSchema),
}) satisfies v.GenericSchema<unknown, CaseOutcome>;

/** The schema of `Verdict`. */
export const verdictSchema = v.looseObject({
  status: v.picklist(VERDICT_STATUSES),
  reason: v.string(),
  hash: v.nullable(v.string()),
  error: v.nullable(amountSchema),
  bound: v.nullable(amountSchema),
  timeMs: v.nullable(timeSchema),
  timeKind: v.nullable(timeKindSchema),
  noise: amountSchema,
  championTimeMs: v.nullable(timeSchema),
  counters: v.nullable(objectSchema<Counters>()),
  details: objectSchema<Verdict["details"]>(),
  cases: v.array(caseSchema),
}) satisfies v.GenericSchema<unknown, Verdict>;

/** The schema of `Candidate`. */
export const candidateSchema = v.variant("kind", [
  v.looseObject({
    kind: v.literal("point"),
    point: v.record(v.string(), v.union([v.number(), v.string()], "it must be a number or a text")),
  }),
  v.looseObject({ kind: v.literal("module"), path: v.string(), export: v.exactOptional(v.string()) }),
]) satisfies v.GenericSchema<unknown, Candidate>;

/** The schema of `Trial`. */
export const trialSchema = v.looseObject({
  number: countSchema,
  candidate: candidateSchema,
  title: v.string(),
  reason: v.string(),
  parents: v.array(countSchema),
  verdict: verdictSchema,
}) satisfies v.GenericSchema<unknown, Trial>;

/** Whether the judge came to an end, be it good or bad. */
export const isJudged = ({ status }: Verdict): boolean => status !== "timeout";

/** The verdict on a candidate that was not measured. */
export function failedVerdict(status: Exclude<VerdictStatus, "ok">, reason: string): Verdict {
  return {
    status,
    reason,
    hash: null,
    error: null,
    bound: null,
    timeMs: null,
    timeKind: null,
    noise: 0,
    championTimeMs: null,
    counters: null,
    details: {},
    cases: [],
  };
}
