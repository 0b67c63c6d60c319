/**
 * Evolution with memory: parents by rank from the best, one or two axes mutated, mostly by neighbouring steps, or two
 * parents crossed; of a pool of such children the one is tried that the trials so far speak for. Never a duplicate.
 */

import { drawUnseen, pointKey, spaceSize, withValue } from "../space.ts";
import type { Point, Space } from "../study.ts";
import { fitSurrogate } from "./surrogate.ts";
import type { Surrogate } from "./surrogate.ts";
import type { Memory, Proposal, Sampler, SamplerContext } from "./sampler.ts";

interface Child extends Proposal {
  readonly key: string;
}

const POOL = 48;
const RANDOM_IN_POOL = 8;
const CROSSOVER = 0.25;
const SECOND_MUTATION = 0.35;
const NEIGHBOUR = 0.7;
/** Weight of a parent of rank r is (r + 1)^−RANK_PRESSURE. */
const RANK_PRESSURE = 1.2;
const ELITE = 8;

export const evolutionarySampler: Sampler = {
  name: "evolutionary",
  propose(context: SamplerContext): Proposal[] {
    const { space, count } = context;
    const seen = new Set(context.memory.map(({ key }) => key));
    const proposals: Proposal[] = [];
    while (proposals.length < count) {
      const child = next(context, seen);
      if (child === null) break;
      seen.add(pointKey(space, child.point));
      proposals.push(child);
    }
    return proposals;
  },
};

function next(context: SamplerContext, seen: ReadonlySet<string>): Proposal | null {
  const { space, memory, random, explore, focus } = context;
  const surrogate = fitSurrogate(space, memory);
  const ranked = memory
    .filter(({ timeMs }) => timeMs !== null)
    .toSorted((a, b) => (a.timeMs as number) - (b.timeMs as number) || a.trial - b.trial);

  // The first trials spread over the space, so that there is something to learn from.
  const opening = Math.ceil(space.axes.length / 2) + 1;
  if (ranked.length === 0 || memory.length <= opening) {
    const pool = drawPool(context, seen, 24);
    const best = bestOf(pool, (child) => -surrogate.novelty(child.point));
    return best && { ...best, reason: "Opening: values that no trial has yet." };
  }

  const pool = new Map<string, Child>();
  const add = (child: Child | null): void => {
    if (child && !seen.has(child.key) && !pool.has(child.key) && space.whyInvalid(child.point) === null)
      pool.set(child.key, child);
  };
  const elite = diverse(space, ranked);
  const payoff = payoffs(space, memory);
  const wanted = Math.min(POOL, spaceSize(space));
  for (let attempt = 0; attempt < 4 * POOL && pool.size < wanted; attempt++) {
    const parent = elite[random.weighted(elite.map((_, rank) => (rank + 1) ** -RANK_PRESSURE))] as Memory;
    add(
      elite.length > 1 && random.uniform() < CROSSOVER
        ? cross(context, parent, random.pick(elite))
        : mutate(context, parent, payoff),
    );
  }
  for (const child of drawPool(context, seen, RANDOM_IN_POOL)) add(child);
  const children = [...pool.values()];
  if (children.length === 0) return null;
  if (random.uniform() < explore) {
    const child = random.pick(children);
    return { ...child, reason: `${child.reason} Chosen to explore.` };
  }

  const champion = ranked[0] as Memory;
  const focused = new Set(focus.slice(0, 2));
  const noise = new Map(children.map(({ key }) => [key, random.uniform()]));
  const score = ({ key, point }: Child): number => {
    const scale = Math.max(surrogate.spread, 1e-3);
    const inFocus = [...focused].some((axis) => point[axis] !== champion.point[axis]);
    return (
      surrogate.predict(point) / scale +
      2 * surrogate.failure(point) -
      0.5 * surrogate.novelty(point) -
      (inFocus ? 0.05 : 0) +
      1e-3 * (noise.get(key) as number)
    );
  };
  const child = bestOf(children, score) as Child;
  return { ...child, reason: `${child.reason} ${outlook(surrogate, child.point, champion.point)}` };
}

