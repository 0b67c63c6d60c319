/** The section of one rung: idea, picture, claims, counters, times, common advice and what was found, questions. */

import { relationWords } from "@evolver/device";
import { number } from "@evolver/base";
import type { Evidence } from "../evidence/read-folder.ts";
import { prose, table } from "../markdown.ts";
import { inputOf, TIME_HEADS, timeRow } from "../tables/times.ts";
import { SHOWN } from "./counters.ts";
import type { GuideRung } from "./ladder.ts";

interface SectionParts {
  readonly rung: GuideRung;
  readonly evidence: Evidence;
  /** Where the picture is, from the guide. */
  readonly picture: string;
}

export const headingOf = ({ id, title }: GuideRung): string => `${id}: ${title}`;

export function rungSection(parts: SectionParts): string {
  const { rung, evidence, picture } = parts;
  const { lesson } = rung;
  const measured = evidence.notes.get(rung.id);
  return [
    `## ${headingOf(rung)}`,
    prose(rung.idea),
    changesOf(rung),
    `![${rung.id}: which lanes load what, and when](${picture})`,
    "### Claims, and what was counted",
    claimsOf(rung),
    "### Counters",
    countersOf(rung),
    "### Time",
    timesOf(parts),
    ...hardwareOf(parts),
    "### What people say, and what was found",
    `**One hears:** ${prose(lesson.folklore)}`,
    `**Found:** ${prose(rung.found)}`,
    ...(measured === undefined ? [] : [`**Measured:** ${measured}`]),
    "### Questions",
    ...lesson.questions.map(
      ({ question, answer }, k) =>
        `<details>\n<summary>${k + 1}. ${inHtml(question)}</summary>\n\n${prose(answer)}\n\n</details>`,
    ),
  ].join("\n\n");
}

/** Markdown does not reach into a summary. */
const inHtml = (question: string): string =>
  prose(question)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>");

function changesOf({ base, changes }: GuideRung): string {
  if (base === null) return "The first rung. All others are described by what they change.";
  const list = changes.map(({ axis, from, to }) => `\`${axis}\` from ${from} to ${to}`).join(", ");
  return `It builds on ${base} and changes ${list}.`;
}

function claimsOf({ counted, on }: GuideRung): string {
  if (counted.claims.length === 0) return "This rung has no claims.";
  return [
    `Counted by the simulator on ${on}.`,
    table(
      ["", "claim", "counted", "wanted"],
      "llrr",
      counted.claims.map(({ text, value, relation, limit, holds }) => [
        holds ? "✓" : "✗ does not hold",
        text,
        number(value),
        `${relationWords[relation]} ${number(limit)}`,
      ]),
    ),
  ].join("\n\n");
}

function countersOf({ id, base: before, counted }: GuideRung): string {
  const { base, own, variants } = counted;
  const all = [...(base === null ? [] : [base]), own, ...variants.map(({ counters }) => counters)];
  const shown = SHOWN.filter(([counter]) => all.some((counters) => counters[counter] !== 0));
  const factor = (was: number, now: number): string => (was === 0 ? "" : `× ${number(now / was)}`);
  const heads = [
    "",
    ...(before === null || base === null ? [] : [before]),
    `**${id}**`,
    ...(base === null ? [] : ["change"]),
    ...variants.map(({ name }) => `${id} ${name}`),
  ];
  return table(
    heads,
    `l${"r".repeat(heads.length - 1)}`,
    shown.map(([counter, name]) => [
      name,
      ...(base === null ? [] : [number(base[counter])]),
      `**${number(own[counter])}**`,
      ...(base === null ? [] : [factor(base[counter], own[counter])]),
      ...variants.map(({ counters }) => number(counters[counter])),
    ]),
  );
}

function timesOf({ evidence, rung: { id } }: SectionParts): string {
  const rows = evidence.ladders.filter(({ cuda, webgpu }) => cuda?.rungs.has(id) || webgpu?.rungs.has(id));
  if (rows.length === 0) return "Not measured.";
  return table(
    TIME_HEADS,
    "lrrrrr",
    rows.map((pair) => timeRow(inputOf(pair), pair, id)),
  );
}

/** Compares the hardware's counters with the simulator's. */
function hardwareOf({ evidence, rung: { id } }: SectionParts): string[] {
  const { ncu } = evidence;
  const rows = (ncu?.rows ?? []).filter(({ rung, ncu: there }) => rung === id && there !== null);
  if (ncu === null || rows.length === 0) return ["Nsight Compute's counters: not measured."];
  const flagged = rows.filter((row) => row.flagged);
  const agree = rows.filter((row) => !row.flagged).map(({ counter }) => counter);
  const head = `Nsight Compute on ${ncu.shape} agrees with the simulator within ${number(100 * ncu.allowed)} % on ${agree.length} of ${rows.length} counters${agree.length === 0 ? "" : `: ${agree.join(", ")}`}.`;
  if (flagged.length === 0) return [head];
  return [
    `${head} It differs on these:`,
    table(
      ["counter", "Nsight Compute", "simulator", "why"],
      "lrrl",
      flagged.map(({ counter, ncu: there, sim, note }) => [
        counter,
        number(there ?? 0),
        number(sim),
        note ?? "",
      ]),
    ),
  ];
}
