/** The guide to the attention ladder: one Markdown document and its pictures, from the rungs, the simulator and evidence. */

import { CLAIM_SUBGROUP, ladder } from "@evolver/attention";
import { openDevice } from "@evolver/device";
import type { Guide, GuideOptions } from "../../report.ts";
import { rooflineChart, speedChart } from "./chart.ts";
import { countSubject } from "./counted.ts";
import { NO_EVIDENCE, readEvidence } from "./evidence.ts";
import { back, front } from "./frame.ts";
import { lessonOf } from "./lessons/index.ts";
import { rungPicture } from "./pictures/index.ts";
import { rungSection } from "./section.ts";
import { subjectOf } from "./subject.ts";

/**
 * The same evidence gives the same guide, byte for byte.
 *
 * @throws EvolverError EVIDENCE_NOT_FOUND, EVIDENCE_INVALID
 */
export async function attentionGuide({
  evidence: folder,
  pictures: prefix,
  onRung,
}: GuideOptions): Promise<Guide> {
  const evidence = folder === null ? NO_EVIDENCE : readEvidence(folder);
  const ids = ladder.map(({ id }) => id);
  const subjects = ladder.map((rung, k) => subjectOf(rung, ladder.slice(0, k)));
  const pictures = new Map<string, string>();
  const keep = (name: string, svg: string | null): string | null => {
    if (svg === null) return null;
    pictures.set(`${name}.svg`, svg);
    return `${prefix}/${name}.svg`;
  };
  const charts = {
    speed: keep("speed", speedChart(evidence, ids)),
    roofline: keep("roofline", rooflineChart(evidence, ids)),
  };
  const sim = await openDevice("sim", { subgroup: CLAIM_SUBGROUP });
  try {
    const sections: string[] = [];
    for (const [done, subject] of subjects.entries()) {
      const { id, title } = subject.rung;
      onRung?.(`${id} ${title}`, done, subjects.length);
      sections.push(
        rungSection({
          subject,
          evidence,
          counted: await countSubject(sim, subject),
          lesson: lessonOf(id),
          picture: keep(id, rungPicture(subject)) ?? "",
        }),
      );
    }
    const markdown = [front(subjects, evidence, charts), ...sections, back()].join("\n\n");
    return { markdown: `${markdown}\n`, pictures };
  } finally {
    await sim.close();
  }
}
