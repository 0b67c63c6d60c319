/** Random search, for comparison: every valid point with equal probability, none twice. */

import { drawUnseen, pointKey } from "../study/space.ts";
import type { Proposal, Sampler, SamplerContext } from "./sampler.ts";

export const randomSampler: Sampler = {
  name: "random",
  propose({ space, memory, count, random }: SamplerContext): Proposal[] {
    const seen = new Set(memory.map(({ key }) => key));
    const proposals: Proposal[] = [];
    while (proposals.length < count) {
      const point = drawUnseen(space, seen, random);
      if (point === null) break;
      seen.add(pointKey(space, point));
      proposals.push({ point, parents: [], reason: "Drawn at random." });
    }
    return proposals;
  },
};
