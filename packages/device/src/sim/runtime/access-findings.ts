/** Findings about single accesses and about lanes that should act together: what is wrong, in words. */

import type { FindingKind } from "../../core/findings.ts";
import type { Access, LaunchContext, Request } from "./context.ts";
import { valueOf } from "./phases.ts";
import type { LaneOperand } from "./phases.ts";
import { LaneSet } from "./subgroup.ts";
import type { Subgroup } from "./subgroup.ts";

/** A place that has a bound for one dimension of what it accesses. */
interface DimensionPlace {
  readonly site: number;
  readonly memory: number;
  readonly dimension: number;
  readonly width: number;
  readonly by: "extent" | "stride";
}

export class AccessFindings {
  readonly #context: LaunchContext;

  constructor(context: LaunchContext) {
    this.#context = context;
  }

  /** Reports accesses outside the memory or misaligned; returns the other active lanes. */
  keepInside(request: Request): LaneSet {
    const { subgroup, active, memory, indices, first, width, site, action } = request;
    const { length } = this.#context.storage(memory).array;
    const inside = LaneSet.empty(active.mask.length);
    for (let lane = 0; lane < subgroup.lanes; lane++) {
      if (active.mask[lane] === 0) continue;
      const element = indices[first + lane] as number;
      const access: Access = { subgroup, lane, site, action, memory, element };
      if (element % width !== 0) this.#misaligned(access, width);
      else if (length - width >= element && element >= 0) inside.add(lane);
      else this.outOfBounds(access, width);
    }
    return inside;
  }

  /** The same for one index that all lanes share and that is known to be in error. */
  sharedIndexOutside(request: Omit<Request, "indices" | "first">, index: number): void {
    const indices = new Array<number>(request.active.mask.length).fill(index);
    this.keepInside({ ...request, indices, first: 0 });
  }

  /** Indices of one dimension that may be beyond its extent, though inside the memory. */
  beyondExtent(
    subgroup: Subgroup,
    active: LaneSet,
    place: DimensionPlace,
    index: LaneOperand,
    extent: LaneOperand,
  ): void {
    const { site, memory, dimension, width, by } = place;
    const { kind } = this.#context.node(site);
    const action = kind === "store" ? "write" : kind === "asyncCopy" ? "copy" : "read";
    let isFirst = true;
    for (let lane = 0; lane < subgroup.lanes; lane++) {
      if (active.mask[lane] === 0) continue;
      const [at, end] = [valueOf(index, lane), valueOf(extent, lane)];
      if ((at >= 0 && at <= end - width) || (by === "stride" && end <= 1)) continue;
      if (isFirst) this.#context.time.instruction++;
      isFirst = false;
      const what =
        by === "extent"
          ? `is outside its extent of ${end}`
          : `leaves the row, since rows are ${end} apart (a view whose rows overlap says so with extents)`;
      const message = `index ${at} of dimension ${dimension} of ${this.#context.nameOf(memory)} ${what}`;
      this.#add("out-of-bounds", message, { subgroup, lane, site, action, memory, element: at });
    }
  }

  outOfBounds(access: Access, width: number): void {
    const { memory, element } = access;
    const elements = width === 1 ? `element ${element}` : `elements ${element} to ${element + width - 1}`;
    const { length } = this.#context.storage(memory).array;
    const message = `${this.#context.nameOf(memory)} has ${length} elements; ${elements} ${width === 1 ? "is" : "are"} outside`;
    this.#add("out-of-bounds", message, access);
  }

  #misaligned(access: Access, width: number): void {
    const { memory, element } = access;
    const message = `${width === 8 ? "an" : "a"} ${width}-element access to ${this.#context.nameOf(memory)} starts at ${element}, which is not a multiple of ${width}`;
    this.#add("misaligned-access", message, access);
  }

  /** A place gives a value that is not determined: a finding where it reaches something (shadows.ts). */
  indeterminate(site: number): void {
    this.#context.gathered.indeterminate.add(this.#context.node(site));
  }

  /** An element that nobody has written is loaded, copied or changed by an atomic operation. */
  uninitialised(access: Access): void {
    const { memory, element, site } = access;
    const { kind } = this.#context.node(site);
    if (kind === "load" || kind === "uniformLoad") return this.indeterminate(site);
    const isShared = this.#context.bindings[memory]?.space === "shared";
    const message = `${this.#context.nameOf(memory)}[${element}] is read before anything was written there${isShared ? " in this workgroup" : ""}`;
    this.#add(isShared ? "uninitialised-shared-memory" : "uninitialised-global-memory", message, access);
  }

  #add(kind: FindingKind, message: string, access: Access): void {
    const { report, time } = this.#context;
    report.add(kind, message, time.instruction, [this.#context.sideOf(access)]);
  }

  /** @param divisors by lane, or null where all lanes divide by 0 */
  divisionByZero(
    subgroup: Subgroup,
    active: LaneSet,
    site: number,
    divisors: ArrayLike<number> | null,
  ): void {
    const { report, time } = this.#context;
    const node = this.#context.node(site);
    const lanes = subgroup.invocationsWhere(
      (lane) => active.mask[lane] !== 0 && (divisors === null || divisors[lane] === 0),
    );
    const message = `the divisor of an integer ${node.kind === "op" ? node.op : "division"} is 0`;
    report.add("division-by-zero", message, time.instruction, [this.#context.side("division", site, lanes)]);
  }

  invalidStep(subgroup: Subgroup, active: LaneSet, site: number, step: number): void {
    for (let lane = 0; lane < subgroup.lanes; lane++)
      if (active.mask[lane] !== 0) this.invalidLaneStep(subgroup, lane, site, step);
  }

  invalidLaneStep(subgroup: Subgroup, lane: number, site: number, step: number): void {
    const { report, time } = this.#context;
    const node = this.#context.node(site);
    const way = node.kind === "for" ? node.direction : "up";
    const message = `a loop that counts ${way} has a step of ${step} and would not end`;
    report.add("invalid-loop-step", message, time.instruction, [
      this.#context.side("loop", site, [subgroup.base + lane]),
    ]);
  }

  divergentSubgroupBarrier(subgroup: Subgroup, active: LaneSet, site: number): void {
    const { report, time } = this.#context;
    const lanes = subgroup.invocationsIn(active);
    const message =
      `of the ${subgroup.lanes} lanes of subgroup ${subgroup.index} ${lanes.length} ${lanes.length === 1 ? "is" : "are"} at a ` +
      `subgroup barrier, the others elsewhere`;
    report.add("divergent-barrier", message, time.instruction, [this.#context.side("barrier", site, lanes)]);
  }

  divergentSubgroupOperation(subgroup: Subgroup, active: LaneSet, site: number): void {
    const { report, time } = this.#context;
    const node = this.#context.node(site);
    const lanes = subgroup.invocationsIn(active);
    const op = node.kind === "subgroup" ? node.op : "operation";
    const message =
      `of the ${subgroup.lanes} lanes of subgroup ${subgroup.index} only ${lanes.length} ${lanes.length === 1 ? "takes" : "take"} ` +
      `part in subgroup.${op}, which combines them all`;
    report.add("divergent-subgroup-operation", message, time.instruction, [
      this.#context.side(op, site, lanes),
    ]);
  }
}