function mutate(context: SamplerContext, parent: Memory, payoff: ReadonlyMap<string, number>): Child | null {
  const { space, random, focus } = context;
  const axes = space.axes.filter(({ values }) => values.length > 1);
  if (axes.length === 0) return null;
  const weights = axes.map(({ name }) => (payoff.get(name) ?? 0.5) * (focus.includes(name) ? 1.5 : 1));
  let point = parent.point;
  const steps: string[] = [];
  for (let i = random.uniform() < SECOND_MUTATION ? 2 : 1; i > 0; i--) {
    const { name, values } = axes[random.weighted(weights)] as (typeof axes)[number];
    const from = values.indexOf(point[name] as number | string);
    const neighbours = [from - 1, from + 1].filter((at) => at >= 0 && at < values.length);
    const to =
      random.uniform() < NEIGHBOUR
        ? random.pick(neighbours)
        : (from + 1 + random.below(values.length - 1)) % values.length;
    const value = values[to] as number | string;
    steps.push(`${name} ${point[name]} → ${value}`);
    point = withValue(point, name, value);
  }
  return {
    point,
    key: pointKey(space, point),
    parents: [parent.trial],
    reason: `From trial ${parent.trial}: ${steps.join(", ")}.`,
  };
}

function cross(context: SamplerContext, a: Memory, b: Memory): Child | null {
  const { space, random } = context;
  if (a.trial === b.trial) return null;
  let point = a.point;
  for (const { name } of space.axes)
    if (random.uniform() < 0.5) point = withValue(point, name, b.point[name] as number | string);
  return {
    point,
    key: pointKey(space, point),
    parents: [a.trial, b.trial],
    reason: `Crosses trials ${a.trial} and ${b.trial}.`,
  };
}

function drawPool({ space, random }: SamplerContext, seen: ReadonlySet<string>, count: number): Child[] {
  const taken = new Set(seen);
  const pool: Child[] = [];
  while (pool.length < count) {
    const point = drawUnseen(space, taken, random);
    if (point === null) break;
    const key = pointKey(space, point);
    taken.add(key);
    pool.push({ point, key, parents: [], reason: "Drawn at random." });
  }
  return pool;
}

/** The best trials, leaving out those that differ from a better one in nothing that changed the time. */
function diverse(space: Space, ranked: readonly Memory[]): Memory[] {
  const elite: Memory[] = [];
  for (const memory of ranked) {
    const twin = elite.some(
      (better) => better.timeMs === memory.timeMs && distance(space, better.point, memory.point) === 1,
    );
    if (!twin) elite.push(memory);
    if (elite.length === ELITE) break;
  }
  return elite;
}

function distance(space: Space, a: Point, b: Point): number {
  return space.axes.filter(({ name }) => a[name] !== b[name]).length;
}

/** For each axis the share of its moves, from a parent to a child, that made it faster (one win and one loss added). */
function payoffs(space: Space, memory: readonly Memory[]): Map<string, number> {
  const byTrial = new Map(memory.map((entry) => [entry.trial, entry]));
  const tally = new Map(space.axes.map(({ name }) => [name, { wins: 1, tries: 2 }]));
  for (const { point, parents, timeMs } of memory) {
    const parent = parents.length === 1 ? byTrial.get(parents[0] as number) : undefined;
    if (!parent || parent.timeMs === null) continue;
    for (const { name } of space.axes) {
      const row = tally.get(name);
      if (!row || point[name] === parent.point[name]) continue;
      row.tries++;
      if (timeMs !== null && timeMs < parent.timeMs) row.wins++;
    }
  }
  return new Map([...tally].map(([name, { wins, tries }]) => [name, wins / tries]));
}

function outlook(surrogate: Surrogate, point: Point, champion: Point): string {
  const ratio = Math.exp(surrogate.predict(point) - surrogate.predict(champion));
  return `Earlier trials suggest ${ratio.toFixed(2)} times the champion's time.`;
}

function bestOf<T>(items: readonly T[], score: (item: T) => number): T | null {
  let best: T | null = null;
  let lowest = Infinity;
  for (const item of items) {
    const value = score(item);
    if (value < lowest) [best, lowest] = [item, value];
  }
  return best;
}
