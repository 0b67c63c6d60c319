/** The section of one rung: what it changes and its code, what that gains and costs, common advice and what was found. */

import { relationWords } from "@evolver/device";
import { number } from "@evolver/base";
import type { LadderEvidence, MeasuredRung } from "../evidence/ladder.ts";
import type { Evidence } from "../evidence/read-folder.ts";
import { microseconds, prose, table } from "../markdown.ts";
import { FIRST, SHOWN } from "./counters.ts";
import type { CodeBlock, GuideRung } from "./ladder.ts";

interface SectionParts {
  readonly rung: GuideRung;
  readonly evidence: Evidence;
  /** Where the picture is, from the guide. */
  readonly picture: string;
  /** Where the questions are, from the guide. */
  readonly questions: string;
}

export const headingOf = ({ id, title }: GuideRung): string => `${id}: ${title}`;

export function rungSection({ rung, evidence, picture, questions }: SectionParts): string {
  const { id, lesson } = rung;
  const measured = evidence.notes.get(id);
  return [
    `## ${headingOf(rung)}`,
    `**What was slow:** ${prose(lesson.slow)}`,
    `**The idea:** ${prose(rung.idea)}`,
    `![${id}: which lanes load what, and when](${picture})`,
    "### What changes",
    changesOf(rung),
    ...(rung.code.length === 0 ? ["There is no new code: earlier rungs show it."] : rung.code.map(codeOf)),
    "### What it gains and costs",
    countersOf(rung),
    claimsOf(rung),
    timeOf(evidence, rung),
    ...(measured === undefined ? [] : [`**On hardware:** ${prose(measured)}`]),
    `**One hears:** ${prose(lesson.folklore)}`,
    `**Found:** ${prose(rung.found)}`,
    `[${lesson.questions.length} questions](${questions}#${id})`,
  ].join("\n\n");
}

function changesOf({ base, changes }: GuideRung): string {
  if (base === null) return "The first rung. All others are described by what they change.";
  const list = changes.map(({ axis, from, to }) => `\`${axis}\` from ${from} to ${to}`).join(", ");
  return `It builds on ${base} and changes ${list}.`;
}

const codeOf = ({ about, language, text }: CodeBlock): string =>
  `${prose(about)}\n\n\`\`\`${language}\n${text}\n\`\`\``;

function claimsOf({ counted }: GuideRung): string {
  if (counted.claims.length === 0) return "This rung has no claims.";
  return counted.claims
    .map(({ text, value, relation, limit, holds }) => {
      const wanted = holds ? "" : `, wanted ${relationWords[relation]} ${number(limit)}`;
      return `- ${holds ? "✓" : "✗ does not hold:"} ${text} (counted ${number(value)}${wanted})`;
    })
    .join("\n");
}

/** What a change from or to zero counts as, so that it does not hide changes of what both rungs do. */
const FROM_ZERO = Math.log(10);

/** Rows of the table of counters, and how much a counter must change to be one of them. */
const MOST_COUNTERS = 5;
const LEAST_CHANGE = Math.log(1.05);

/** Those counters that the rung changes most. */
function countersOf({ id, base: before, counted, on }: GuideRung): string {
  const { base, own } = counted;
  if (before === null || base === null)
    return [
      `Counted by the simulator on ${on}:`,
      table(
        ["", id],
        "lr",
        FIRST.map(([counter, name]) => [name, number(own[counter])]),
      ),
    ].join("\n\n");
  /** How much the counter changes, up or down. */
  const change = (was: number, now: number): number =>
    was === now ? 0 : Math.min(was, now) === 0 ? FROM_ZERO : Math.abs(Math.log(now / was));
  const changed = SHOWN.map(([counter, name]) => ({ name, was: base[counter], now: own[counter] }))
    .map((row) => ({ ...row, change: change(row.was, row.now) }))
    .filter((row) => row.change >= LEAST_CHANGE);
  const most = new Set(changed.toSorted((a, b) => b.change - a.change).slice(0, MOST_COUNTERS));
  if (most.size === 0) return `No counter changes by 5 % or more on ${on}.`;
  return [
    `The counters that change most on ${on}:`,
    table(
      ["", before, id, "change"],
      "lrrr",
      changed
        .filter((row) => most.has(row))
        .map(({ name, was, now }) => [
          name,
          number(was),
          number(now),
          was === 0 ? "" : `× ${number(now / was)}`,
        ]),
    ),
  ].join("\n\n");
}

/** On the shape of the table of all rungs. */
function timeOf({ ladders: [pair] }: Evidence, { id, base }: GuideRung): string {
  if (!(pair?.cuda?.rungs.has(id) || pair?.webgpu?.rungs.has(id)))
    return "**Time** on the shape of the table above: not measured.";
  const on = ({ rungs }: LadderEvidence, name: string, time: (rung: MeasuredRung) => number): string[] => {
    const own = rungs.get(id);
    if (own === undefined) return [];
    const before = base === null ? undefined : rungs.get(base);
    const beside = before === undefined ? "" : ` (${base}: ${microseconds(time(before))})`;
    return [`${name} ${microseconds(time(own))} µs${own.verified ? "" : ", wrong result"}${beside}`];
  };
  const measured = (of: LadderEvidence | null, name: string): string[] =>
    of === null ? [] : on(of, name, ({ timeMs }) => timeMs);
  const model = pair.cuda ?? pair.webgpu;
  const modelled = model === null ? [] : on(model, "modelled", ({ modelledTimeMs }) => modelledTimeMs);
  const clocks = [...measured(pair.cuda, "CUDA"), ...measured(pair.webgpu, "WebGPU")];
  return `**Time**, measured: ${clocks.join(", ")}; ${modelled.join("")}.`;
}
