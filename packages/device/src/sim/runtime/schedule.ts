/**
 * Runs the subgroups of one workgroup: which one runs next, where they wait for each other, and whether they can go on. One
 * subgroup runs at a time and is switched at barriers, waits for phases, atomic operations and after many loop iterations; a seed permutes
 * the order and adds stops.
 */

import { waitingForever, reportDivergence, reportEndless } from "./deadlock.ts";
import type { Runtime } from "./runtime.ts";
import { STOPS } from "./subgroup.ts";
import type { Subgroup } from "./subgroup.ts";
import type { SimTime } from "./time.ts";

export interface Schedule {
  readonly subgroups: readonly Subgroup[];
  readonly runtime: Runtime;
  readonly time: SimTime;
  /** Loop iterations that a subgroup runs between two stops. */
  readonly quantum: number;
  readonly maxSteps: number;
  /** A random integer below n, or null for a fixed order. */
  readonly random: ((n: number) => number) | null;
  /** Whether a subgroup may sleep for long before an atomic operation, as if its processor were slow. */
  readonly sleepy: boolean;
  start(subgroup: Subgroup): Generator<number, void, void>;
  /** The whole workgroup passed a barrier, or lanes of it did in error. */
  barrier(whole: boolean): void;
}

/**
 * - running: it stopped where others may go on.
 * - stuck: none of its subgroups can go on until another workgroup changes memory.
 * - failed: it never ends, as it has reported.
 */
export type Progress = "running" | "finished" | "stuck" | "failed";

/** Stops after which a fixed order is no round any more: in step, subgroups can hinder each other for ever. */
const STOPS_IN_STEP = 4096;

/** With sleep, one in so many atomic operations brings it; it lasts up to 2 to this power of stops of all subgroups. */
const SLEEP = 4;
const LONGEST_SLEEP = 16;

export class WorkgroupRun {
  readonly #schedule: Schedule;
  #sleeper: Subgroup | null = null;
  #wakesAt = 0;
  #stops = 0;
  #turn = 0;
  /** The changes of memory that it saw when it got stuck, or -1. */
  #stuckAt = -1;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  begin(): void {
    this.#turn = 0;
    this.#stops = 0;
    this.#stuckAt = -1;
    this.#sleeper = null;
    for (const subgroup of this.#schedule.subgroups) {
      subgroup.state = "ready";
      subgroup.stuckAt = -1;
      subgroup.iterations = 0;
      subgroup.run = this.#schedule.start(subgroup);
    }
  }

  /** Whether nothing has changed since it got stuck. */
  get isStuck(): boolean {
    return this.#stuckAt === this.#schedule.time.changes;
  }

  /** Whether a subgroup sleeps, and no other can go on. */
  get isResting(): boolean {
    if (this.#sleeper === null || this.#schedule.time.stops >= this.#wakesAt) return false;
    return !this.#schedule.subgroups.some((subgroup) => this.#isAwake(subgroup));
  }

  /** Runs one subgroup until it stops. */
  step(): Progress {
    const { subgroups, quantum, time, maxSteps, random, sleepy } = this.#schedule;
    time.stops++;
    const subgroup = this.#choose();
    if (subgroup === null) {
      if (subgroups.some(({ state }) => state === "phase")) return this.fail(0);
      return this.#meet() ? "running" : "finished";
    }
    this.#turn = subgroup.index + 1;
    const step = (subgroup.run as Generator<number, void, void>).next();
    if (step.done === true) {
      subgroup.state = "done";
      subgroup.run = null;
      return "running";
    }
    if (step.value === STOPS.AT_BARRIER) {
      subgroup.state = "barrier";
      return "running";
    }
    if (step.value === STOPS.AT_PHASE) {
      // Whoever completes a phase wakes it.
      subgroup.state = "phase";
      return "running";
    }
    if (step.value === STOPS.PREEMPTED) {
      subgroup.iterations += quantum;
      if (subgroup.iterations > maxSteps) {
        reportEndless(this.#schedule, subgroup);
        return "failed";
      }
    }
    if (sleepy && step.value === STOPS.BEFORE_ATOMIC && this.#sleeper === null && random?.(SLEEP) === 0) {
      this.#sleeper = subgroup;
      this.#wakesAt = time.stops + 2 ** random(LONGEST_SLEEP + 1);
    }
    const { changes } = time;
    if (subgroup.stuckAt !== changes || !subgroups.every((other) => cannotGoOn(other, changes)))
      return "running";
    this.#stuckAt = changes;
    return "stuck";
  }

  /**
   * Reports that its subgroups wait forever.
   *
   * @param notBegun workgroups that have not begun, since those that have do not end
   */
  fail(notBegun: number): "failed" {
    waitingForever(this.#schedule, notBegun);
    return "failed";
  }

  /** Leaves it as it is. */
  stop(): void {
    for (const subgroup of this.#schedule.subgroups) {
      subgroup.run?.return();
      subgroup.run = null;
    }
  }

  #choose(): Subgroup | null {
    const { subgroups, time } = this.#schedule;
    const first = this.#next();
    if (this.#sleeper !== null && time.stops < this.#wakesAt) {
      const awake = pick(subgroups, first, (subgroup) => this.#isAwake(subgroup));
      if (awake !== null) return awake;
    }
    // It wakes in time, and where nobody else goes on.
    this.#sleeper = null;
    return pick(subgroups, first, ({ state }) => state === "ready");
  }

  #isAwake(subgroup: Subgroup): boolean {
    return !cannotGoOn(subgroup, this.#schedule.time.changes) && subgroup !== this.#sleeper;
  }

  /** Whose turn it is, if it is ready. */
  #next(): number {
    const { subgroups, random } = this.#schedule;
    if (random !== null) return random(subgroups.length);
    if (this.#stops++ < STOPS_IN_STEP) return this.#turn;
    const mixed = Math.imul(this.#stops ^ (this.#stops >>> 7), 0x9e3779b1);
    return (Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 16) % subgroups.length;
  }

  /** All that have not finished are at barriers: lets them go on. Returns false when all have finished. */
  #meet(): boolean {
    const { subgroups, runtime } = this.#schedule;
    const waiting = subgroups.filter((subgroup) => subgroup.state === "barrier");
    if (waiting.length === 0) return false;
    const node = runtime.context.node(waiting[0]?.waitsAt as number);
    const whole =
      waiting.length === subgroups.length &&
      waiting.every(
        ({ arrived, lanes, waitsAt }) => arrived.count === lanes && runtime.context.node(waitsAt) === node,
      );
    if (!whole) reportDivergence(this.#schedule, waiting);
    this.#schedule.barrier(whole);
    for (const subgroup of waiting) subgroup.state = "ready";
    return true;
  }
}

/** A loop of the subgroup would go round in the same way for ever as long as memory does not change, or it waits for others. */
function cannotGoOn(subgroup: Subgroup, changes: number): boolean {
  return subgroup.state !== "ready" || subgroup.stuckAt === changes;
}

function pick(
  subgroups: readonly Subgroup[],
  first: number,
  can: (subgroup: Subgroup) => boolean,
): Subgroup | null {
  for (let i = 0; i < subgroups.length; i++) {
    const subgroup = subgroups[(first + i) % subgroups.length] as Subgroup;
    if (can(subgroup)) return subgroup;
  }
  return null;
}
