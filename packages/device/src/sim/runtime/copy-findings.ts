/** Findings about asynchronous copies and phase barriers: what is wrong, in words. */

import { actorOf, siteOf } from "./access-id.ts";
import type { Access, LaunchContext } from "./context.ts";
import type { CopyInFlight, CopyReport, GroupMismatch } from "./copies-in-flight.ts";
import type { BarrierIndex, PhaseReport } from "./phases.ts";
import type { LaneSet, Subgroup } from "./subgroup.ts";

const DOES: Readonly<Record<string, string>> = { read: "reads", write: "writes", copy: "copies to" };

export class CopyFindings implements CopyReport, PhaseReport {
  readonly #context: LaunchContext;

  constructor(context: LaunchContext) {
    this.#context = context;
  }

  /** @param copy the access id of the copy that is in flight to the element */
  destinationTouched(access: Access, copy: number): void {
    this.#touched(access, `${DOES[access.action] ?? "touches"}`, "to", copy);
  }

  /** @param copy the access id of the last copy from the element that started */
  sourceWritten(access: Access, copy: number): void {
    this.#touched({ ...access, action: "write" }, "writes", "from", copy);
  }

  #touched(access: Access, does: string, way: "to" | "from", copy: number): void {
    const { subgroup, lane, memory, element } = access;
    const site = siteOf(copy);
    const message =
      `lane ${subgroup.base + lane} ${does} ${this.#context.nameOf(memory)}[${element}] while the copy of ` +
      `line ${this.#context.node(site).site.location.line} ${way} it is under way: wait for the copy first`;
    this.#context.report.add("copy-in-flight", message, this.#context.time.instruction, [
      this.#context.sideOf(access),
      this.#context.side("copy", site, [actorOf(copy)]),
    ]);
  }

  neverAwaited({ kind, site, subgroup, to, lanes }: CopyInFlight): void {
    const invocations = subgroup.invocationsIn(lanes);
    const first = to[(invocations[0] as number) - subgroup.base] as number;
    const message = `the copy to ${this.#context.nameOf(kind.memory)}[${first}] was not awaited before the workgroup ended`;
    this.#context.report.add("copy-in-flight", message, null, [
      this.#context.side("copy", site, invocations),
    ]);
  }

  groupBytes({ group, bytes, expected, site, lanes }: GroupMismatch): void {
    const message = `group ${group} of the workgroup's copies has ${bytes} bytes, and ${expected} are expected`;
    this.#context.report.add("copy-bytes", message, null, [this.#context.side("commit", site, lanes)]);
  }

  phaseBytes(
    { barrier, index }: BarrierIndex,
    { number, bytes }: { readonly number: number; readonly bytes: number },
    subgroup: Subgroup,
    last: LaneSet,
    site: number,
  ): void {
    const message = `the copies of phase ${number} of "${barrier.name}"[${index}] have ${bytes} bytes, and ${barrier.bytes} are expected`;
    this.#context.report.add("copy-bytes", message, this.#context.time.instruction, [
      this.#context.side("arrive", site, subgroup.invocationsIn(last)),
    ]);
  }

  outside({ barrier, index }: BarrierIndex, subgroup: Subgroup, lane: number, site: number): void {
    const { name, count } = barrier;
    const message = `"${name}" has ${count} phase ${count === 1 ? "barrier" : "barriers"}; ${index} is outside`;
    const action = this.#context.node(site).kind === "arrive" ? "arrive" : "wait";
    this.#context.report.add("out-of-bounds", message, this.#context.time.instruction, [
      this.#context.side(action, site, [subgroup.base + lane]),
    ]);
  }
}
