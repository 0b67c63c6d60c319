/**
 * Indeterminate values while a kernel runs: what generated code calls to pass their shadows on (codegen/shadows.ts), and the
 * findings where one reaches a result. A shadow is 0, or an access id plus 1: who read where what was not there.
 */

import type { Finding } from "../../core/findings.ts";
import { SITE_STRIDE, actorOf, siteOf } from "./access-id.ts";
import type { LaunchContext } from "./context.ts";
import type { Origin } from "./gathered.ts";
import { valueOf } from "./phases.ts";
import type { LaneOperand } from "./phases.ts";
import type { LaneSet, Subgroup } from "./subgroup.ts";
import { laneRead } from "./subgroup-operations.ts";
import type { LaneReadOp } from "./subgroup-operations.ts";

/** A place where memory is accessed. */
interface AccessPlace {
  readonly site: number;
  readonly memory: number;
  readonly isOrigin?: boolean;
}

/** A place where lanes read other lanes; the numbers are positions of shadows, or negative. */
interface LanePlace {
  readonly site: number;
  readonly op: LaneReadOp;
  readonly operand: number;
  readonly by: number;
  readonly result: number;
  readonly isOrigin: boolean;
}

/** A place that a value reaches, and what it does there. */
interface UsePlace {
  readonly site: number;
  readonly what: string;
}

export class Shadows {
  readonly #context: LaunchContext;

  constructor(context: LaunchContext) {
    this.#context = context;
  }

  /** The result of arithmetic. */
  join({ shadow, all }: Subgroup, operands: readonly number[], result: number): void {
    for (let lane = 0; lane < all.mask.length; lane++) {
      let found = 0;
      for (const from of operands) found ||= shadow[from + lane] as number;
      shadow[result + lane] = found;
    }
  }

  /** The chosen side's, unless the choice is indeterminate. */
  select(
    { shadow, all }: Subgroup,
    [condition, then, otherwise]: readonly [number, number, number],
    choice: LaneOperand,
    result: number,
  ): void {
    for (let lane = 0; lane < all.mask.length; lane++) {
      const chosen = valueOf(choice, lane) !== 0 ? then : otherwise;
      shadow[result + lane] = at(shadow, condition, lane) || at(shadow, chosen, lane);
    }
  }

  /** An operation that a determinate operand may decide alone: a product with 0, for example. */
  logical(
    { shadow, all }: Subgroup,
    [ofA, ofB]: readonly [number, number],
    { a, b, decisive }: { readonly a: LaneOperand; readonly b: LaneOperand; readonly decisive: number },
    result: number,
  ): void {
    for (let lane = 0; lane < all.mask.length; lane++) {
      const [left, right] = [at(shadow, ofA, lane), at(shadow, ofB, lane)];
      const decided =
        (left === 0 && valueOf(a, lane) === decisive) || (right === 0 && valueOf(b, lane) === decisive);
      shadow[result + lane] = decided ? 0 : left || right;
    }
  }

  assign({ shadow }: Subgroup, { mask }: LaneSet, from: number, to: number): void {
    for (let lane = 0; lane < mask.length; lane++)
      if (mask[lane] !== 0) shadow[to + lane] = at(shadow, from, lane);
  }

  /** Lanes for which it is not determined whether they set the variable. */
  spread({ shadow }: Subgroup, { mask }: LaneSet, from: number, to: number): void {
    for (let lane = 0; lane < mask.length; lane++)
      if (mask[lane] !== 0) shadow[to + lane] ||= shadow[from + lane] as number;
  }

