/** Makes a guide to a ladder, a Markdown document with pictures and a page of questions, from a study's texts and from measurements. */

import type { PlotSpec } from "@evolver/base";
import type { Guide } from "@evolver/lab";
import { plotSvg } from "../charts/svg.ts";
import { comparable } from "../evidence/comparable.ts";
import type { Evidence } from "../evidence/read-folder.ts";
import { rooflinePlot, speedPlot } from "../plots/ladder.ts";
import { back, front } from "./frame.ts";
import type { LadderGuide } from "./ladder.ts";
import { questionsPage } from "./questions.ts";
import { rungSection } from "./section.ts";

const QUESTIONS = "questions.md";

/**
 * The same data give the same guide, byte for byte.
 *
 * @param folder where pictures and questions will lie, as the document links to them
 */
export function guideOf(guide: LadderGuide, read: Evidence, folder: string): Guide {
  const evidence = comparable(read);
  const ids = guide.rungs.map(({ id }) => id);
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
  const sections = guide.rungs.map((rung) =>
    rungSection({
      rung,
      evidence,
      picture: keep(rung.id, rung.picture),
      questions: `${folder}/${QUESTIONS}`,
    }),
  );
  return {
    markdown: `${[front(guide, evidence, charts), ...sections, back(guide)].join("\n\n")}\n`,
    pictures,
    pages: new Map([[QUESTIONS, questionsPage(guide, `../${folder}.md`)]]),
  };
}
