/** Measured time for studies: medians of interleaved runs, candidate and champion in turn. */

import type { BoundPlan, MeasureContext, Measurement } from "../study.ts";

const DEFAULT_ROUNDS = 15;
const WARM_UP = 2;

/**
 * Times the candidate, and the champion in turn with it, so that a drift of the machine hits both alike.
 * @param rounds runs of each that count; two more before them do not
 */
export async function measureWallClock(
  { candidate, champion }: MeasureContext,
  rounds = DEFAULT_ROUNDS,
): Promise<Measurement> {
  const own: number[] = [];
  const other: number[] = [];
  for (let round = -WARM_UP; round < rounds; round++) {
    // Who goes first changes each round.
    const championFirst = champion !== null && round % 2 === 0;
    const championMs = championFirst ? await timeOf(champion) : null;
    const candidateMs = await timeOf(candidate);
    const lateMs = champion !== null && !championFirst ? await timeOf(champion) : championMs;
    if (round < 0) continue;
    own.push(candidateMs);
    if (lateMs !== null) other.push(lateMs);
  }
  const noise = Math.hypot(relativeError(own), other.length > 0 ? relativeError(other) : 0);
  return {
    timeMs: median(own),
    timeKind: "measured",
    noise,
    championTimeMs: other.length > 0 ? median(other) : null,
    counters: null,
    details: { rounds },
  };
}

/** The device's own clock where it has one, else the time around the call. */
async function timeOf(plan: BoundPlan): Promise<number> {
  const start = performance.now();
  const results = await plan.run();
  const around = performance.now() - start;
  let sum = 0;
  for (const { timeMs } of results) {
    if (timeMs === null) return around;
    sum += timeMs;
  }
  return sum;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** The standard error of the median, relative to it, from the median absolute deviation. */
function relativeError(values: readonly number[]): number {
  const center = median(values);
  const deviation = 1.4826 * median(values.map((value) => Math.abs(value - center)));
  return (1.2533 * deviation) / Math.sqrt(values.length) / center;
}
