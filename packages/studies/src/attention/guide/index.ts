/** The guide to the attention ladder: counts every rung on the simulator, reads what was measured, and renders both. */

import { CLAIM_SUBGROUP, claimProblem, ladder, type ClaimCase } from "@evolver/attention";
import { openDevice } from "@evolver/device";
import type { Guide, GuideOptions } from "../../report.ts";
import { countSubject } from "./counted.ts";
import { NO_EVIDENCE, readEvidence } from "./evidence.ts";
import type { CountedSubject } from "./frame.ts";
import { renderGuide } from "./render.ts";
import { subjectOf } from "./subject.ts";

/**
 * The same evidence gives the same guide, byte for byte.
 *
 * @throws EvolverError EVIDENCE_NOT_FOUND, EVIDENCE_INVALID
 */
export async function attentionGuide({ evidence, pictures, onRung }: GuideOptions): Promise<Guide> {
  const read = evidence === null ? NO_EVIDENCE : readEvidence(evidence);
  return renderGuide(await countLadder(onRung), read, { folder: pictures, common: COMMON });
}

/** What all rungs are compared on: the claims' problem of the last, for which they are counted anyway. */
export const COMMON: ClaimCase = ladder.at(-1)?.claimCase ?? { problem: claimProblem };

/** What the simulator says of every rung; seconds. */
export async function countLadder(onRung?: GuideOptions["onRung"]): Promise<CountedSubject[]> {
  const sim = await openDevice("sim", { subgroup: CLAIM_SUBGROUP });
  try {
    const rungs: CountedSubject[] = [];
    for (const [done, rung] of ladder.entries()) {
      onRung?.(`${rung.id} ${rung.title}`, done, ladder.length);
      const subject = subjectOf(rung, ladder.slice(0, done));
      rungs.push({ subject, counted: await countSubject(sim, subject, COMMON) });
    }
    return rungs;
  } finally {
    await sim.close();
  }
}
