/** The guide as one Markdown document and its pictures, from counted rungs and evidence. */

import type { ClaimCase } from "@evolver/attention";
import { comparable, type Evidence } from "@evolver/guide";
import type { Guide } from "@evolver/lab";
import { rooflineChart, speedChart } from "./chart.ts";
import { back, front, type CountedSubject } from "./frame.ts";
import { lessonOf } from "./lessons/index.ts";
import { rungPicture } from "./pictures/index.ts";
import { rungSection } from "./section.ts";

interface RenderOptions {
  /** Where the pictures will lie, as the document links to them. */
  readonly folder: string;
  /** What all rungs are compared on. */
  readonly common: ClaimCase;
}

/** @throws EvolverError LESSON_MISSING */
export function renderGuide(
  rungs: readonly CountedSubject[],
  read: Evidence,
  { folder, common }: RenderOptions,
): Guide {
  const evidence = comparable(read);
  const ids = rungs.map(({ subject }) => subject.rung.id);
  const pictures = new Map<string, string>();
  const keep = (name: string, svg: string): string => {
    pictures.set(`${name}.svg`, svg);
    return `${folder}/${name}.svg`;
  };
  const kept = (name: string, svg: string | null): string | null => (svg === null ? null : keep(name, svg));
  const charts = {
    speed: kept("speed", speedChart(evidence, ids)),
    roofline: kept("roofline", rooflineChart(evidence, ids)),
  };
  const sections = rungs.map(({ subject, counted }) => {
    const { id } = subject.rung;
    const picture = keep(id, rungPicture(subject));
    return rungSection({ subject, counted, evidence, lesson: lessonOf(id), picture });
  });
  return {
    markdown: `${[front(rungs, common, evidence, charts), ...sections, back()].join("\n\n")}\n`,
    pictures,
  };
}
