/**
 * What generated code calls where something is wrong, or where happens-before needs vector clocks. One for each
 * launch of a program. Everything here may be slow but the clocks.
 */

import type { Node } from "@evolver/kernel";
import { Clocks } from "./clocks.ts";
import type { Conflict, History } from "./clocks.ts";
import { WHO } from "./memory.ts";
import type { Report, Side, WorkgroupId } from "./report.ts";
import type { Binding } from "./storage.ts";
import type { Subgroup } from "./subgroup.ts";

type Indices = ArrayLike<number>;

export class Runtime {
  readonly report: Report;
  readonly clocks = new Clocks();
  readonly #bindings: readonly Binding[];
  /** For vector clocks: one for each binding, shared by those of one storage. */
  readonly #histories: readonly History[];
  readonly #sites: readonly Node[];
  readonly #counts: readonly [number, number, number];
  /** When each workgroup of the launch began, ascending, and its linear index. */
  readonly #began: { time: number; workgroup: number }[] = [];
  #workgroup: WorkgroupId = [0, 0, 0];

  constructor(
    report: Report,
    bindings: readonly Binding[],
    sites: readonly Node[],
    counts: readonly [number, number, number],
  ) {
    this.report = report;
    this.#bindings = bindings;
    const histories = new Map<object, History>(bindings.map(({ storage }) => [storage, new Map()]));
    this.#histories = bindings.map(({ storage }) => histories.get(storage) as History);
    this.#sites = sites;
    this.#counts = counts;
  }

  beginWorkgroup(workgroup: number, time: number, invocations: number, withClocks: boolean): void {
    this.#began.push({ time, workgroup });
    this.#workgroup = this.workgroupId(workgroup);
    if (!withClocks) return;
    this.clocks.beginWorkgroup(workgroup, invocations);
    for (const [k, { space }] of this.#bindings.entries()) if (space === "shared") this.#history(k).clear();
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
    const other = {
      invocation: mark & (WHO - 1),
      site: Math.floor(mark / WHO),
      action: otherAction,
      workgroup,
    };
    this.#addRace(k, element, S.base + lane, site, request, action, other);
  }

  clockRead(k: number, element: number, S: Subgroup, lane: number, site: number, request: number): void {
    const who = S.base + lane;
    this.#addConflict(
      k,
      element,
      who,
      site,
      request,
      "read",
      this.clocks.read(this.#history(k), element, who, site),
    );
  }

  clockWrite(k: number, element: number, S: Subgroup, lane: number, site: number, request: number): void {
    const who = S.base + lane;
    this.#addConflict(
      k,
      element,
      who,
      site,
      request,
      "write",
      this.clocks.write(this.#history(k), element, who, site),
    );
  }

  clockAtomic(
    k: number,
    element: number,
    S: Subgroup,
    lane: number,
    site: number,
    request: number,
    order: string,
    writes: boolean,
    modifies: boolean,
  ): void {
    const who = S.base + lane;
    const conflict = this.clocks.atomic(this.#history(k), element, who, site, order, writes, modifies);
    this.#addConflict(k, element, who, site, request, "atomic", conflict);
  }

  uninitialised(k: number, element: number, S: Subgroup, lane: number, site: number, request: number): void {
    const node = this.#site(site);
    const message = `${this.#name(k)}[${element}] is read before anything was written there in this workgroup`;
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
    const message = `${this.#name(k)} has ${length} elements; ${elements} ${width === 1 ? "is" : "are"} outside`;
    this.report.add("out-of-bounds", message, request, [
      this.side(action, this.#site(site), [S.base + lane]),
    ]);
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
    const message = `${width === 8 ? "an" : "a"} ${width}-element access to ${this.#name(k)} starts at ${index}, which is no multiple of ${width}`;
    this.report.add("misaligned-access", message, request, [
      this.side(action, this.#site(site), [S.base + lane]),
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
    const node = this.#site(site);
    const lanes = lanesWhere(
      S,
      (lane) => mask[lane] !== 0 && (divisors === null || divisors[offset + lane] === 0),
    );
    const message = `the divisor of an integer ${node.kind === "op" ? node.op : "division"} is 0`;
    this.report.add("division-by-zero", message, request, [this.side("division", node, lanes)]);
  }

  uninitialisedVariable(S: Subgroup, set: Uint8Array, mask: Uint8Array, site: number, request: number): void {
    const node = this.#site(site);
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
    const node = this.#site(site);
    const way = node.kind === "for" ? node.direction : "up";
    const message = `a loop that counts ${way} has a step of ${step} and would not end`;
    this.report.add("invalid-loop-step", message, request, [this.side("loop", node, [S.base + lane])]);
  }

  inactiveLane(S: Subgroup, lane: number, from: number, site: number, request: number): void {
    const node = this.#site(site);
    const outside = from < 0 || from >= S.mask.length ? "outside the subgroup" : "not active";
    const op = node.kind === "subgroup" ? node.op : "subgroup operation";
    const message = `${op} reads lane ${from}, which is ${outside}`;
    this.report.add("inactive-lane-read", message, request, [this.side("read", node, [S.base + lane])]);
  }

  #history(k: number): History {
    return this.#histories[k] as History;
  }

  #storage(k: number): Binding["storage"] {
    return (this.#bindings[k] as Binding).storage;
  }

  #site(site: number): Node {
    return this.#sites[site] as Node;
  }

  #name(k: number): string {
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

  #addConflict(
    k: number,
    element: number,
    who: number,
    site: number,
    request: number,
    action: string,
    conflict: Conflict | null,
  ): void {
    if (conflict === null) return;
    const { other } = conflict;
    const workgroup = this.workgroupId(other.workgroup);
    this.#addRace(k, element, who, site, request, action, { ...other, action: conflict.action, workgroup });
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
    const order = same ? "no barrier" : "no release and acquire";
    const message =
      `data race on ${this.#name(k)}[${element}]: ${action} by lane ${who}, ${other.action} by lane ` +
      `${other.invocation}${place}, and ${order} between them`;
    this.report.add("data-race", message, request, [
      this.side(action, this.#site(site), [who]),
      {
        action: other.action,
        site: this.#site(other.site).site,
        lanes: [other.invocation],
        workgroup: other.workgroup,
      },
    ]);
  }
}

/** Local indices of the lanes of a subgroup for which something holds. */
export function lanesWhere(S: Subgroup, holds: (lane: number) => boolean): number[] {
  const lanes: number[] = [];
  for (let lane = 0; lane < S.lanes; lane++) if (holds(lane)) lanes.push(S.base + lane);
  return lanes;
}
