/** The page of questions on a ladder: each with a hidden answer. */

import { anchor, prose } from "../markdown.ts";
import type { GuideRung, LadderGuide } from "./ladder.ts";
import { headingOf } from "./section.ts";

/** @param document the guide, from this page */
export const questionsPage = ({ study, title, rungs }: LadderGuide, document: string): string =>
  `${[
    `# Questions on ${title.replace(/^The /, "the ")}`,
    `<!-- Written by \`evolver guide ${study}\`; changes by hand are lost. -->`,
    `Questions as they come up in interviews and reviews, on the rungs of [${title.replace(/^The /, "the ")}](${document}). Answer
first, then look. The numbers are the simulator's, on the small problem of each rung.`,
    ...rungs.map((rung) => questionsOf(rung, document)),
  ].join("\n\n")}\n`;

const questionsOf = (rung: GuideRung, document: string): string =>
  [
    `## ${rung.id}`,
    `[${rung.title}](${document}#${anchor(headingOf(rung))}), counted on ${rung.on}.`,
    ...rung.lesson.questions.map(
      ({ question, answer }, k) =>
        `<details>\n<summary>${k + 1}. ${inHtml(question)}</summary>\n\n${prose(answer)}\n\n</details>`,
    ),
  ].join("\n\n");

/** Markdown does not reach into a summary. */
const inHtml = (question: string): string =>
  prose(question)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>");
