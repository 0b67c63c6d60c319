/** The best measurement that there is of each ladder: the benchmark's, where it has the shape, else the ladder's own report. */

import type { Evidence, LadderEvidence, PeersEvidence } from "./evidence.ts";

/**
 * The ladder's own report times one launch at a time, the benchmark many back to back: its times are taken for a shape that
 * it has, if it has every rung of the report, so that no column mixes both. Counters and modelled times stay the report's.
 */
export function comparable(evidence: Evidence): Evidence {
  const { ladders, peers, peersWebgpu } = evidence;
  return {
    ...evidence,
    ladders: ladders.map(({ cuda, webgpu }) => ({
      cuda: timedBy(cuda, peers),
      webgpu: timedBy(webgpu, peersWebgpu),
    })),
  };
}

function timedBy(ladder: LadderEvidence | null, peers: PeersEvidence | null): LadderEvidence | null {
  if (ladder === null || peers === null) return ladder;
  const rungs = peers.rungs.get(ladder.input.replace(/, random data$/, ""));
  if (rungs === undefined || [...ladder.rungs.keys()].some((id) => !rungs.has(id))) return ladder;
  const { command, date, commit, gpu, file } = peers;
  return {
    ...ladder,
    ...{ command, date, commit, gpu, file },
    rungs: new Map(
      [...ladder.rungs].map(([id, rung]) => {
        const { timeMs, tflops, verified } = rungs.get(id) ?? rung;
        return [id, { ...rung, timeMs, tflops, verified }];
      }),
    ),
  };
}
