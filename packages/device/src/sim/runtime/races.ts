/** What generated code asks and says about accesses that may not be ordered: races, and who has read what. */

import { actorOf, siteOf } from "./access-id.ts";
import type { Access, LaunchContext } from "./context.ts";
import type { HappensBefore } from "./happens-before.ts";
import type { Subgroup } from "./subgroup.ts";
import type { VectorClock } from "./vector-clock.ts";

/** The earlier one of two accesses: who made it and where, when, and whether it reads or writes. */
export interface EarlierAccess {
  readonly action: string;
  readonly accessId: number;
  readonly time: number;
}

export class Races {
  readonly #context: LaunchContext;
  readonly #order: HappensBefore;
  readonly #invocations: number;
  /** What could order accesses of one workgroup. */
  readonly #ordersHere: string;

  constructor(
    context: LaunchContext,
    order: HappensBefore,
    subgroups: readonly Subgroup[],
    hasPhaseBarriers: boolean,
  ) {
    this.#context = context;
    this.#order = order;
    this.#invocations = subgroups.reduce((sum, { lanes }) => sum + lanes, 0);
    this.#ordersHere = hasPhaseBarriers ? "no barrier or phase" : "no barrier";
  }

  /** Two accesses to one element that nothing orders, unless the lane has waited for the copy that was the first. */
  report(access: Access, earlier: EarlierAccess): void {
    const { subgroup, lane, memory, element } = access;
    let invocation = actorOf(earlier.accessId);
    if (invocation >= this.#invocations) {
      // A phase barrier landed it; whoever started the copy may have waited for it too.
      const { copyStarter } = this.#context.storage(memory);
      invocation = copyStarter[element * 2] as number;
      const generation = copyStarter[element * 2 + 1] as number;
      const clock = subgroup.clocks[lane] as VectorClock;
      if (this.#order.knowsOwnWait(clock, invocation, generation)) return;
    }
    this.#add(access, earlier, invocation);
  }

  /** Whether a write by another workgroup is ordered before what a lane does now. */
  knowsOther(clock: VectorClock, accessId: number, when: number): boolean {
    const workgroup = this.#context.time.workgroupAt(when);
    return this.#order.knowsOther(clock, workgroup, actorOf(accessId), when);
  }

  /** An element with readers is written. */
  clearReaders(access: Access): void {
    const { subgroup, lane, memory, element } = access;
    const writer = { clock: subgroup.clocks[lane] as VectorClock, invocation: subgroup.base + lane };
    const { readers } = this.#context.storage(memory);
    const reader = readers.clear(element, writer, this.#order, this.#context.time);
    if (reader !== null) this.report(access, { action: "read", ...reader });
  }

  #add(access: Access, earlier: EarlierAccess, invocation: number): void {
    const context = this.#context;
    const site = siteOf(earlier.accessId);
    const node = context.node(site);
    const action = node.kind === "asyncCopy" ? "copy" : earlier.action;
    const workgroup = context.workgroupId(context.time.workgroupAt(earlier.time));
    const same = context.workgroup.every((id, axis) => id === workgroup[axis]);
    const place = same ? "" : ` of workgroup [${workgroup.join(", ")}]`;
    const order = same ? this.#ordersHere : "no release and acquire";
    const message =
      `data race on ${context.nameOf(access.memory)}[${access.element}]: ${access.action} by lane ` +
      `${access.subgroup.base + access.lane}, ${action} by lane ${invocation}${place}, and ${order} between them`;
    context.report.add("data-race", message, context.time.instruction, [
      context.sideOf(access),
      { action, site: node.site, lanes: [invocation], workgroup },
    ]);
  }
}
