/** The guide to the attention ladder: counts every rung on the simulator, reads what was measured, and renders both. */

import {
  CLAIM_SUBGROUP,
  claimProblem,
  denseProblemStrides,
  ladder,
  type ClaimCase,
} from "@evolver/attention";
import { openDevice } from "@evolver/device";
import { NO_EVIDENCE, readEvidence } from "@evolver/guide";
import type { Guide, GuideOptions } from "@evolver/lab";
import { countSubject } from "./counted.ts";
import type { CountedSubject } from "./frame.ts";
import { attentionEvidence } from "./measured.ts";
import { renderGuide } from "./render.ts";
import { subjectOf } from "./subject.ts";

/**
 * The same evidence gives the same guide, byte for byte.
 *
 * @throws EvolverError EVIDENCE_NOT_FOUND, EVIDENCE_INVALID
 */
export async function attentionGuide({ evidence, pictures, onRung }: GuideOptions): Promise<Guide> {
  const read = evidence === null ? NO_EVIDENCE : readEvidence(evidence, attentionEvidence);
  return renderGuide(await countLadder(onRung), read, { folder: pictures, common: COMMON });
}

/** What all rungs are compared on: one head, with a tile and more for every rung; persistent ones with all workgroups they ask for. */
const SHAPE = { batch: 1, headsQ: 1, headsKv: 1, seqQ: 128, seqK: 128, dim: 64 };
export const COMMON: ClaimCase = {
  problem: { ...claimProblem, shape: SHAPE, strides: denseProblemStrides(SHAPE) },
};

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
