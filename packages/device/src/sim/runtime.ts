/**
 * What generated code calls where something is wrong, or where happens-before needs vector clocks. One for each
 * launch of a program. Everything here may be slow but the clocks.
 */

import type { Node, PhaseBarrier } from "@evolver/kernel";
import { Clocks } from "./clocks.ts";
import { WHO } from "./checks.ts";
import { Flights } from "./flights.ts";
import { Phases } from "./phases.ts";
import { PipelineFindings } from "./pipelineFindings.ts";
import { lanesWhere } from "./report.ts";
import type { FindingContext, Report, Side, WorkgroupId } from "./report.ts";
import type { Binding } from "./storage.ts";
import type { Known, Subgroup } from "./subgroup.ts";

type Indices = ArrayLike<number>;

export class Runtime implements FindingContext {
  readonly report: Report;
  readonly clocks: Clocks;
  /** What generated code calls where copies are touched too early. */
  readonly copies = new PipelineFindings(this);
  readonly flights: Flights;
  readonly phases: Phases;
  readonly #bindings: readonly Binding[];
  readonly #sites: readonly Node[];
  readonly #counts: readonly [number, number, number];
  /** When each workgroup of the launch began, ascending, and its linear index. */
  readonly #began: { time: number; workgroup: number }[] = [];
  readonly #withClocks: boolean;
  readonly #invocations: number;
  /** What could order accesses of one workgroup. */
  readonly #ordersHere: string;
  #workgroup: WorkgroupId = [0, 0, 0];

  constructor(
    report: Report,
    bindings: readonly Binding[],
    sites: readonly Node[],
    counts: readonly [number, number, number],
    subgroups: readonly Subgroup[],
    phaseBarriers: readonly PhaseBarrier[],
    withClocks: boolean,
  ) {
    this.report = report;
    this.#bindings = bindings;
    const phases = phaseBarriers.reduce((sum, { count }) => sum + count, 0);
    this.clocks = new Clocks(subgroups, bindings.length, phases);
    this.flights = new Flights(subgroups, sites, this.copies);
    this.phases = new Phases(phaseBarriers, subgroups, this.clocks, withClocks, this.flights, this.copies);
    this.#withClocks = withClocks;
    this.#invocations = subgroups.reduce((sum, { lanes }) => sum + lanes, 0);
    this.#ordersHere = phaseBarriers.length > 0 ? "no barrier or phase" : "no barrier";
    for (const { storage } of bindings) storage.readers.forget();
    this.#sites = sites;
    this.#counts = counts;
  }

