/** Chooses which of many equal parts of a launch are run, where running all would take the simulator too long. */

import { deriveSeed, Random } from "@evolver/base";

/**
 * About `count` of the parts, from equal sections, the same from both ends: so work that grows evenly along the parts is
 * neither over- nor underestimated. An even number of parts has no middle, and gets an even sample.
 */
export function evenSample(parts: number, count: number): number[] {
  const size = count < parts && count % 2 === 1 && parts % 2 === 0 ? count - 1 : count;
  const fromStart = (i: number): number => Math.floor(((i + 0.5) * parts) / size);
  return Array.from({ length: size }, (_, i) =>
    i < size / 2 ? fromStart(i) : parts - 1 - fromStart(size - 1 - i),
  );
}

/**
 * `count` of the parts, in order, chosen at random: one from each of equal sections of the first half, and the parts at the same
 * distance from the end. All parts are equally likely, and work that grows evenly along them is estimated without bias.
 *
 * @param count even
 * @param seed unknown to the author of the launch
 */
export function drawnSample(parts: number, count: number, seed: number): number[] {
  const random = new Random(deriveSeed(seed, "workgroups"));
  const drawn = Array.from({ length: count / 2 }, (_, i) => {
    const [from, to] = [Math.floor((i * parts) / count), Math.floor(((i + 1) * parts) / count)];
    return from + random.below(to - from);
  });
  return [...drawn, ...drawn.map((index) => parts - 1 - index).toReversed()];
}
