/** The best measurement that there is of each ladder: the benchmark's, where it has the shape, else the ladder's own report. */

import type { Evidence } from "./read-folder.ts";
import type { LadderEvidence } from "./ladder.ts";
import { shapeIn, type Peers } from "./peers.ts";

/**
 * The ladder's own report times one launch at a time, the benchmark many back to back. For a shape of the benchmark its times
 * are used, if it has every rung of the report, so that no column mixes both. Counters and modelled times come from the report.
 */
export function comparable<Own extends Evidence>(evidence: Own): Own {
  const { ladders, peers, peersWebgpu } = evidence;
  return {
    ...evidence,
    ladders: ladders.map(({ cuda, webgpu }) => ({
      cuda: timedBy(cuda, peers),
      webgpu: timedBy(webgpu, peersWebgpu),
    })),
  };
}

function timedBy(ladder: LadderEvidence | null, peers: Peers | null): LadderEvidence | null {
  if (ladder === null || peers === null) return ladder;
  const entries = shapeIn(peers, ladder.input)?.entries ?? [];
  const rungs = new Map(entries.filter(({ kind }) => kind === "rung").map((entry) => [entry.id, entry]));
  if (rungs.size === 0 || [...ladder.rungs.keys()].some((id) => !rungs.has(id))) return ladder;
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
