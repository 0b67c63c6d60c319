/**
 * Evolution with memory: parents are chosen by rank among the best, and one or two axes are mutated, mostly by neighbouring
 * steps, or two parents are crossed. Of many such children, the one that looks best by the trials so far is tried. Never a
 * duplicate.
 */

import { drawUnseen, pointKey, spaceSize, withValue } from "../study/space.ts";
import type { Point, Space } from "../study/point.ts";
import { fitSurrogate } from "./gaussian.ts";
import { gatherStatistics } from "./statistics.ts";
import type { Memory, Proposal, Sampler, SamplerContext } from "./sampler.ts";

interface Child extends Proposal {
  readonly key: string;
}

/** Children of parents, and strangers, among which one is chosen. */
const BROOD = 96;
const STRANGERS = 96;
const CROSSOVER = 0.25;
const SECOND_MUTATION = 0.35;
const NEIGHBOUR = 0.7;
/** Weight of a parent of rank r is (r + 1)^−RANK_PRESSURE. */
const RANK_PRESSURE = 1.2;
const ELITE = 8;
/** How many trials open, for each axis, and among how many strangers each is chosen. */
const OPENING = 0.5;
const OPENING_CHOICE = 24;
/** How much more a child counts that changes what the last reflection would change. */
const FOCUS = 1.1;

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
  const statistics = gatherStatistics(space, memory);
  const ranked = memory
    .filter(({ timeMs }) => timeMs !== null)
    .toSorted((a, b) => (a.timeMs as number) - (b.timeMs as number) || a.trial - b.trial);

  // The first trials spread over the space, so that there is something to learn from.
  const opening = Math.ceil(space.axes.filter(({ values }) => values.length > 1).length * OPENING);
  if (ranked.length === 0 || memory.length <= opening) {
    const best = bestOf(strangers(context, seen, OPENING_CHOICE), (child) => statistics.novelty(child.point));
    return best && { ...best, reason: "Opening: values that no trial has yet." };
  }

  const pool = new Map<string, Child>();
  const add = (child: Child | null): void => {
    if (child && !seen.has(child.key) && !pool.has(child.key) && space.whyInvalid(child.point) === null)
      pool.set(child.key, child);
  };
  const elite = diverse(space, ranked);
  const payoff = payoffs(space, memory);
  const wanted = Math.min(BROOD, spaceSize(space));
  for (let attempt = 0; attempt < 4 * BROOD && pool.size < wanted; attempt++) {
    const parent = elite[random.weighted(elite.map((_, rank) => (rank + 1) ** -RANK_PRESSURE))] as Memory;
    add(
      elite.length > 1 && random.uniform() < CROSSOVER
        ? cross(context, parent, random.pick(elite))
        : mutate(context, parent, payoff),
    );
  }
  const related = [...pool.values()];
  for (const child of strangers(context, seen, STRANGERS)) add(child);
  const children = [...pool.values()];
  if (children.length === 0) return null;
  if (random.uniform() < explore) {
    const child = random.pick(related.length > 0 ? related : children);
    return { ...child, reason: `${child.reason} Chosen to explore.` };
  }

  const surrogate = fitSurrogate(space, memory);
  const champion = ranked[0] as Memory;
  const focused = focus.slice(0, 2);
  const promise = ({ point }: Child): number => {
    const inFocus = focused.some((axis) => point[axis] !== champion.point[axis]);
    return surrogate.improvement(point) * (1 - statistics.failure(point)) * (inFocus ? FOCUS : 1);
  };
  const child = bestOf(children, promise) as Child;
  const outlook = `Earlier trials suggest ${surrogate.ratio(child.point).toFixed(2)} times the champion's time.`;
  return { ...child, reason: `${child.reason} ${outlook}` };
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

function strangers({ space, random }: SamplerContext, seen: ReadonlySet<string>, count: number): Child[] {
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
  for (const { point, parents, timeMs, judged } of memory) {
    if (!judged) continue;
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

/** The first item of the highest score; null of an empty list. */
function bestOf<T>(items: readonly T[], score: (item: T) => number): T | null {
  let best: T | null = null;
  let highest = -Infinity;
  for (const item of items) {
    const value = score(item);
    if (value > highest) [best, highest] = [item, value];
  }
  return best;
}
