/** A rung as the guide sees it: its point in numbers on the problem of its claims, and the rung that it builds on. */

import { CLAIM_SUBGROUP } from "@evolver/device";
import {
  axes,
  claimProblem,
  geometryOf,
  type ClaimCase,
  type FlashPoint,
  type Geometry,
  type AttentionRung,
} from "@evolver/attention";
import type { AxisChange } from "@evolver/guide";

export interface Subject {
  readonly rung: AttentionRung;
  readonly point: FlashPoint;
  readonly geometry: Geometry;
  /** What claims and counters of the rung are about. */
  readonly on: ClaimCase;
  /** The earlier rung whose point differs in the fewest axes, the latest of such; null for the first rung. */
  readonly base: AttentionRung | null;
  /** The axes on which it differs from that one. */
  readonly changes: readonly AxisChange[];
}

/** @param earlier the rungs before it, in order */
export function subjectOf(rung: AttentionRung, earlier: readonly AttentionRung[]): Subject {
  const on = rung.claimCase ?? { problem: claimProblem };
  let base: AttentionRung | null = null;
  for (const other of earlier) {
    const fewest = base === null ? Infinity : changesOf(base.point, rung.point).length;
    if (changesOf(other.point, rung.point).length <= fewest) base = other;
  }
  return {
    rung,
    point: rung.point,
    geometry: geometryOf(rung.point, on.problem.shape.dim, CLAIM_SUBGROUP),
    on,
    base,
    changes: base === null ? [] : changesOf(base.point, rung.point),
  };
}

function changesOf(from: FlashPoint, to: FlashPoint): AxisChange[] {
  return axes
    .filter(({ name }) => from[name] !== to[name])
    .map(({ name }) => ({ axis: name, from: String(from[name]), to: String(to[name]) }));
}

export const differsIn = ({ base, changes }: Subject, ...names: readonly (keyof FlashPoint)[]): boolean =>
  base === null || changes.some(({ axis }) => names.includes(axis as keyof FlashPoint));
