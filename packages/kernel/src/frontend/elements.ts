/** What all arrays in memory share: where an access goes, whether it may be made, and how it is recorded. */

import { EvolverError } from "@evolver/base";
import type { AccessWidth, IndexLimit } from "../ir/nodes.ts";
import type { Site } from "../ir/site.ts";
import { elementBytes } from "../ir/types.ts";
import type { ElementType, Memory, Value } from "../ir/types.ts";
import { perElement, readOr, type Bound } from "./guarded.ts";
import { withArticle } from "./given.ts";
import { note, type Recorder } from "./recorder.ts";
import { lift, Scalar, wrap, type Index, type Offset, type Operand, type ScalarOf } from "./scalar.ts";
import { isVecWidth, noSuchWidth } from "./vector.ts";

const MAX_ACCESS_BYTES = 16;

/** Turns the indices that a user writes into an element offset. */
export interface Addressing {
  readonly rank: number;
  offset(indices: readonly Index[]): Index | Offset;
  /** Each dimension with its end, those first that are fixed already; null where the ends are not known. */
  bounds(indices: readonly Index[]): readonly Bound[] | null;
  /** What the simulator checks beside the size of the memory. */
  limits(indices: readonly Index[]): readonly Limit[];
}

/** What an index must stay below (IndexLimit). */
export interface Limit extends Bound, Pick<IndexLimit, "dimension" | "by"> {
  /** Whether the elements of a vector lie along this dimension. */
  readonly isAlong: boolean;
}

export const zipped = (indices: readonly Index[], extents: readonly Index[]): readonly Bound[] =>
  indices.map((index, k) => ({ index, extent: extents[k] as Index }));

/** One index, up to an end that is asked for where it is needed. */
export const flat = (end: (() => Index) | null): Addressing => ({
  rank: 1,
  offset: ([index]) => index as Index,
  bounds: ([index]) => (end === null ? null : [{ index: index as Index, extent: end() }]),
  limits: () => [],
});

/** Elements in memory, addressed by one or more indices. All access goes through here. */
export abstract class Elements<E extends ElementType> {
  protected readonly recorder: Recorder;
  protected readonly memory: Memory;
  protected readonly addressing: Addressing;

  constructor(recorder: Recorder, memory: Memory, addressing: Addressing) {
    this.recorder = recorder;
    this.memory = memory;
    this.addressing = addressing;
  }

  protected load(indices: readonly Index[], width: AccessWidth, site = this.recorder.place()): ScalarOf<E>[] {
    this.#checkWidth(width, site);
    this.#checkAccess("read", site);
    const index = this.address(indices, site);
    const results = Array.from({ length: width }, () => this.recorder.define(this.memory.element, site));
    const values = Object.freeze(results.map((result) => result.value));
    const limits = this.limits(indices, width, site);
    this.recorder.emit({ kind: "load", memory: this.memory, index, results: values, ...limits }, site);
    return results.map((result) => wrap(result));
  }

  /** The elements that are inside; for the others the value given for them. */
  protected loadOr(
    indices: readonly Index[],
    width: AccessWidth,
    otherwise: Operand<E> | readonly Operand<E>[],
    site: Site,
  ): ScalarOf<E>[] {
    const { recorder, memory } = this;
    this.#checkWidth(width, site);
    this.#checkAccess("read", site);
    this.#checkRank(indices, site);
    const bounds = recorder.within(site, () => this.addressing.bounds(indices));
    if (bounds === null)
      throw new EvolverError("NO_EXTENTS", `this view of "${memory.name}" does not say where it ends`, {
        where: [site.location],
        hint: "give view() its extents, one for each stride",
      });
    const about = { recorder, site, type: memory.element as E };
    const last = indices.at(-1) as Index;
    const behind = (k: number): Index => (typeof last === "number" ? last + k : last.add(k));
    const load = (k: number, count: number): ScalarOf<E>[] =>
      this.load([...indices.slice(0, -1), behind(k)], count as AccessWidth, site);
    return readOr({ ...about, bounds, load }, perElement(otherwise, width, about));
  }

