/**
 * Counters of a whole launch from runs of a single tile of queries. All tiles do the same on other data, and their work
 * grows with the keys that they see, by the same amount for every further tile of keys. So one tile is run with few keys and
 * with a few more. That is much faster than a sample of the launch, and one count serves all sequence lengths and numbers of
 * heads.
 */

import { attentionPlan, createProblem, type AttentionProblem, type FlashPoint } from "@evolver/attention";
import { bindPlan, buildOf, type Counters, type Device } from "@evolver/device";
import { EvolverError, mean } from "@evolver/base";
import { countersOf, mixCounters } from "@evolver/lab";

/** Work of one tile of queries that sees so many keys: `least` of them, and `step` more. */
interface TileWork {
  readonly least: number;
  readonly step: number;
  readonly atLeast: Counters;
  readonly atMore: Counters;
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
    const key = JSON.stringify([point, shape.dim, mask.kind, softcap > 0, group]);
    let work = this.#known.get(key);
    if (work === undefined) this.#known.set(key, (work = this.#countTile(point, problem, group)));
    const { least, step, atLeast, atMore } = await work;
    const seeing = (keys: number): Counters => {
      const further = (keys - least) / step;
      return mixCounters(atLeast, atMore, tiles * (1 - further), tiles * further);
    };
    const [exactly, wholly] = meanKeys(point, problem, group, keyUnit(point, this.#sim.subgroupSize));
    const { globalReadBytes, globalSectors } = seeing(exactly);
    return { ...seeing(wholly), globalReadBytes, globalSectors };
  }

  async #countTile(point: FlashPoint, problem: AttentionProblem, group: number): Promise<TileWork> {
    const queries = Math.ceil(point.queryRows / group);
    const unit = keyUnit(point, this.#sim.subgroupSize);
    // Under a causal mask the tile's own diagonal is in it either way.
    const least = unit * (LEAST_GROUPS + (problem.mask.kind === "causal" ? Math.ceil(queries / unit) : 0));
    const step = unit * MORE_GROUPS;
    const count = (keys: number): Promise<Counters> => this.#run(point, problem, group, queries, keys);
    return { least, step, atLeast: await count(least), atMore: await count(least + step) };
  }

  async #run(
    point: FlashPoint,
    { shape: { dim }, mask, softcap, scale }: AttentionProblem,
    headsQ: number,
    seqQ: number,
    seqK: number,
  ): Promise<Counters> {
    const tile = createProblem({ batch: 1, headsQ, headsKv: 1, seqQ, seqK, dim }, { mask, softcap, scale });
    const zeros = (length: number): Float32Array => new Float32Array(length);
    const bound = await bindPlan(this.#sim, attentionPlan(point, tile, buildOf(this.#sim)), {
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
