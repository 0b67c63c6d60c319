/** Uses what a study's model predicts: of several proposals, the one that looks fastest is tried. */

import type { Proposal } from "../sampler/sampler.ts";
import { formatTime } from "../workspace/render/text.ts";
import type { OpenStudy } from "../study/open-study.ts";

/**
 * The proposal with the shortest predicted time, with a reason that says so; the first one where the study predicts
 * nothing, or was stopped. Proposals without a prediction come after those that have one.
 *
 * @param proposals in the sampler's order; at least one
 */
export async function mostPromising(
  study: OpenStudy,
  proposals: readonly Proposal[],
  signal: AbortSignal,
): Promise<Proposal> {
  const [first] = proposals;
  if (first === undefined) throw new RangeError("there is nothing to choose from");
  if (study.predict === undefined || proposals.length === 1) return first;
  let best = first;
  let bestMs: number | null = null;
  for (const proposal of proposals) {
    if (signal.aborted) return first;
    const predictedMs = await study.predict(proposal.point);
    if (predictedMs !== null && (bestMs === null || predictedMs < bestMs))
      [best, bestMs] = [proposal, predictedMs];
  }
  if (bestMs === null) return first;
  const reason = `${best.reason} Of ${proposals.length} proposals the model predicts it the fastest: ${formatTime(bestMs)}.`;
  return { ...best, reason };
}