  protected store(indices: readonly Index[], operands: readonly Operand<E>[]): void {
    const site = this.recorder.place();
    this.#checkWidth(operands.length, site);
    this.#checkAccess("write", site);
    const index = this.address(indices, site);
    const values = Object.freeze(operands.map((operand) => this.lifted(operand, site)));
    const limits = this.limits(indices, values.length, site);
    this.recorder.emit({ kind: "store", memory: this.memory, index, values, ...limits }, site);
  }

  protected address(indices: readonly Index[], site: Site): Value {
    this.#checkRank(indices, site);
    for (const index of indices) this.#checkIndex(index, site);
    return this.recorder.within(site, () => {
      const offset = this.addressing.offset(indices);
      return this.recorder.use(offset instanceof Scalar ? offset : lift(this.recorder, offset, "u32"), site);
    });
  }

  /** What the simulator checks of the indices of an access of `width` elements. */
  limits(indices: readonly Index[], width: number, site: Site): { readonly limits?: readonly IndexLimit[] } {
    const known = (index: Index): Value | number =>
      typeof index === "number" ? index : this.recorder.use(index, site);
    const limits = this.addressing.limits(indices).flatMap((limit): IndexLimit[] => {
      const { dimension, by } = limit;
      const span = limit.isAlong ? width : 1;
      const [index, extent] = [known(limit.index), known(limit.extent)];
      const areNumbers = typeof index === "number" && typeof extent === "number";
      const isInside = areNumbers && index >= 0 && index + span <= extent;
      return isInside ? [] : [{ memory: this.memory, dimension, index, width: span, extent, by }];
    });
    return limits.length === 0 ? {} : { limits: Object.freeze(limits) };
  }

  #checkRank(indices: readonly Index[], site: Site): void {
    if (indices.length !== this.addressing.rank) {
      throw new EvolverError(
        "INVALID_INDEX",
        `"${this.memory.name}" takes ${this.addressing.rank} ${this.addressing.rank === 1 ? "index" : "indices"}, not ${indices.length}`,
        {
          where: [site.location],
          hint: "get takes the indices; set and getOr take the indices, and after them a value",
        },
      );
    }
  }

  #checkIndex(index: unknown, site: Site): void {
    if (index instanceof Scalar) {
      if (index.type === "u32" || index.type === "i32" || index.type === "index") return;
      throw new EvolverError(
        "TYPE_MISMATCH",
        `an index of "${this.memory.name}" is ${withArticle(index.type)}, not an integer`,
        {
          where: [site.location, note(index.site, "made here")],
          hint: "convert it: toU32() or toI32()",
        },
      );
    }
    if (typeof index !== "number" || (Number.isSafeInteger(index) && index >= 0)) return;
    throw new EvolverError("INVALID_INDEX", `${index} is not an index of "${this.memory.name}"`, {
      where: [site.location],
      hint: "indices are whole numbers from 0; getOr may be asked for what lies before",
    });
  }

  protected lifted(operand: Operand<E> | Scalar, site: Site): Value {
    const value = this.recorder.use(
      lift(this.recorder, operand as Scalar | number, this.memory.element),
      site,
    );
    if (value.type === this.memory.element) return value;
    throw new EvolverError(
      "TYPE_MISMATCH",
      `"${this.memory.name}" holds ${this.memory.element}, not ${value.type}`,
      {
        where: [site.location],
        hint: `conversions are explicit: to${this.memory.element.toUpperCase()}()`,
      },
    );
  }

  #checkWidth(width: number, site: Site): void {
    const { name, element } = this.memory;
    if (!isVecWidth(width) && width !== 1) throw noSuchWidth(width, site);
    if (width * elementBytes(element) <= MAX_ACCESS_BYTES) return;
    throw new EvolverError("INVALID_VECTOR", `"${name}" cannot be accessed by ${width} ${element} at once`, {
      where: [site.location],
      hint: "one access moves at most 16 bytes: 4 elements of f32, i32 and u32, 8 of f16 and bf16",
    });
  }

  #checkAccess(action: "read" | "write", site: Site): void {
    const { memory } = this;
    if (memory.space === "shared" || memory.access === "read_write" || memory.access === action) return;
    throw new EvolverError("ACCESS_DENIED", `buffer "${memory.name}" is declared "${memory.access}"`, {
      where: [site.location],
      hint: `declare it buffer(${memory.element}, "read_write") to ${action} it as well`,
    });
  }
}
