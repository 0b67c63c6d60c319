/**
 * Runs the subgroups of one workgroup until all have finished: which one runs next, where they wait for each other, and
 * whether there is a deadlock. One subgroup runs at a time and is switched at barriers, waits for phases, atomic operations and after many loop iterations; a seed
 * permutes the order.
 */

import type { Node } from "@evolver/kernel";
import type { Side } from "./report.ts";
import type { Runtime } from "./runtime.ts";
import { STOPS } from "./subgroup.ts";
import type { Subgroup } from "./subgroup.ts";
import type { SimTime } from "./time.ts";

/** Atomic operations of every waiting subgroup without a change in memory after which they wait forever. */
const MAX_POLLS = 4_000;

export interface Schedule {
  readonly subgroups: readonly Subgroup[];
  readonly runtime: Runtime;
  readonly time: SimTime;
  /** Loop iterations that a subgroup runs between two stops. */
  readonly quantum: number;
  readonly maxSteps: number;
  /** A random integer below n, or null for a fixed order. */
  readonly random: ((n: number) => number) | null;
  start(subgroup: Subgroup): Generator<number, void, void>;
  /** The whole workgroup passed a barrier, or lanes of it did in error. */
  barrier(whole: boolean): void;
}

/** Returns false on a deadlock, which it has reported. */
export function runWorkgroup(schedule: Schedule): boolean {
  const { subgroups, quantum, random } = schedule;
  for (const subgroup of subgroups) {
    subgroup.state = "ready";
    subgroup.polls = 0;
    subgroup.iterations = 0;
    subgroup.run = schedule.start(subgroup);
  }
  let changes = schedule.time.changes;
  let turn = 0;
  for (;;) {
    const subgroup = pick(subgroups, turn, random);
    if (subgroup === null) {
      if (subgroups.some(({ state }) => state === "phase")) return deadlock(schedule, null);
      if (!meet(schedule)) return true;
      continue;
    }
    turn = subgroup.index + 1;
    const step = (subgroup.run as Generator<number, void, void>).next();
    if (step.done === true) {
      subgroup.state = "done";
      subgroup.run = null;
    } else if (step.value === STOPS.AT_BARRIER) {
      subgroup.state = "barrier";
    } else if (step.value === STOPS.AT_PHASE) {
      // Whoever completes a phase wakes it.
      subgroup.state = "phase";
    } else if (step.value === STOPS.BEFORE_ATOMIC) {
      const present = schedule.time.changes;
      if (present !== changes) for (const other of subgroups) other.polls = 0;
      changes = present;
      subgroup.polls++;
      if (subgroup.polls > MAX_POLLS && subgroups.every(cannotGoOn)) return deadlock(schedule, null);
    } else {
      subgroup.iterations += quantum;
      if (subgroup.iterations > schedule.maxSteps) return deadlock(schedule, subgroup);
    }
  }
}

function cannotGoOn(subgroup: Subgroup): boolean {
  return subgroup.state !== "ready" || subgroup.polls >= MAX_POLLS;
}

function pick(
  subgroups: readonly Subgroup[],
  turn: number,
  random: ((n: number) => number) | null,
): Subgroup | null {
  const first = random === null ? turn : random(subgroups.length);
  for (let i = 0; i < subgroups.length; i++) {
    const subgroup = subgroups[(first + i) % subgroups.length] as Subgroup;
    if (subgroup.state === "ready") return subgroup;
  }
  return null;
}

/** All that have not finished are at barriers: lets them go on. Returns false when all have finished. */
function meet(schedule: Schedule): boolean {
  const waiting = schedule.subgroups.filter((subgroup) => subgroup.state === "barrier");
  if (waiting.length === 0) return false;
  const site = waiting[0]?.waitsAt as number;
  const node = schedule.runtime.context.node(site);
  const whole =
    waiting.length === schedule.subgroups.length &&
    waiting.every(
      ({ arrived, lanes, waitsAt }) =>
        arrived.count === lanes && schedule.runtime.context.node(waitsAt) === node,
    );
  if (!whole) reportDivergence(schedule, waiting);
  schedule.barrier(whole);
  for (const subgroup of waiting) subgroup.state = "ready";
  return true;
}

function reportDivergence(schedule: Schedule, waiting: readonly Subgroup[]): void {
  const { runtime, subgroups } = schedule;
  const places = groupBySite(
    waiting.map((subgroup) => ({ subgroup, site: subgroup.waitsAt, action: "barrier" })),
    schedule,
  );
  const total = subgroups.reduce((sum, subgroup) => sum + subgroup.lanes, 0);
  const arrived = waiting.reduce((sum, subgroup) => sum + subgroup.arrived.count, 0);
  const elsewhere = places.length > 1 ? `${places.length} different barriers` : "a barrier";
  const missing = total - arrived;
  const rest =
    missing > 0 ? `, ${missing} ${missing === 1 ? "has" : "have"} finished or do not take part` : "";
  const message = `of the ${total} invocations of the workgroup ${arrived} wait at ${elsewhere}${rest}`;
  runtime.context.report.add("divergent-barrier", message, null, places);
}

interface Stuck {
  readonly subgroup: Subgroup;
  readonly site: number;
  readonly action: string;
}

/** One side for each place, with the lanes of all subgroups there. */
function groupBySite(stuck: readonly Stuck[], { runtime }: Schedule): Side[] {
  const groups = new Map<Node, { action: string; site: number; lanes: number[] }>();
  for (const { subgroup, site, action } of stuck) {
    const node = runtime.context.node(site);
    const group = groups.get(node) ?? { action, site, lanes: [] };
    const lanes = subgroup.state === "ready" ? subgroup.all : subgroup.arrived;
    group.lanes.push(...subgroup.invocationsIn(lanes));
    groups.set(node, group);
  }
  return [...groups.values()].map(({ action, site, lanes }) => runtime.context.side(action, site, lanes));
}

/** Reports who waits for what, and stops the workgroup. */
function deadlock(schedule: Schedule, endless: Subgroup | null): false {
  const { subgroups, maxSteps, runtime } = schedule;
  const unfinished = subgroups.filter((subgroup) => subgroup.state !== "done");
  const stuck = (endless === null ? unfinished : [endless]).map((subgroup): Stuck => {
    if (subgroup.state === "barrier") return { subgroup, site: subgroup.waitsAt, action: "barrier" };
    if (subgroup.state === "phase") return { subgroup, site: subgroup.waitsAt, action: "wait" };
    if (endless !== null) return { subgroup, site: subgroup.looping, action: "loop" };
    return { subgroup, site: subgroup.polling, action: "atomic" };
  });
  const phases = unfinished
    .filter(({ state }) => state === "phase")
    .map(({ awaited }) => runtime.phases.describe(awaited.barrier, awaited.index));
  const why =
    phases.length === 0 ? "no invocation changes the memory that they read" : [...new Set(phases)].join("; ");
  const message =
    endless === null
      ? `${unfinished.length} of ${subgroups.length} subgroups wait forever: ${why}`
      : `subgroup ${endless.index} has run ${maxSteps} loop iterations without an end (option maxSteps)`;
  runtime.context.report.add("deadlock", message, null, groupBySite(stuck, schedule));
  for (const subgroup of subgroups) {
    subgroup.run?.return();
    subgroup.run = null;
  }
  return false;
}
