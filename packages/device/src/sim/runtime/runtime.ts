/**
 * A workgroup under way beside its generated code: what orders accesses, the copies in flight, the phase barriers, and
 * what to say where something is wrong. Generated code calls the parts by their names here. Of workgroups that are under way
 * at the same time each has its own.
 */

import type { PhaseBarrier } from "@evolver/kernel";
import type { Guard } from "../analysis/guards.ts";
import { AccessFindings } from "./access-findings.ts";
import { LaunchContext } from "./context.ts";
import type { LaunchFacts } from "./context.ts";
import { CopiesInFlight } from "./copies-in-flight.ts";
import { CopyFindings } from "./copy-findings.ts";
import { HappensBefore } from "./happens-before.ts";
import type { ReleasedClocks } from "./happens-before.ts";
import { Phases } from "./phases.ts";
import { Races } from "./races.ts";
import { Reach } from "./reach.ts";
import { Shadows } from "./shadows.ts";
import type { LaneSet, Subgroup } from "./subgroup.ts";
import { Traces } from "./traces.ts";
import type { WeakMemory } from "./weak-memory.ts";

export interface RuntimeOptions extends LaunchFacts {
  readonly subgroups: readonly Subgroup[];
  readonly phaseBarriers: readonly PhaseBarrier[];
  /** Branches whose reach is watched. */
  readonly guards: readonly Guard[];
  /** What was released through each memory; through global ones it is common to all workgroups. */
  readonly released: readonly ReleasedClocks[];
  readonly weak: WeakMemory | null;
  /** Whether races are sought with vector clocks. */
  readonly withClocks: boolean;
  /** How many traces are kept. */
  readonly maxTraces: number;
}

export class Runtime {
  readonly context: LaunchContext;
  readonly order: HappensBefore;
  readonly races: Races;
  readonly findings: AccessFindings;
  readonly copyFindings: CopyFindings;
  readonly copies: CopiesInFlight;
  readonly phases: Phases;
  readonly shadows: Shadows;
  readonly reach: Reach;
  readonly traces: Traces;
  /** Where a seed makes loads see older values. */
  readonly weak: WeakMemory | null;
  readonly #subgroups: readonly Subgroup[];
  readonly #withClocks: boolean;

  constructor(options: RuntimeOptions) {
    const { subgroups, phaseBarriers, withClocks, released, sites } = options;
    const context = new LaunchContext(options);
    const phaseCount = phaseBarriers.reduce((sum, { count }) => sum + count, 0);
    const order = new HappensBefore(context.time, subgroups, released, phaseCount);
    const report = new CopyFindings(context);
    const copies = new CopiesInFlight(subgroups, sites, report);
    this.context = context;
    this.order = order;
    this.races = new Races(context, order, subgroups, phaseCount > 0);
    this.findings = new AccessFindings(context);
    this.weak = options.weak;
    this.#subgroups = subgroups;
    this.copyFindings = report;
    this.shadows = new Shadows(context);
    this.reach = new Reach(context, options.guards);
    this.traces = new Traces(context, options.maxTraces);
    this.copies = copies;
    this.phases = new Phases({ barriers: phaseBarriers, subgroups, order, withClocks, copies, report });
    this.#withClocks = withClocks;
  }

  /** A workgroup begins at this time. */
  beginWorkgroup(linear: number, time: number): void {
    this.context.beginWorkgroup(linear);
    this.phases.beginWorkgroup();
    this.weak?.beginWorkgroup();
    this.#refresh();
    if (!this.#withClocks) return;
    this.order.beginWorkgroup(linear, time);
    for (const [memory, { space }] of this.context.bindings.entries())
      if (space === "shared") this.order.forget(memory);
    this.#forgetReaders();
  }

  /** The workgroup goes on at this time after others did: what it read before is of an earlier epoch. */
  beginTurn(time: number): void {
    if (this.#withClocks) this.order.beginTurn(time);
  }

  /** @param finished whether the workgroup came to its end */
  endWorkgroup(finished: boolean): void {
    for (const memory of this.copies.endWorkgroup(finished)) this.context.storage(memory).forgetCopies();
  }

  /** The workgroup met at this time. */
  barrier(time: number): void {
    this.#refresh();
    if (!this.#withClocks) return;
    this.order.barrier(time);
    this.#forgetReaders();
  }

  #refresh(): void {
    for (const subgroup of this.#subgroups) subgroup.freshSince = this.context.time.instruction;
  }

  /** Nobody races any more with those who read shared memory until now. */
  #forgetReaders(): void {
    for (const { space, storage } of this.context.bindings) if (space === "shared") storage.readers.forget();
  }

  /** Active lanes wait for their copies, all but those of their `newer` youngest groups. */
  awaitCopies(subgroup: Subgroup, active: LaneSet, newer: number): void {
    const waits = this.copies.await(subgroup, active, newer);
    if (waits.length === 0 || !this.#withClocks) return;
    for (const { lane, generation } of waits) this.order.learnOwnWait(subgroup, lane, generation);
    this.order.shareClock(subgroup);
  }
}
