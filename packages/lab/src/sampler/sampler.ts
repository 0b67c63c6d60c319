/**
 * What proposes candidates. A sampler keeps no state: all it knows is the context, so that a run that was stopped
 * goes on exactly as if it had not been.
 */

import type { Random } from "@evolver/base";
import { pointKey } from "../study/space.ts";
import type { Point, Space } from "../study/point.ts";
import { isJudged, type Trial } from "../judge/verdict.ts";

/** One past trial of a point, as far as choosing the next one goes. */
export interface Memory {
  readonly trial: number;
  readonly key: string;
  readonly point: Point;
  readonly parents: readonly number[];
  /** Null where the judge rejected it, or came to no verdict. */
  readonly timeMs: number | null;
  /** False where the judge came to no verdict, which counts as no failure. */
  readonly judged: boolean;
}

/** What a sampler knows when it proposes. */
export interface SamplerContext {
  readonly space: Space;
  /** All trials so far, failures too, oldest first. */
  readonly memory: readonly Memory[];
  /** How many proposals are wanted. */
  readonly count: number;
  /** Axes that the last reflection would change, the most promising first. */
  readonly focus: readonly string[];
  /** Share of proposals, 0 to 1, that ignore what was learnt. */
  readonly explore: number;
  readonly random: Random;
}

/** A point to try, and why. */
export interface Proposal {
  readonly point: Point;
  readonly parents: readonly number[];
  readonly reason: string;
}

/** Proposes points of a space from what was tried so far. */
export interface Sampler {
  readonly name: string;
  /** At most `count` valid points, none of them in the memory or twice in the answer; none if the space is exhausted. */
  propose(context: SamplerContext): Proposal[];
}

/** The trials of points as memory; duplicates have no time of their own and count as failures. */
export function memoryOf(space: Space, trials: readonly Trial[]): Memory[] {
  const memory: Memory[] = [];
  for (const { number, candidate, parents, verdict } of trials) {
    if (candidate.kind !== "point") continue;
    const { point } = candidate;
    const timeMs = verdict.status === "ok" ? verdict.timeMs : null;
    memory.push({
      trial: number,
      key: pointKey(space, point),
      point,
      parents,
      timeMs,
      judged: isJudged(verdict),
    });
  }
  return memory;
}
