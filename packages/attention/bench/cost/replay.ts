/** Replays a search among measured candidates: how many are measured until a good one is found. */

import { Random } from "@evolver/base";
import { mostPromising, pointKey, samplerNamed, type Memory, type Space, type OpenStudy } from "@evolver/lab";

export interface Measured {
  readonly measuredMs: number;
  readonly predictedMs: number;
}

/**
 * The candidates in the order in which they are measured: at each step the lab's random sampler proposes `proposals`
 * of those that are left, and the lab chooses one by the predictions.
 *
 * @returns indices of the pool, all of them
 */
export async function replay(pool: readonly Measured[], proposals: number, seed: number): Promise<number[]> {
  const space: Space = {
    axes: [{ name: "candidate", values: pool.map((_, index) => index) }],
    whyInvalid: () => null,
  };
  const predict = (point: { readonly [name: string]: number | string }): Promise<number> =>
    Promise.resolve(pool[point["candidate"] as number]?.predictedMs as number);
  const random = new Random(seed);
  const sampler = samplerNamed("random");
  const memory: Memory[] = [];
  const never = new AbortController().signal;
  while (memory.length < pool.length) {
    const proposed = sampler.propose({ space, memory, count: proposals, focus: [], explore: 0, random });
    const { point } = await mostPromising({ predict } as unknown as OpenStudy, proposed, never);
    const timeMs = pool[point["candidate"] as number]?.measuredMs as number;
    memory.push({
      trial: memory.length,
      key: pointKey(space, point),
      point,
      judged: true,
      parents: [],
      timeMs,
    });
  }
  return memory.map(({ point }) => point["candidate"] as number);
}

/** Measurements until the best so far is at most `within` slower than the pool's best: 0.05 for 5 %. */
export function measurementsUntil(
  pool: readonly Measured[],
  order: readonly number[],
  within: number,
): number {
  const least = Math.min(...pool.map(({ measuredMs }) => measuredMs));
  return 1 + order.findIndex((index) => (pool[index]?.measuredMs as number) <= least * (1 + within));
}

/** The best time of the first `count` measurements over the pool's best. */
export function bestAfter(pool: readonly Measured[], order: readonly number[], count: number): number {
  const least = Math.min(...pool.map(({ measuredMs }) => measuredMs));
  return Math.min(...order.slice(0, count).map((index) => pool[index]?.measuredMs as number)) / least;
}
