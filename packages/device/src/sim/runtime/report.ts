/**
 * Collects what the checks find. Called only where something is wrong, so it may be slow; it resolves source lines,
 * merges repeats of one finding and keeps the first few.
 */

import { formatLocation } from "@evolver/base";
import type { Site } from "@evolver/kernel";
import type { Finding, FindingAccess, FindingKind } from "../../core/findings.ts";

export type WorkgroupId = readonly [number, number, number];

/** One side of a finding, before its source line is known. */
export interface Side {
  readonly action: string;
  readonly site: Site;
  readonly lanes: readonly number[];
  readonly workgroup: WorkgroupId;
}

interface Entry {
  readonly kind: FindingKind;
  readonly message: string;
  readonly sides: { readonly side: Side; readonly lanes: Set<number> }[];
  /** The latest one. */
  instruction: number | null;
  count: number;
}

export class Report {
  readonly #maxFindings: number;
  readonly #only: FindingKind | null;
  readonly #entries = new Map<string, Entry>();

  /** @param only the one kind of findings to keep, or null for all */
  constructor(maxFindings: number, only: FindingKind | null = null) {
    this.#maxFindings = maxFindings;
    this.#only = only;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Adds a finding, or counts it where one of this kind on these lines is known.
   *
   * @param instruction the number of the executed instruction (SimTime): what its lanes find is one occurrence. Null
   *   stands for one that occurs once
   */
  add(kind: FindingKind, message: string, instruction: number | null, sides: readonly Side[]): void {
    if (this.#only !== null && kind !== this.#only) return;
    const key = `${kind}|${sides.map((side) => formatLocation(side.site.location)).join("|")}`;
    const known = this.#entries.get(key);
    if (known === undefined) {
      if (this.#entries.size >= this.#maxFindings) return;
      const withLanes = sides.map((side) => ({ side, lanes: new Set(side.lanes) }));
      this.#entries.set(key, { kind, message, sides: withLanes, instruction, count: 1 });
      return;
    }
    if (instruction === null || known.instruction !== instruction) known.count++;
    known.instruction = instruction;
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
