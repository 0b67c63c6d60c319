/** A short guide to the ladder: what each rung changes, what the simulator counts of it, and its modelled time. */

import { duration, grouped, number } from "@evolver/base";
import { CLAIM_SUBGROUP, openDevice, relationWords, type Counters } from "@evolver/device";
import { prose, table } from "@evolver/guide";
import type { Guide, GuideOptions, LadderReport, RungReport } from "@evolver/lab";
import { claimCounters, claimProblem, ladder } from "@evolver/softmax";
import { parseProblem, titleOf } from "./input.ts";
import { rowLadder } from "./ladder.ts";

/** The counters that the guide shows, in its words. */
const SHOWN: readonly (readonly [name: keyof Omit<Counters, "memory">, words: string])[] = [
  ["globalReadBytes", "bytes read"],
  ["globalSectors", "sectors"],
  ["specials", "special functions"],
  ["issuedMemory", "memory instructions"],
  ["issuedSubgroup", "subgroup instructions"],
];

/** The same each time: nothing in it is measured. */
export async function rowGuide({ onRung }: GuideOptions): Promise<Guide> {
  const report = await rowLadder({
    device: "sim",
    input: { ...parseProblem({}) },
    rungs: null,
    seed: 1,
    ...(onRung !== undefined && { onRung }),
  });
  const sections = report.rungs.map(section);
  return {
    markdown: `${[front(report), await counted(), ...sections, BACK].join("\n\n")}\n`,
    pictures: new Map(),
    pages: new Map(),
  };
}

function front({ rungs, input, profile }: LadderReport): string {
  const times = rungs.map(({ id, title, modelledTimeMs, bottleneck }) => [
    id,
    title,
    duration(modelledTimeMs),
    bottleneck,
  ]);
  return [
    "# The row ladder: softmax and layer norm",
    "<!-- Written by `evolver guide softmax`; what is changed here by hand is lost. -->",
    prose(`Softmax turns each row of a matrix into positive numbers that sum up to 1; layer norm gives it mean 0 and variance 1.
Both look at every element, find a number or two of the whole row, and write every element again: there is little to compute, and
what decides is how often and how the row is read. Each rung differs little from the one before. What changes is counted by
the simulator, on any machine.`),
    "## All rungs",
    `Modelled for ${profile}, on ${input}. A modelled time is a reason to look, never a result.`,
    table(["rung", "what", "modelled time", "what decides"], "llrl", times),
  ].join("\n\n");
}

async function counted(): Promise<string> {
  const sim = await openDevice("sim", { subgroup: CLAIM_SUBGROUP });
  try {
    const rows: string[][] = [];
    for (const { id, point, variants } of ladder)
      for (const [name, own] of [[id, point] as const, ...Object.entries(variants)]) {
        const counters = await claimCounters(sim, own);
        rows.push([
          name === id ? id : `${id}, ${name}`,
          ...SHOWN.map(([counter]) => grouped(counters[counter])),
        ]);
      }
    return [
      `By the simulator, on ${titleOf(claimProblem)}, which the claims are about:`,
      table(["rung", ...SHOWN.map(([, words]) => words)], `l${"r".repeat(SHOWN.length)}`, rows),
    ].join("\n\n");
  } finally {
    await sim.close();
  }
}

function section({ id, title, idea, claims, found }: RungReport): string {
  const lines = claims.map(
    ({ text, holds, value, relation, limit }) =>
      `- ${holds ? "✓" : "✗"} ${text} (counted ${number(value)}, ${relationWords[relation]} ${number(limit)})`,
  );
  return [
    `## ${id}: ${title}`,
    prose(idea),
    "Claims, which are counted again each time that this page is written:",
    lines.join("\n"),
    ...(found === "" ? [] : [`What was found: ${prose(found)}`]),
  ].join("\n\n");
}

const BACK = `## Run it yourself

    npx evolver ladder softmax --rows 4096 --columns 1024       verify and count every rung, check its claims
    npx evolver ladder softmax --operation layerNorm            the same rungs for layer norm
    npx evolver evolve softmax --rows 4096 --columns 1024       search the space for your size
    npx evolver emit softmax/s03 --target cuda --selftest -o s03.cu`;