  /** @param place `set` are the lanes that have set the variable */
  variable(
    subgroup: Subgroup,
    { mask }: LaneSet,
    { site, set }: { readonly site: number; readonly set: LaneSet },
    from: number,
    to: number,
  ): void {
    const { shadow } = subgroup;
    const node = this.#context.node(site);
    const name = node.kind === "varGet" && node.variable.name ? `"${node.variable.name}" ` : "";
    for (let lane = 0; lane < mask.length; lane++) {
      if (mask[lane] === 0) continue;
      shadow[to + lane] =
        set.mask[lane] === 0
          ? this.#origin(
              subgroup,
              lane,
              site,
              "uninitialised-variable",
              () => `variable ${name}is read before it was set`,
            )
          : at(shadow, from, lane);
    }
  }

  /** @param result one position for each element */
  load(
    subgroup: Subgroup,
    { mask }: LaneSet,
    { site, memory, isOrigin }: AccessPlace,
    result: readonly number[],
    index: LaneOperand,
  ): void {
    const { shadow } = subgroup;
    const storage = this.#context.storage(memory);
    for (let lane = 0; lane < mask.length; lane++) {
      if (mask[lane] === 0) continue;
      for (const [j, to] of result.entries()) {
        const element = valueOf(index, lane) + j;
        const isMissing = isOrigin === true && this.#context.isUnwritten(memory, element);
        shadow[to + lane] = isMissing
          ? this.#unwritten(subgroup, lane, site, memory, element)
          : (storage.shadow[element] ?? 0);
      }
    }
  }

  /** @param from one position for each element */
  store(
    { shadow }: Subgroup,
    { mask }: LaneSet,
    { memory }: AccessPlace,
    from: readonly number[],
    index: LaneOperand,
  ): void {
    const storage = this.#context.storage(memory);
    storage.prepareShadow();
    for (let lane = 0; lane < mask.length; lane++)
      if (mask[lane] !== 0)
        for (const [j, position] of from.entries())
          storage.shadow[valueOf(index, lane) + j] = at(shadow, position, lane);
  }

  /** Lanes read others. */
  lane(subgroup: Subgroup, { mask }: LaneSet, place: LanePlace, by: LaneOperand): void {
    const { shadow } = subgroup;
    const { site, op, operand, result } = place;
    // The result may lie where the operand did.
    const found = new Array<number>(mask.length).fill(0);
    for (let lane = 0; lane < mask.length; lane++) {
      if (mask[lane] === 0) continue;
      const from = laneRead(op, lane, valueOf(by, lane) >>> 0);
      const isThere = from >= 0 && from < mask.length && mask[from] !== 0;
      const missing = from < 0 || from >= mask.length ? "outside the subgroup" : "not active";
      const own = isThere
        ? at(shadow, operand, from)
        : place.isOrigin
          ? this.#origin(
              subgroup,
              lane,
              site,
              "inactive-lane-read",
              () => `${op} reads lane ${from}, which is ${missing}`,
            )
          : 0;
      found[lane] = at(shadow, place.by, lane) || own;
    }
    for (let lane = 0; lane < mask.length; lane++)
      if (mask[lane] !== 0) shadow[result + lane] = found[lane] as number;
  }

  /** All lanes get what active ones make together, or what the first of them has. */
  combine({ shadow }: Subgroup, { mask }: LaneSet, from: number, onlyFirst: boolean, result: number): void {
    let found = 0;
    for (let lane = 0; lane < mask.length; lane++) {
      if (mask[lane] === 0) continue;
      found ||= at(shadow, from, lane);
      if (onlyFirst) break;
    }
    for (let lane = 0; lane < mask.length; lane++) shadow[result + lane] = found;
  }

  /** Each lane gets what those before it make together, and with `shift` 0 itself. */
  scan({ shadow }: Subgroup, { mask }: LaneSet, from: number, shift: number, result: number): void {
    let found = 0;
    for (let lane = 0; lane < mask.length; lane++) {
      const own = mask[lane] !== 0 ? at(shadow, from, lane) : 0;
      const before = found;
      found ||= own;
      shadow[result + lane] = shift === 1 ? before : found;
    }
  }

  /** Reports indeterminate values that get here. */
  use(subgroup: Subgroup, { mask }: LaneSet, { site, what }: UsePlace, from: number): void {
    const { report, time } = this.#context;
    const { location } = this.#context.node(site).site;
    let isFirst = true;
    for (let lane = 0; lane < mask.length; lane++) {
      const shadow = subgroup.shadow[from + lane] as number;
      if (mask[lane] === 0 || shadow === 0) continue;
      if (isFirst) time.instruction++;
      isFirst = false;
      const { kind, message } = this.#context.gathered.origins.get(shadow) as Origin;
      const side = this.#context.side("read", siteOf(shadow - 1), [actorOf(shadow - 1)]);
      report.add(kind, `${message}, and the value ${what} in line ${location.line}`, time.instruction, [
        side,
      ]);
    }
  }

  #unwritten(subgroup: Subgroup, lane: number, site: number, memory: number, element: number): number {
    const { space } = this.#context.bindings[memory] ?? { space: "global" };
    const kind = space === "shared" ? "uninitialised-shared-memory" : "uninitialised-global-memory";
    const scope = space === "shared" ? " in this workgroup" : "";
    return this.#origin(
      subgroup,
      lane,
      site,
      kind,
      () => `${this.#context.nameOf(memory)}[${element}] is read before anything was written there${scope}`,
    );
  }

  #origin(
    subgroup: Subgroup,
    lane: number,
    site: number,
    kind: Finding["kind"],
    message: () => string,
  ): number {
    const shadow = site * SITE_STRIDE + subgroup.base + lane + 1;
    const { origins } = this.#context.gathered;
    if (!origins.has(shadow)) origins.set(shadow, { kind, message: message() });
    return shadow;
  }
}

const at = (shadow: Int32Array, position: number, lane: number): number =>
  position < 0 ? 0 : (shadow[position + lane] as number);
