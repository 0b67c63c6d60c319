/** Counters of single tiles of a persistent kernel, and from them of a whole launch. */

import { scaleCounters } from "@evolver/machine";
import { bindPlan, type BoundPlan, type Counters, type RunnablePlan } from "@evolver/device";
import { countersOf, mixCounters, type Inputs } from "@evolver/lab";

/**
 * Counts what a launch of all tiles would do, from some of them on the simulator. Its workgroups ask once per tile, and
 * each once more, when there is none left. The last to ask sets the counter back.
 *
 * @param sample numbers that the counter gives
 */
export async function countTiles(
  { plan, device }: RunnablePlan,
  inputs: Inputs,
  sample: readonly number[],
): Promise<Counters> {
  const [launch] = plan.launches;
  const workgroups = launch?.workgroups[0] ?? 0;
  const tileCount = launch?.args["tileCount"] as number;
  const bound = await bindPlan(device, plan, { inputs });
  try {
    const inVain = await countFrom(bound, 0, 0, 2);
    const last = await countFrom(bound, 0, 0, 1);
    let sampled = scaleCounters(inVain, 0);
    for (const tile of sample) {
      const asksTwice = await countFrom(bound, tile, tile + 1, 2);
      sampled = plus(sampled, minus(asksTwice, inVain));
    }
    const tiles = scaleCounters(sampled, tileCount / sample.length);
    return plus(plus(tiles, scaleCounters(inVain, workgroups - 1)), last);
  } finally {
    bound.destroy();
  }
}

/**
 * What one workgroup does that finds the counter at `first` of `end` tiles. Where it is one of two, it is not the last
 * to ask.
 */
async function countFrom(bound: BoundPlan, first: number, end: number, workgroups: 1 | 2): Promise<Counters> {
  await bound.write("tiles", Uint32Array.of(first));
  return countersOf(await bound.runChanged({ workgroups, args: { tileCount: end }, sample: [0] }));
}

const plus = (a: Counters, b: Counters): Counters => mixCounters(a, b, 1, 1);
const minus = (a: Counters, b: Counters): Counters => mixCounters(a, b, 1, -1);
