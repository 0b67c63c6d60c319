/** The messages between the page and its worker. Plain data, since it is sent between threads. */

import type { ClaimResult } from "@evolver/device";
import type { AttentionShape } from "@evolver/attention";
import type { DeviceLimits } from "@evolver/device";

/** The devices that a browser can have. */
export type WebDeviceId = "webgpu" | "cpu" | "sim";

export interface Job {
  readonly device: WebDeviceId;
  readonly shape: AttentionShape;
  readonly causal: boolean;
}

export interface DeviceFacts {
  readonly name: string;
  readonly subgroupSize: number;
  /** Where the width varies from kernel to kernel, subgroup operations are refused. */
  readonly fixedSubgroups: boolean;
  readonly limits: DeviceLimits;
  /** Where times come from, for people. */
  readonly clock: string;
  readonly timeKind: "measured" | "modelled";
}

/** An error in our usual form: code, one line that says what is wrong, what to do. */
export interface Failure {
  readonly code: string;
  readonly what: string;
  readonly hint: string | null;
}

/** Milliseconds per launch. */
export interface Timing {
  readonly medianMs: number;
  /** First and third quartile. */
  readonly lowMs: number;
  readonly highMs: number;
  readonly rounds: number;
  /** Launches that each round times together. */
  readonly launches: number;
}

export interface Verified {
  readonly pass: boolean;
  /** The largest absolute error, and the largest that passes. */
  readonly error: number;
  readonly bound: number;
}

/** Of the claims' small problem, on the simulator. */
export interface Counted {
  readonly globalReadBytes: number;
  readonly globalSectors: number;
  readonly sharedConflicts: number;
  readonly claims: readonly ClaimResult[];
}

export type Report =
  | { readonly kind: "progress"; readonly done: number; readonly total: number; readonly what: string }
  | { readonly kind: "device"; readonly facts: DeviceFacts }
  | { readonly kind: "verified"; readonly rung: string; readonly result: Verified }
  /** This rung does not run here; the others may. */
  | { readonly kind: "refused"; readonly rung: string; readonly failure: Failure }
  | { readonly kind: "timed"; readonly rung: string; readonly timing: Timing }
  | { readonly kind: "counted"; readonly rung: string; readonly counted: Counted }
  /** The end: all done, or what stopped it. */
  | { readonly kind: "end"; readonly failure: Failure | null };
