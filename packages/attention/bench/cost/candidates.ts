/** Which candidates the cost model is held to: the rungs, their surroundings, and points from all over the space. */

import {
  axes,
  checkPoint,
  fitPoint,
  ladder,
  type AttentionProblem,
  type FlashPoint,
  type WorkgroupLimits,
} from "@evolver/attention";
import { Random } from "@evolver/base";
import { pointAt, pointKey, spaceSize, type Space } from "@evolver/lab";

export interface Candidate {
  /** "k04", "near 12", "far 3". */
  readonly id: string;
  readonly point: FlashPoint;
}

/** A tile of registers that is fast on NVIDIA's data-centre cards: what is near it is what a search ends up with. */
const FAST: FlashPoint = {
  stage: "shared",
  queryRows: 64,
  rowsPerSubgroup: 16,
  rowLanes: 4,
  keyRows: 64,
  keysPerLane: 8,
  layout: "padded",
  vector: 4,
  unroll: 4,
  exchange: "shared",
  masking: "at edges",
  pipeline: "staggered",
  depth: 1,
  schedule: "one workgroup per tile",
  heads: "by index",
};
/** Of the neighbours, how many are near FAST; the others are near a rung. */
const NEAR_FAST = 0.6;
const MOST_CHANGES = 4;
const DRAWS = 2_000_000;

/**
 * The rungs, made to fit each problem, and then, by turns, neighbours (one to four axes changed) and points drawn evenly
 * from the whole space; those are valid for all problems. The same for the same arguments.
 *
 * @param count of all, rungs included; fewer where the space has no more
 */
export function drawCandidates(
  problems: readonly AttentionProblem[],
  subgroup: number,
  limits: WorkgroupLimits,
  count: number,
  seed: number,
): (problem: AttentionProblem) => readonly Candidate[] {
  const isValid = (point: FlashPoint): boolean =>
    problems.every((problem) => checkPoint(point, problem, subgroup, limits) === null);
  const space: Space<FlashPoint> = { axes, whyInvalid: () => null };
  const keyOf = (point: FlashPoint): string => pointKey(space as unknown as Space, point);
  const random = new Random(seed);
  const seen = new Set<string>();
  const drawn: Candidate[] = [];
  const draw = (name: string, next: () => FlashPoint): void => {
    for (let i = 0; i < DRAWS; i++) {
      const point = next();
      if (seen.has(keyOf(point)) || !isValid(point)) continue;
      seen.add(keyOf(point));
      drawn.push({ id: `${name} ${drawn.length + 1}`, point });
      return;
    }
  };
  const far = (): FlashPoint =>
    pointAt(space as unknown as Space, random.below(spaceSize(space as unknown as Space))) as FlashPoint;
  const near = (): FlashPoint => {
    let point = random.uniform() < NEAR_FAST ? FAST : random.pick(ladder).point;
    for (let changes = 1 + random.below(MOST_CHANGES); changes > 0; changes--) {
      const { name, values } = random.pick(axes);
      point = { ...point, [name]: random.pick<string | number>(values) };
    }
    return point;
  };
  for (let i = ladder.length; i < count; i++) {
    if (i % 2 === 0) draw("near", near);
    else draw("far", far);
  }
  return (problem) => [
    ...ladder.map(({ id, point }) => ({ id, point: fitPoint(point, problem, subgroup, limits) })),
    ...drawn,
  ];
}