  beginWorkgroup(workgroup: number, time: number): void {
    this.#began.push({ time, workgroup });
    this.#workgroup = this.workgroupId(workgroup);
    this.phases.beginWorkgroup();
    if (!this.#withClocks) return;
    this.clocks.beginWorkgroup(workgroup, time);
    for (const [k, { space }] of this.#bindings.entries()) if (space === "shared") this.clocks.forget(k);
    this.#forgetReaders();
  }

  /** @param finished whether the workgroup came to its end */
  endWorkgroup(finished: boolean): void {
    for (const k of this.flights.endWorkgroup(finished)) this.#storage(k).land();
  }

  /** The workgroup met at this time. */
  barrier(time: number): void {
    if (!this.#withClocks) return;
    this.clocks.barrier(time);
    this.#forgetReaders();
  }

  /** Nobody races any more with those who read shared memory until now. */
  #forgetReaders(): void {
    for (const { space, storage } of this.#bindings) if (space === "shared") storage.readers.forget();
  }

  workgroupId(linear: number): WorkgroupId {
    const [x, y] = this.#counts;
    return [linear % x, Math.floor(linear / x) % y, Math.floor(linear / (x * y))];
  }

  /** A side of a finding that some lanes of the present workgroup took. */
  side(action: string, node: Node, lanes: readonly number[]): Side {
    return { action, site: node.site, lanes, workgroup: this.#workgroup };
  }

  /** Local indices of active lanes. */
  lanesOf(S: Subgroup, mask: ArrayLike<number>): number[] {
    return lanesWhere(S, (lane) => mask[lane] !== 0);
  }

  /** Two accesses to one element that nothing orders; the earlier one is told by its mark and time (memory.ts). */
  race(
    k: number,
    element: number,
    S: Subgroup,
    lane: number,
    site: number,
    request: number,
    action: string,
    otherAction: string,
    mark: number,
    time: number,
  ): void {
    const workgroup = this.workgroupId(this.#workgroupAt(time));
    const otherSite = Math.floor(mark / WHO);
    let invocation = mark & (WHO - 1);
    if (invocation >= this.#invocations) {
      // A phase barrier landed it; whoever started the copy may have waited for it too.
      const { carriers } = this.#storage(k);
      invocation = carriers[element * 2] as number;
      const generation = carriers[element * 2 + 1] as number;
      if (this.clocks.knowsWaited(S.known[lane] as Known, invocation, generation)) return;
    }
    const other = {
      invocation,
      site: otherSite,
      action: this.node(otherSite).kind === "asyncCopy" ? "copy" : otherAction,
      workgroup,
    };
    this.#addRace(k, element, S.base + lane, site, request, action, other);
  }

  awaitCopies(S: Subgroup, mask: Uint8Array, newer: number): void {
    const seen = this.flights.await(S, mask, newer);
    if (seen.length === 0 || !this.#withClocks) return;
    for (const { lane, generation } of seen) this.clocks.learnWaited(S, lane, generation);
    this.clocks.agree(S);
  }

  /** Whether a write by an earlier workgroup is ordered before what a lane does now. */
  knows(known: Known, mark: number, time: number): boolean {
    return this.clocks.knows(known, this.#workgroupAt(time), mark & (WHO - 1), time);
  }

  /** An element with readers is written. */
  clearReaders(
    k: number,
    element: number,
    S: Subgroup,
    lane: number,
    site: number,
    request: number,
    action: string,
    group: number,
    launch: number,
  ): void {
    const writer = { known: S.known[lane] as Known, invocation: S.base + lane, group, launch };
    const reader = this.#storage(k).readers.clear(element, writer, this.clocks, (time) =>
      this.#workgroupAt(time),
    );
    if (reader !== null)
      this.race(k, element, S, lane, site, request, action, "read", reader.mark, reader.time);
  }

  uninitialised(k: number, element: number, S: Subgroup, lane: number, site: number, request: number): void {
    const node = this.node(site);
    const message = `${this.name(k)}[${element}] is read before anything was written there in this workgroup`;
    const action = node.kind === "atomic" ? "atomic" : "read";
    this.report.add("uninitialised-shared-memory", message, request, [
      this.side(action, node, [S.base + lane]),
    ]);
  }

  /** Reports accesses outside the memory or misaligned, marks the other active lanes in `ok`, returns their number. */
  guard(
    k: number,
    indices: Indices,
    offset: number,
    S: Subgroup,
    mask: Uint8Array,
    active: number,
    width: number,
    site: number,
    request: number,
    action: string,
    ok: Uint8Array,
  ): number {
    let some = 0;
    for (let lane = 0; lane < ok.length; lane++) {
      const isActive = active === ok.length || mask[lane] !== 0;
      const index = indices[offset + lane] as number;
      const inside = this.#storage(k).array.length - width >= index && index >= 0;
      const aligned = index % width === 0;
      ok[lane] = isActive && inside && aligned ? 1 : 0;
      some += ok[lane] as number;
      if (!isActive) continue;
      if (!aligned) this.#misaligned(k, index, width, S, lane, site, request, action);
      else if (!inside) this.outOfBounds(k, index, width, S, lane, site, request, action);
    }
    return some;
  }

  /** The same for one index that all lanes share and that is known to be in error. */
  guardUniform(
    k: number,
    index: number,
    S: Subgroup,
    mask: Uint8Array,
    active: number,
    width: number,
    site: number,
    request: number,
  ): void {
    const indices = new Array<number>(mask.length).fill(index);
    this.guard(k, indices, 0, S, mask, active, width, site, request, "read", new Uint8Array(mask.length));
  }

  outOfBounds(
    k: number,
    index: number,
    width: number,
    S: Subgroup,
    lane: number,
    site: number,
    request: number,
    action: string,
  ): void {
    const elements = width === 1 ? `element ${index}` : `elements ${index} to ${index + width - 1}`;
    const length = this.#storage(k).array.length;
    const message = `${this.name(k)} has ${length} elements; ${elements} ${width === 1 ? "is" : "are"} outside`;
    this.report.add("out-of-bounds", message, request, [this.side(action, this.node(site), [S.base + lane])]);
  }

  #misaligned(
    k: number,
    index: number,
    width: number,
    S: Subgroup,
    lane: number,
    site: number,
    request: number,
    action: string,
  ): void {
    const message = `${width === 8 ? "an" : "a"} ${width}-element access to ${this.name(k)} starts at ${index}, which is no multiple of ${width}`;
    this.report.add("misaligned-access", message, request, [
      this.side(action, this.node(site), [S.base + lane]),
    ]);
  }

  /** @param divisors registers at `offset`, or null where all lanes divide by 0 */
  divisionByZero(
    S: Subgroup,
    divisors: Indices | null,
    offset: number,
    mask: Uint8Array,
    site: number,
    request: number,
  ): void {
    const node = this.node(site);
    const lanes = lanesWhere(
      S,
      (lane) => mask[lane] !== 0 && (divisors === null || divisors[offset + lane] === 0),
    );
    const message = `the divisor of an integer ${node.kind === "op" ? node.op : "division"} is 0`;
    this.report.add("division-by-zero", message, request, [this.side("division", node, lanes)]);
  }

  uninitialisedVariable(S: Subgroup, set: Uint8Array, mask: Uint8Array, site: number, request: number): void {
    const node = this.node(site);
    const name = node.kind === "varGet" ? node.variable.name : "";
    const message = `variable ${name ? `"${name}" ` : ""}is read before it was set`;
    const lanes = lanesWhere(S, (lane) => mask[lane] !== 0 && set[lane] === 0);
    this.report.add("uninitialised-variable", message, request, [this.side("read", node, lanes)]);
  }

  invalidStep(S: Subgroup, mask: Uint8Array, step: number, site: number, request: number): void {
    for (let lane = 0; lane < S.lanes; lane++)
      if (mask[lane] !== 0) this.invalidLaneStep(S, lane, step, site, request);
  }

  invalidLaneStep(S: Subgroup, lane: number, step: number, site: number, request: number): void {
    const node = this.node(site);
    const way = node.kind === "for" ? node.direction : "up";
    const message = `a loop that counts ${way} has a step of ${step} and would not end`;
    this.report.add("invalid-loop-step", message, request, [this.side("loop", node, [S.base + lane])]);
  }

  divergentFence(S: Subgroup, mask: Uint8Array, site: number, request: number): void {
    const lanes = this.lanesOf(S, mask);
    const message =
      `of the ${S.lanes} lanes of subgroup ${S.index} ${lanes.length} ${lanes.length === 1 ? "is" : "are"} at a ` +
      `subgroup barrier, the others elsewhere`;
    this.report.add("divergent-barrier", message, request, [this.side("barrier", this.node(site), lanes)]);
  }

  inactiveLane(S: Subgroup, lane: number, from: number, site: number, request: number): void {
    const node = this.node(site);
    const outside = from < 0 || from >= S.mask.length ? "outside the subgroup" : "not active";
    const op = node.kind === "subgroup" ? node.op : "subgroup operation";
    const message = `${op} reads lane ${from}, which is ${outside}`;
    this.report.add("inactive-lane-read", message, request, [this.side("read", node, [S.base + lane])]);
  }

  #storage(k: number): Binding["storage"] {
    return (this.#bindings[k] as Binding).storage;
  }

  node(site: number): Node {
    return this.#sites[site] as Node;
  }

  name(k: number): string {
    const { space, name } = this.#bindings[k] as Binding;
    return space === "shared" ? `shared "${name}"` : `buffer "${name}"`;
  }

  #workgroupAt(time: number): number {
    let low = 0;
    let high = this.#began.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#began[middle]?.time as number) <= time) low = middle;
      else high = middle - 1;
    }
    return this.#began[low]?.workgroup ?? 0;
  }

  #addRace(
    k: number,
    element: number,
    who: number,
    site: number,
    request: number,
    action: string,
    other: { invocation: number; site: number; action: string; workgroup: WorkgroupId },
  ): void {
    const same = this.#workgroup.every((id, axis) => id === other.workgroup[axis]);
    const place = same ? "" : ` of workgroup [${other.workgroup.join(", ")}]`;
    const order = same ? this.#ordersHere : "no release and acquire";
    const message =
      `data race on ${this.name(k)}[${element}]: ${action} by lane ${who}, ${other.action} by lane ` +
      `${other.invocation}${place}, and ${order} between them`;
    this.report.add("data-race", message, request, [
      this.side(action, this.node(site), [who]),
      {
        action: other.action,
        site: this.node(other.site).site,
        lanes: [other.invocation],
        workgroup: other.workgroup,
      },
    ]);
  }
}
