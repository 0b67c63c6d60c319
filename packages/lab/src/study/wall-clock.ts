/**
 * Measured time for studies: medians of interleaved rounds, candidate and champion in turn. On a device with a clock
 * of its own a round is a batch of launches, long enough that the clock's steps and an idling GPU do not show.
 */

import { median } from "@evolver/base";
import { isClocked, type RunnablePlan } from "@evolver/device";
import type { MeasureContext, Measurement } from "./measurement.ts";

const DEFAULT_ROUNDS = 15;
const WARM_UP = 2;
/** GPU time of a batch, and of the warm-up that brings the clocks up. */
const BATCH_MS = 2;
const WARM_UP_MS = 40;
const MAX_BATCH = 500;

/**
 * Times the candidate and the champion in turns, so that a drift of the machine affects both alike.
 * @param rounds runs of each that count; two more before them do not
 */
export async function measureWallClock(
  { candidate, champion }: MeasureContext,
  rounds = DEFAULT_ROUNDS,
): Promise<Measurement> {
  const own: number[] = [];
  const other: number[] = [];
  const timeCandidate = await stopwatch(candidate);
  const timeChampion = champion === null ? null : await stopwatch(champion);
  for (let round = -WARM_UP; round < rounds; round++) {
    // Who goes first changes each round.
    const championFirst = round % 2 === 0;
    const early = championFirst ? await timeChampion?.() : undefined;
    const candidateMs = await timeCandidate();
    const championMs = championFirst ? early : await timeChampion?.();
    if (round < 0) continue;
    own.push(candidateMs);
    if (championMs !== undefined) other.push(championMs);
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

/** Gives a function that times one execution, as the mean of a batch where the device can be handed one. */
async function stopwatch(plan: RunnablePlan): Promise<() => Promise<number>> {
  const { device, enqueue } = plan;
  if (enqueue === null || !isClocked(device)) return () => timeOf(plan);
  const batchOf = (count: number) => (): void => {
    for (let i = 0; i < count; i++) enqueue();
  };
  let count = 1;
  for (let spentMs = 0; spentMs < WARM_UP_MS;) {
    const batchMs = await device.time(batchOf(count));
    spentMs += Math.max(batchMs, 0.1);
    const wanted = Math.ceil((BATCH_MS * count) / Math.max(batchMs, BATCH_MS / MAX_BATCH));
    count = Math.min(MAX_BATCH, Math.max(1, wanted));
  }
  return async () => (await device.time(batchOf(count))) / count;
}

/** The time that the device gives for each launch, else the time around the call. */
async function timeOf(plan: RunnablePlan): Promise<number> {
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

/** The standard error of the median, relative to it, from the median absolute deviation; all of it where the median is 0. */
function relativeError(values: readonly number[]): number {
  const center = median(values);
  if (center === 0) return 1;
  const deviation = 1.4826 * median(values.map((value) => Math.abs(value - center)));
  return (1.2533 * deviation) / Math.sqrt(values.length) / center;
}
