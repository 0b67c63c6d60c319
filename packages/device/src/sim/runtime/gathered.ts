/** What the workgroups of one launch gather together, beside findings. */

import type { Node } from "@evolver/kernel";
import type { Finding } from "../../core/findings.ts";
import type { Trace } from "../../core/traces.ts";
import type { WorkgroupId } from "./report.ts";

/** Where an indeterminate value comes from. */
export interface Origin {
  readonly kind: Finding["kind"];
  readonly message: string;
}

/** How far invocations came at a guard. */
export interface Reached {
  /** The largest index that came, by whom, and the extent that it was compared with. */
  most: number;
  extent: number;
  invocation: number;
  workgroup: WorkgroupId;
  /** Whether the branch ever said no. */
  refused: boolean;
}

export class Gathered {
  /** The nodes that gave indeterminate values. */
  readonly indeterminate = new Set<Node>();
  /** By shadow (shadows.ts). */
  readonly origins = new Map<number, Origin>();
  /** By guard. */
  readonly reached: (Reached | undefined)[] = [];
  /** Whether a subgroup was stopped after `maxSteps` iterations. */
  endless = false;
  readonly traces: Trace[] = [];
  /** How many traces there were beyond those that are kept. */
  tracesLeftOut = 0;
}
