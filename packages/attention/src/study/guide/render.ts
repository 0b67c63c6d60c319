/** The guide as one Markdown document and its pictures, from counted rungs and evidence. */

import type { ClaimCase } from "@evolver/attention";
import { comparable, rooflinePlot, speedPlot, type Evidence } from "@evolver/guide";
import { plotSvg } from "@evolver/guide/charts";
import type { PlotSpec } from "@evolver/base";
import type { Guide } from "@evolver/lab";
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
  const drawn = (plot: PlotSpec | null): string | null =>
    plot === null ? null : keep(plot.id, plotSvg(plot));
  const charts = {
    speed: drawn(speedPlot(evidence, ids)),
    roofline: drawn(rooflinePlot(evidence, ids)),
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
