/** The texts of findings about asynchronous copies and phase barriers. */

import type { PhaseBarrier } from "@evolver/kernel";
import { WHO } from "./checks.ts";
import type { Flight, FlightReport } from "./flights.ts";
import type { PhaseReport } from "./phases.ts";
import { lanesWhere } from "./report.ts";
import type { FindingContext } from "./report.ts";
import type { Subgroup } from "./subgroup.ts";

const DOES: Readonly<Record<string, string>> = { read: "reads", write: "writes", copy: "copies to" };

export class PipelineFindings implements FlightReport, PhaseReport {
  readonly #context: FindingContext;

  constructor(context: FindingContext) {
    this.#context = context;
  }

  /** @param flying who started the copy and where, as in Storage */
  inFlight(
    k: number,
    element: number,
    S: Subgroup,
    lane: number,
    site: number,
    request: number,
    action: string,
    flying: number,
  ): void {
    const start = this.#context.node(Math.floor((flying - 1) / WHO));
    const message =
      `lane ${S.base + lane} ${DOES[action] ?? "touches"} ${this.#context.name(k)}[${element}] while the copy of ` +
      `line ${start.site.location.line} to it is under way: wait for the copy first`;
    this.#context.report.add("copy-in-flight", message, request, [
      this.#context.side(action, this.#context.node(site), [S.base + lane]),
      this.#context.side("copy", start, [(flying - 1) & (WHO - 1)]),
    ]);
  }

  /** @param mark who started the last copy from the element and where, as in Storage */
  sourceWritten(
    k: number,
    element: number,
    S: Subgroup,
    lane: number,
    site: number,
    request: number,
    mark: number,
  ): void {
    const start = this.#context.node(Math.floor(mark / WHO));
    const message =
      `lane ${S.base + lane} writes ${this.#context.name(k)}[${element}] while the copy of ` +
      `line ${start.site.location.line} from it is under way: wait for the copy first`;
    this.#context.report.add("copy-in-flight", message, request, [
      this.#context.side("write", this.#context.node(site), [S.base + lane]),
      this.#context.side("copy", start, [mark & (WHO - 1)]),
    ]);
  }

  neverAwaited({ type, site, subgroup, at, mask }: Flight): void {
    const lanes = lanesWhere(subgroup, (lane) => mask[lane] !== 0);
    const first = at[(lanes[0] as number) - subgroup.base] as number;
    const message = `nobody waits for the copy to ${this.#context.name(type.memory)}[${first}], and the workgroup has ended`;
    this.#context.report.add("copy-in-flight", message, null, [
      this.#context.side("copy", this.#context.node(site), lanes),
    ]);
  }

  groupBytes(group: number, bytes: number, expected: number, site: number, lanes: readonly number[]): void {
    const message = `group ${group} of the workgroup's copies has ${bytes} bytes, and ${expected} are expected`;
    this.#context.report.add("copy-bytes", message, null, [
      this.#context.side("commit", this.#context.node(site), lanes),
    ]);
  }

  phaseBytes(
    { name, bytes: expected }: PhaseBarrier,
    index: number,
    phase: number,
    bytes: number,
    S: Subgroup,
    mask: Uint8Array,
    site: number,
    request: number,
  ): void {
    const message = `the copies of phase ${phase} of "${name}"[${index}] have ${bytes} bytes, and ${expected} are expected`;
    this.#context.report.add("copy-bytes", message, request, [
      this.#context.side(
        "arrive",
        this.#context.node(site),
        lanesWhere(S, (lane) => mask[lane] !== 0),
      ),
    ]);
  }

  outside(
    { name, count }: PhaseBarrier,
    index: number,
    S: Subgroup,
    lane: number,
    site: number,
    request: number,
  ): void {
    const node = this.#context.node(site);
    const message = `"${name}" has ${count} phase ${count === 1 ? "barrier" : "barriers"}; ${index} is outside`;
    const action = node.kind === "arrive" ? "arrive" : "wait";
    this.#context.report.add("out-of-bounds", message, request, [
      this.#context.side(action, node, [S.base + lane]),
    ]);
  }
}
