/**
 * Collects what the checks find. Called only where something is wrong, so it may be slow; it resolves source lines,
 * merges repeats of one finding and keeps the first few.
 */

import { formatLocation } from "@evolver/base";
import type { Node, Site } from "@evolver/kernel";
import type { Finding, FindingAccess, FindingKind } from "../core/findings.ts";
import type { Subgroup } from "./subgroup.ts";

export type WorkgroupId = readonly [number, number, number];

/** One side of a finding, before its source line is known. */
export interface Side {
  readonly action: string;
  readonly site: Site;
  readonly lanes: readonly number[];
  readonly workgroup: WorkgroupId;
}

/** What the texts of findings need to know of a launch. */
export interface FindingContext {
  readonly report: Report;
  /** The node of a site number. */
  node(site: number): Node;
  /** The name of memory number k. */
  name(k: number): string;
  side(action: string, node: Node, lanes: readonly number[]): Side;
}

interface Entry {
  readonly kind: FindingKind;
  readonly message: string;
  readonly sides: { readonly side: Side; readonly lanes: Set<number> }[];
  /** The latest one. */
  request: number | null;
  count: number;
}

export class Report {
  readonly #maxFindings: number;
  readonly #entries = new Map<string, Entry>();

  constructor(maxFindings: number) {
    this.#maxFindings = maxFindings;
  }

  get empty(): boolean {
    return this.#entries.size === 0;
  }

  /**
   * Adds a finding, or counts it where one of this kind on these lines is known.
   *
   * @param request a number for the executed instruction: what its lanes find is one occurrence. Null stands for one
   *   that occurs once
   */
  add(kind: FindingKind, message: string, request: number | null, sides: readonly Side[]): void {
    const key = `${kind}|${sides.map((side) => formatLocation(side.site.location)).join("|")}`;
    const known = this.#entries.get(key);
    if (known === undefined) {
      if (this.#entries.size >= this.#maxFindings) return;
      const withLanes = sides.map((side) => ({ side, lanes: new Set(side.lanes) }));
      this.#entries.set(key, { kind, message, sides: withLanes, request, count: 1 });
      return;
    }
    if (request === null || known.request !== request) known.count++;
    known.request = request;
    // Lanes of one workgroup gather; those of others would claim to be of this one.
    const alike = sides.every(
      ({ workgroup }, i) => workgroup.join() === known.sides[i]?.side.workgroup.join(),
    );
    if (!alike) return;
    for (const [i, side] of sides.entries()) for (const lane of side.lanes) known.sides[i]?.lanes.add(lane);
  }

  findings(): Finding[] {
    return [...this.#entries.values()].map(({ kind, message, sides, count }) => ({
      kind,
      message,
      accesses: sides.map(({ side, lanes }): FindingAccess => ({
        action: side.action,
        location: side.site.location,
        lanes: [...lanes].sort((a, b) => a - b),
        workgroup: side.workgroup,
      })),
      count,
    }));
  }
}

/** Local indices of the lanes of a subgroup for which something holds. */
export function lanesWhere(S: Subgroup, holds: (lane: number) => boolean): number[] {
  const lanes: number[] = [];
  for (let lane = 0; lane < S.lanes; lane++) if (holds(lane)) lanes.push(S.base + lane);
  return lanes;
}
