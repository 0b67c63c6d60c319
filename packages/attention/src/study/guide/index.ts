/** The guide to the attention ladder: counts every rung on the simulator and adds its lesson and picture; the guide's frame does the rest. */

import { claimProblem, denseProblemStrides, ladder, type ClaimCase } from "@evolver/attention";
import { CLAIM_SUBGROUP, openDevice } from "@evolver/device";
import { guideOf, NO_EVIDENCE, readEvidence, type LadderGuide } from "@evolver/guide";
import type { Guide, GuideOptions } from "@evolver/lab";
import { printClaimCase } from "../shape.ts";
import { codeOf } from "./code.ts";
import { countSubject, type CountedSubject } from "./counted.ts";
import { lessonOf } from "./lessons/index.ts";
import { attentionEvidence } from "./measured.ts";
import { rungPicture } from "./pictures/index.ts";
import { subjectOf } from "./subject.ts";
import { textsOf } from "./texts.ts";

/**
 * The same evidence gives the same guide, byte for byte.
 *
 * @throws EvolverError EVIDENCE_NOT_FOUND, EVIDENCE_INVALID
 */
export async function attentionGuide({ evidence, pictures, onRung }: GuideOptions): Promise<Guide> {
  const read = evidence === null ? NO_EVIDENCE : readEvidence(evidence, attentionEvidence);
  return guideOf(ladderGuideOf(await countLadder(onRung)), read, pictures);
}

/** The problem on which all rungs are compared: one head, with more than one tile for every rung. */
const SHAPE = { batch: 1, headsQ: 1, headsKv: 1, seqQ: 128, seqK: 128, dim: 64 };
const COMMON: ClaimCase = {
  problem: { ...claimProblem, shape: SHAPE, strides: denseProblemStrides(SHAPE) },
};

/** Counts every rung on the simulator; takes seconds. */
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

/** @throws EvolverError LESSON_MISSING */
export const ladderGuideOf = (rungs: readonly CountedSubject[]): LadderGuide => ({
  ...textsOf(rungs.length - 1, COMMON),
  rungs: rungs.map(({ subject, counted }) => {
    const { id, title, idea, found } = subject.rung;
    return {
      ...{ id, title, idea, found, counted },
      base: subject.base?.id ?? null,
      changes: subject.changes,
      on: printClaimCase(subject.on),
      lesson: lessonOf(id),
      picture: rungPicture(subject),
      code: codeOf(subject, COMMON),
    };
  }),
});
