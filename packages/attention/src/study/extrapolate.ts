/**
 * Counters of a whole launch from runs of a single tile of queries. All tiles do the same on other data, and their work
 * grows with the keys that they see, by the same amounts for every further tile of keys and for every further key in the last
 * one. So one tile is run with few keys, with a few tiles of them more, and with half a tile less. That is much faster than a
 * sample of the launch, and one count serves all numbers of heads and nearly all sequence lengths.
 */

import {
  attentionPlan,
  createProblem,
  geometryOf,
  longestRow,
  totalsFor,
  type AttentionProblem,
  type FlashPoint,
} from "@evolver/attention";
import { bindPlan, buildOf, type Counters, type Device } from "@evolver/device";
import { EvolverError, mean } from "@evolver/base";
import { countersOf, mixCounters } from "@evolver/lab";

/** Work of one tile of queries that sees so many keys: `least` of them, `step` more, and `less` less within one unit. */
interface TileWork {
  readonly least: number;
  readonly step: number;
  readonly less: number;
  readonly atLeast: Counters;
  readonly atMore: Counters;
  readonly atLess: Counters;
}

/** Groups of keys that the longer run has more than the shorter one. */
const MORE_GROUPS = 2;
/** Groups that the shorter run has: more than a pipeline holds at once would be needed to see it full from the start. */
const LEAST_GROUPS = 2;

/** Whether `launchCounters` can tell: with a window, what a tile sees does not grow with the sequence. */
export const canExtrapolate = ({ mask }: AttentionProblem): boolean => mask.kind !== "window";

export class Extrapolator {
  readonly #sim: Device;
  readonly #known = new Map<string, Promise<TileWork>>();

  /** @param sim a device that counts */
  constructor(sim: Device) {
    this.#sim = sim;
  }

  /**
   * Counters of all tiles of a launch.
   *
   * @throws EvolverError where no kernel can be made for the point, MASK_UNSUPPORTED for a window
   */
  async launchCounters(point: FlashPoint, problem: AttentionProblem, tiles: number): Promise<Counters> {
    if (!canExtrapolate(problem))
      throw new EvolverError("MASK_UNSUPPORTED", "tiles under a window are not extrapolated");
    const { shape, mask, softcap } = problem;
    const group = point.heads === "packed" ? shape.headsQ / shape.headsKv : 1;
    const { blockKeys } = geometryOf(point, shape.dim, this.#sim.subgroupSize);
    const totals = totalsFor(longestRow(problem), blockKeys);
    const key = JSON.stringify([point, shape.dim, mask.kind, softcap > 0, group, totals]);
    let work = this.#known.get(key);
    if (work === undefined) this.#known.set(key, (work = this.#countTile(point, problem, group)));
    const { least, step, less, atLeast, atMore, atLess } = await work;
    const [exactly, wholly] = meanKeys(point, problem, group, keyUnit(point, this.#sim.subgroupSize));
    // The longer run has more of both kinds of work, the shorter one less of what is done by the key only.
    const further = (wholly - least) / step;
    const missing = (wholly - exactly) / less;
    const byTile = mixCounters(atLeast, atMore, tiles * (1 - further - missing), tiles * further);
    return mixCounters(byTile, atLess, 1, tiles * missing);
  }

  async #countTile(point: FlashPoint, problem: AttentionProblem, group: number): Promise<TileWork> {
    const queries = Math.ceil(point.queryRows / group);
    const unit = keyUnit(point, this.#sim.subgroupSize);
    // Under a causal mask the tile's own diagonal is in it either way.
    const least = unit * (LEAST_GROUPS + (problem.mask.kind === "causal" ? Math.ceil(queries / unit) : 0));
    const step = unit * MORE_GROUPS;
    const less = unit / 2;
    const count = (seqK: number): Promise<Counters> => {
      const shape = { batch: 1, headsQ: group, headsKv: 1, seqQ: queries, seqK, dim: problem.shape.dim };
      const { mask, softcap, scale } = problem;
      return this.#run(point, createProblem(shape, { mask, softcap, scale }), longestRow(problem));
    };
    return {
      least,
      step,
      less,
      atLeast: await count(least),
      atMore: await count(least + step),
      atLess: await count(least - less),
    };
  }

  /** @param keys of the rows that the kernel is made for */
  async #run(point: FlashPoint, tile: AttentionProblem, keys: number): Promise<Counters> {
    const { headsQ, seqQ, seqK, dim } = tile.shape;
    const zeros = (length: number): Float32Array => new Float32Array(length);
    const bound = await bindPlan(this.#sim, attentionPlan(point, tile, { ...buildOf(this.#sim), keys }), {
      inputs: { q: zeros(headsQ * seqQ * dim), k: zeros(seqK * dim), v: zeros(seqK * dim) },
    });
    try {
      return countersOf((await bound.run(() => [0]))[0]);
    } finally {
      bound.destroy();
    }
  }
}

/** Keys that are scored, and where there are tiles copied, at a time. */
function keyUnit({ stage, keyRows, keysPerLane, rowLanes }: FlashPoint, subgroup: number): number {
  const groupKeys = (keysPerLane * subgroup) / Math.min(rowLanes, subgroup);
  return stage === "shared" ? Math.max(keyRows, groupKeys) : groupKeys;
}

/**
 * Keys that a tile of queries sees, on average over the tiles, if the last one is as full as the others; and the same
 * with units of keys that it sees some of counted in full, as computing does, but not reading.
 */
function meanKeys(
  point: FlashPoint,
  { shape, mask }: AttentionProblem,
  group: number,
  unit: number,
): readonly [exactly: number, wholly: number] {
  const { seqQ, seqK } = shape;
  const whole = (keys: number): number => Math.ceil(keys / unit) * unit;
  if (mask.kind === "full") return [seqK, whole(seqK)];
  const queries = point.queryRows / group;
  const seen: number[] = [];
  for (let first = 0; first < seqQ; first += queries)
    seen.push(Math.max(0, Math.min(seqQ, Math.ceil(first + queries)) + seqK - seqQ));
  return [mean(seen), mean(seen.map(whole))];
}
