/** Findings about subgroups that do not meet or do not end: who waits where, in words. */

import type { Node } from "@evolver/kernel";
import { loopStateOf } from "../analysis/loop-state.ts";
import type { Side } from "./report.ts";
import type { Runtime } from "./runtime.ts";
import type { Subgroup } from "./subgroup.ts";

interface Waiting {
  readonly subgroups: readonly Subgroup[];
  readonly runtime: Runtime;
}

/** A subgroup that does not go on, and where. */
interface Stuck {
  readonly subgroup: Subgroup;
  readonly site: number;
  readonly action: string;
}

export function reportDivergence({ runtime, subgroups }: Waiting, waiting: readonly Subgroup[]): void {
  const places = groupBySite(
    waiting.map((subgroup) => ({ subgroup, site: subgroup.waitsAt, action: "barrier" })),
    runtime,
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

/** A subgroup has run many iterations of its loops. */
export function reportEndless(waiting: Waiting & { readonly maxSteps: number }, endless: Subgroup): void {
  const { runtime, maxSteps } = waiting;
  const message = `subgroup ${endless.index} has run ${maxSteps} loop iterations without an end (option maxSteps)`;
  const at: Stuck = { subgroup: endless, site: endless.looping, action: "loop" };
  runtime.context.report.add("deadlock", message, null, groupBySite([at], runtime));
  runtime.context.gathered.endless = true;
}

/**
 * No subgroup of the workgroup can go on.
 *
 * @param notBegun workgroups that have not begun
 */
export function waitingForever({ runtime, subgroups }: Waiting, notBegun: number): void {
  const unfinished = subgroups.filter((subgroup) => subgroup.state !== "done");
  const stuck = unfinished.map((subgroup): Stuck => {
    if (subgroup.state === "barrier") return { subgroup, site: subgroup.waitsAt, action: "barrier" };
    if (subgroup.state === "phase") return { subgroup, site: subgroup.waitsAt, action: "wait" };
    const { kind } = runtime.context.node(subgroup.polling);
    return { subgroup, site: subgroup.polling, action: kind === "while" ? "loop" : "atomic" };
  });
  const phases = unfinished
    .filter(({ state }) => state === "phase")
    .map(({ awaited }) => runtime.phases.describe(awaited.barrier, awaited.index));
  const others =
    notBegun > 0
      ? `; ${notBegun} ${notBegun === 1 ? "workgroup has" : "workgroups have"} not begun, and no device promises to run more at a time`
      : "";
  const isBlind = ({ site }: Stuck): boolean => {
    const node = runtime.context.node(site);
    return node.kind === "while" && !loopStateOf(node).looks;
  };
  const why =
    phases.length > 0
      ? [...new Set(phases)].join("; ")
      : stuck.some(isBlind)
        ? "a loop comes back to the same values, and reads no memory that could end it"
        : `no invocation changes the memory that they read${others}`;
  const message = `${unfinished.length} of ${subgroups.length} subgroups wait forever: ${why}`;
  runtime.context.report.add("deadlock", message, null, groupBySite(stuck, runtime));
}

/** One side for each place, with the lanes of all subgroups there. */
function groupBySite(stuck: readonly Stuck[], runtime: Runtime): Side[] {
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
