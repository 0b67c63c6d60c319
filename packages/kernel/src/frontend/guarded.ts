/**
 * Reads that happen only inside an array: `getOr` and `getVecOr`. A read is one branch, with the load inside it and the other
 * value in front of it; a vector that the end of the array cuts is read by single elements, each in a branch of its own.
 */

import { EvolverError } from "@evolver/base";
import type { Site } from "../ir/site.ts";
import type { ElementType, WordType } from "../ir/types.ts";
import { u32 } from "./params.ts";
import { close, type Recorder } from "./recorder.ts";
import {
  lift,
  wrap,
  type Bool,
  type Index,
  type Operand,
  type Scalar,
  type ScalarOf,
  type U32,
} from "./scalar.ts";
import { Var } from "./variable.ts";

/** A number of elements, or a condition, that may be known when the kernel is built. */
type Count = U32 | number;
type Test = Bool | boolean;

/** One dimension: where it is accessed, and where it ends. */
export interface Bound {
  readonly index: Index;
  readonly extent: Index;
}

/** What a guarded read is about. */
export interface Guarded<E extends ElementType> {
  readonly recorder: Recorder;
  readonly site: Site;
  readonly type: E;
  /** Outermost first; the last is the one along which a vector lies. */
  readonly bounds: readonly Bound[];
  /** Reads `width` elements, the first of them `k` behind the index; 1 or all. */
  load(k: number, width: number): readonly ScalarOf<E>[];
}

/** The elements, or `otherwise` for each that is outside. */
export function readOr<E extends ElementType>(
  guarded: Guarded<E>,
  otherwise: readonly Operand<E>[],
): ScalarOf<E>[] {
  const { recorder, site, type, bounds } = guarded;
  const count = otherwise.length;
  return recorder.within(site, () => {
    if (bounds.some(isNeverInside))
      return otherwise.map((value) => wrap<ScalarOf<E>>(lift(recorder, value as Scalar | number, type)));
    const outer = bounds.slice(0, -1).map(({ index, extent }) => isBelow(recorder, index, extent));
    const last = bounds.at(-1) as Bound;
    const left = count === 1 ? null : remaining(recorder, last);
    const whole = left === null ? isBelow(recorder, last.index, last.extent) : isAtLeast(left, count);
    const every = allOf([...outer, whole]);
    if (every === true) return [...guarded.load(0, count)];
    const results = otherwise.map((value, k) => new Var<E>(recorder, type, value, { k, count }));
    const readAll = (): void =>
      guarded.load(0, count).forEach((value, k) => (results[k] as Var<E>).set(value as Operand<E>));
    const readSome = (): void => {
      if (left === null || isAligned(last.extent, count)) return;
      for (let k = 0; k < count - 1; k++)
        when(recorder, site, allOf([...outer, isAtLeast(left, k + 1)]), () =>
          (results[k] as Var<E>).set(guarded.load(k, 1)[0] as Operand<E>),
        );
    };
    when(recorder, site, every, readAll, readSome);
    return results.map((result) => result.get());
  });
}

/** Several loads behind one test, and a value of its own for each elsewhere. */
export function wholeOr(
  recorder: Recorder,
  { index, extent }: Bound,
  load: () => readonly Scalar[],
  otherwise: readonly { readonly type: WordType; readonly value: Scalar | number }[],
): Scalar[] {
  const count = otherwise.length;
  const results = otherwise.map(
    ({ type, value }, k) => new Var(recorder, type, value as Operand<WordType>, { k, count }),
  );
  if (isNeverInside({ index, extent })) return results.map((result) => result.get());
  when(recorder, recorder.place(), isBelow(recorder, index, extent), () => {
    for (const [k, value] of load().entries()) (results[k] as Var<WordType>).set(value as Operand<WordType>);
  });
  return results.map((result) => result.get());
}

/** Whether it is known when the kernel is built that nothing is there. */
const isNeverInside = ({ index, extent }: Bound): boolean =>
  typeof index === "number" && (index < 0 || (typeof extent === "number" && index >= extent));

/** Vectors begin at multiples of their width: where the array ends at one, its end cuts none. */
const isAligned = (extent: Index, width: number): boolean =>
  typeof extent === "number" && extent % width === 0;

/** An index or extent as u32: a negative index is beyond every end, a negative extent is none. */
function unsigned(recorder: Recorder, value: Index, isExtent: boolean): U32 {
  if (typeof value === "number") return wrap(recorder.constant("u32", isExtent ? Math.max(0, value) : value));
  if (value.type === "u32") return value;
  return (isExtent ? value.max(0) : value).bitcast(u32);
}

function isBelow(recorder: Recorder, index: Index, extent: Index): Test {
  if (typeof index === "number" && typeof extent === "number") return index < extent;
  return unsigned(recorder, index, false).lt(unsigned(recorder, extent, true));
}

/** How many elements there are from an index on. */
function remaining(recorder: Recorder, { index, extent }: Bound): Count {
  if (typeof index === "number" && typeof extent === "number") return extent - index;
  const end = unsigned(recorder, extent, true);
  return end.sub(unsigned(recorder, index, false).min(end));
}

const isAtLeast = (count: Count, least: number): Test =>
  typeof count === "number" ? count >= least : count.ge(least);

/** All of the tests; those that are known when the kernel is built are no part of it. */
function allOf(tests: readonly Test[]): Test {
  const [first, ...rest] = tests.filter((test): test is Bool => typeof test !== "boolean");
  return first === undefined ? true : rest.reduce((all, test) => all.and(test), first);
}

function when(
  recorder: Recorder,
  site: Site,
  test: Test,
  then: () => void,
  otherwise: () => void = () => {},
): void {
  if (typeof test === "boolean") return test ? then() : otherwise();
  const condition = recorder.use(test, site);
  const [inside, outside] = [then, otherwise].map((record) =>
    close(recorder.block("a guarded read", false, record).frame),
  );
  if (inside && outside) recorder.emit({ kind: "if", condition, then: inside, else: outside }, site);
}

/** The values for the elements that are outside: one for all, or one for each. */
export function perElement<E extends ElementType>(
  otherwise: Operand<E> | readonly Operand<E>[],
  width: number,
  { recorder, site, type }: Pick<Guarded<E>, "recorder" | "site" | "type">,
): Operand<E>[] {
  const given = Array.isArray(otherwise) ? (otherwise as readonly Operand<E>[]) : null;
  if (given !== null && given.length !== width)
    throw new EvolverError("INVALID_VECTOR", `a vector of ${given.length} cannot stand for one of ${width}`, {
      where: [site.location],
      hint: `give a vector of ${width}, or one value for all`,
    });
  if (given !== null) return [...given];
  const one = lift(recorder, otherwise as Scalar | number, type);
  return Array.from({ length: width }, () => wrap<ScalarOf<E>>(one) as Operand<E>);
}
