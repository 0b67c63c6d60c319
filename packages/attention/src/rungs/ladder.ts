/**
 * The ladder: named points of the strategy space, each with what it changes, stated as claims that the simulator's
 * counters prove.
 */

import {
  buildOf,
  checkRung,
  countForClaims,
  findRung,
  withVariants,
  type ClaimResult,
  type Counters,
  type Device,
  type RungName,
} from "@evolver/device";
import { attentionPlan } from "../attention-plan.ts";
import type { FlashPoint } from "../flash/space.ts";
import { denseStrides, type AttentionProblem } from "../problem.ts";
import type { AttentionRung, ClaimCase } from "./rung.ts";
import { k01 } from "./k01-naive.ts";
import { k02 } from "./k02-shared-tiles.ts";
import { k03 } from "./k03-shared-by-rows.ts";
import { k04 } from "./k04-conflict-free.ts";
import { k05 } from "./k05-double-buffered.ts";
import { k06 } from "./k06-asynchronous-ring.ts";
import { k07 } from "./k07-roles.ts";
import { k08 } from "./k08-persistent.ts";
import { k09 } from "./k09-packed-heads.ts";
import { k10 } from "./k10-persistent-packed.ts";
import { k11 } from "./k11-register-tiles.ts";
import { k12 } from "./k12-evolved.ts";

export type { AttentionRung, ClaimCase } from "./rung.ts";

/** In order; each builds on those before. */
export const ladder: readonly AttentionRung[] = Object.freeze([
  k01,
  k02,
  k03,
  k04,
  k05,
  k06,
  k07,
  k08,
  k09,
  k10,
  k11,
  k12,
]);

/** The rungs and, after each, its variants, such as "k11 half tiles". */
export const namedRungs: readonly (AttentionRung & RungName)[] = withVariants(ladder);

/** @param id also of a variant @throws EvolverError UNKNOWN_RUNG */
export const rungById = (id: string): AttentionRung => findRung(namedRungs, id);

const SEQUENCE = 64;
const DIM = 64;

/** What claims are proved on unless a rung says otherwise: one head, 64 queries, 64 keys, 64 dimensions, everything visible. */
export const claimProblem: AttentionProblem = Object.freeze({
  shape: { batch: 1, headsQ: 1, headsKv: 1, seqQ: SEQUENCE, seqK: SEQUENCE, dim: DIM },
  mask: { kind: "full" },
  scale: 0.125,
  softcap: 0,
  strides: {
    q: denseStrides(1, SEQUENCE, DIM),
    k: denseStrides(1, SEQUENCE, DIM),
    v: denseStrides(1, SEQUENCE, DIM),
    o: denseStrides(1, SEQUENCE, DIM),
  },
} as const);

/**
 * Checks the claims of a rung, counting it and those of the ladder's earlier rungs that it compares itself with.
 *
 * @param device one that counts (`sim`), with subgroups of CLAIM_SUBGROUP
 * @throws EvolverError CLAIMS_NEED_COUNTERS on any other device
 */
export const runClaims = (device: Device, rung: AttentionRung): Promise<ClaimResult[]> =>
  checkRung(ladder, rung, (point) => claimCounters(device, point, rung.claimCase));

const known = new WeakMap<Device, Map<string, Promise<Counters>>>();

/**
 * What a point does on the problem of the claims. Counted once per device: it is the same each time.
 *
 * @param device one that counts (`sim`), with subgroups of CLAIM_SUBGROUP
 * @throws EvolverError CLAIMS_NEED_COUNTERS on any other device
 */
export function claimCounters(
  device: Device,
  point: FlashPoint,
  on: ClaimCase = { problem: claimProblem },
): Promise<Counters> {
  let ofDevice = known.get(device);
  if (ofDevice === undefined) known.set(device, (ofDevice = new Map()));
  const key = JSON.stringify([point, on]);
  let counters = ofDevice.get(key);
  if (counters === undefined) ofDevice.set(key, (counters = count(device, point, on)));
  return counters;
}

function count(
  device: Device,
  point: FlashPoint,
  { problem, persistentWorkgroups }: ClaimCase,
): Promise<Counters> {
  const options = { ...buildOf(device), writeLse: false, persistentWorkgroups };
  return countForClaims(device, attentionPlan(point, problem, options));
}
