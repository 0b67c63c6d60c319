/** Loops whose step has a sign that is known only at run time: they count the distance from where they start. */

import { EvolverError } from "@evolver/base";
import { captureSite, type Site } from "../ir/site.ts";
import { select } from "./functions.ts";
import { wantFunction } from "./given.ts";
import type { Handle, Recorder } from "./recorder.ts";
import { wrap, type I32, type Operand, type U32 } from "./scalar.ts";

/** What the index of a `gpu.for` runs through. */
export interface ForRange<T extends "i32" | "u32"> {
  readonly from: Operand<T>;
  /** Exclusive. */
  readonly to: Operand<T>;
  /** 1 if absent. A negative one counts down, while i > to; 0 is an error. */
  readonly step?: Operand<T>;
  /** Asks the target's compiler to unroll: true for fully, a number for a factor. The simulator ignores it. */
  readonly unroll?: boolean | number;
}

interface Counted {
  /** The loop over the distance, which only counts up. */
  readonly counted: ForRange<"u32">;
  /** The index at a distance. */
  indexAt(done: U32): I32;
}

/** @param bounds from, to and step, all i32 */
export function eitherWay(
  recorder: Recorder,
  site: Site,
  bounds: readonly Handle[],
  unroll: boolean | number = false,
): Counted {
  const [from, to, step] = bounds.map((bound) => wrap(bound)) as [I32, I32, I32];
  return recorder.within(site, () => {
    const isUp = step.gt(0);
    const isAhead = select(isUp, from.lt(to), from.gt(to));
    const distance = select(isUp, to.sub(from), from.sub(to)).toU32();
    const size = select(isUp, step, step.neg()).toU32();
    return {
      counted: { from: 0, to: select(isAhead, distance, 0), step: size, unroll },
      indexAt: (done) =>
        recorder.within(site, () => {
          const gone = done.toI32();
          return select(isUp, from.add(gone), from.sub(gone));
        }),
    };
  });
}

/** What a loop was given. */
export function checkLoop(range: Partial<ForRange<"u32"> | ForRange<"i32">> | null, body: unknown): void {
  if (typeof range !== "object" || range?.from === undefined || range.to === undefined)
    throw new EvolverError("INVALID_LOOP", "gpu.for takes { from, to } first", {
      where: [captureSite().location],
      hint: "write gpu.for({ from: 0, to: n }, (i) => …)",
    });
  wantFunction(body, "gpu.for", "gpu.for({ from: 0, to: n }, (i) => …)");
}
