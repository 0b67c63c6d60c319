/**
 * Rungs of a ladder: named points of a library's space, each with claims about what it changes. Which rungs there are, and
 * what they are counted on, is the library's.
 */

import { didYouMean, EvolverError } from "@evolver/base";
import { checkClaims, type Claim, type ClaimResult } from "../core/claims.ts";
import type { Counters } from "../core/counters.ts";
import type { AnyTypedArray, Device } from "../core/device.ts";
import { bindPlan } from "./bind.ts";
import type { Plan } from "./plan.ts";

/** What people read of a rung. */
export interface RungText {
  readonly id: string;
  readonly title: string;
  /** What is changed and why, for a reader who knows the rung before. */
  readonly idea: string;
  /** What the counters show, above all where it contradicts common advice. */
  readonly found: string;
}

/** @typeParam P a point of the library's space */
export interface Rung<P> extends RungText {
  readonly point: P;
  /** Other ways to the same end, by names that have neither a comma nor a slash. */
  readonly variants: Readonly<Record<string, P>>;
  readonly claims: readonly Claim[];
}

/** Claims are about subgroups of this width: how lanes share a sector or meet in a bank depends on it. */
export const CLAIM_SUBGROUP = 32;

/** A rung, or a variant of one, that people ask for by its name. */
export interface RungName {
  /** "k06", or "k06 depth 4" for a variant. */
  readonly id: string;
  readonly title: string;
  /** The rung that it is a variant of; null for a rung. */
  readonly variantOf: string | null;
}

/**
 * The rungs of a ladder, and after each its variants as rungs of their own, called as claims call them: "k06 depth 4". A
 * variant has no claims; those that are about it are the rung's, and of rungs after it.
 */
export const withVariants = <R extends Rung<unknown>>(ladder: readonly R[]): readonly (R & RungName)[] =>
  Object.freeze(
    ladder.flatMap((rung) => [
      { ...rung, variantOf: null },
      ...Object.entries(rung.variants as Readonly<Record<string, R["point"]>>).map(([name, point]) => ({
        ...rung,
        id: `${rung.id} ${name}`,
        title: `${rung.id} with ${changes(rung.point as object, point as object)}`,
        idea: `A variant of ${rung.id}. That is: ${rung.title}.`,
        found: "",
        point,
        variants: {},
        claims: [],
        variantOf: rung.id,
      })),
    ]),
  );

/** Where a point differs from another, axis by axis: "queryRows 64, rowLanes 2". */
function changes(from: object, to: object): string {
  const before = new Map<string, unknown>(Object.entries(from));
  const changed = Object.entries(to).filter(([axis, value]) => before.get(axis) !== value);
  return changed.map(([axis, value]) => `${axis} ${value}`).join(", ");
}

/** The rung of this name; of its variants too, where they are among the rungs. @throws EvolverError UNKNOWN_RUNG */
export function findRung<R extends { readonly id: string }>(rungs: readonly R[], id: string): R {
  const found = rungs.find((rung) => rung.id === id);
  if (found !== undefined) return found;
  const names = rungs.map((rung) => rung.id);
  throw new EvolverError("UNKNOWN_RUNG", `there is no rung "${id}"`, {
    hint: `${didYouMean(id, names)}Rungs are ${names.join(", ")}`,
  });
}

/**
 * Checks the claims of a rung, which compare it with itself, with its variants ("k06 depth 4") and with the rungs before it.
 *
 * @param count counts a point on what the rung's claims are about
 * @throws EvolverError UNKNOWN_RUNG where a claim names another
 */
export function checkRung<P>(
  ladder: readonly Rung<P>[],
  rung: Rung<P>,
  count: (point: P) => Promise<Counters>,
): Promise<ClaimResult[]> {
  const points = new Map<string, P>();
  const earlier = ladder.slice(
    0,
    ladder.findIndex(({ id }) => id === rung.id),
  );
  for (const { id, point, variants } of [...earlier, rung]) {
    points.set(id, point);
    for (const [name, variant] of Object.entries(variants)) points.set(`${id} ${name}`, variant);
  }
  return checkClaims(rung.claims, (name) => {
    const point = points.get(name);
    if (point !== undefined) return count(point);
    throw new EvolverError("UNKNOWN_RUNG", `a claim compares with "${name}", which is not an earlier rung`);
  });
}

/**
 * Counts a plan of one launch, on numbers of no meaning: claims are about counters that do not depend on them.
 *
 * @param device one that counts (`sim`), with subgroups of CLAIM_SUBGROUP
 * @throws EvolverError CLAIMS_NEED_COUNTERS on any other device
 */
export async function countForClaims(device: Device, plan: Plan): Promise<Counters> {
  if (device.subgroupSize !== CLAIM_SUBGROUP) throw needsCounters(device);
  const inputs: Record<string, AnyTypedArray> = {};
  // They differ enough for a maximum to move.
  for (const { name, role, length } of plan.buffers)
    if (role === "input") inputs[name] = Float32Array.from({ length }, (_, i) => Math.sin(i));
  const bound = await bindPlan(device, plan, { inputs });
  try {
    const [result] = await bound.run();
    if (result?.counters) return result.counters;
    throw needsCounters(device);
  } finally {
    bound.destroy();
  }
}

const needsCounters = ({ name }: Device): EvolverError =>
  new EvolverError(
    "CLAIMS_NEED_COUNTERS",
    `claims are about counters at subgroup width ${CLAIM_SUBGROUP}, which ${name} does not give`,
    { hint: `check them on the simulator, opened with { subgroup: ${CLAIM_SUBGROUP} }` },
  );
