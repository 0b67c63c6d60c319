/** The simulator's counters beside Nsight Compute's, and why they differ where they do. */

import { ladder } from "@evolver/attention";
import { table } from "@evolver/guide";
import { compact, notMeasured, NOTHING, share } from "./format.ts";
import type { H200 } from "./read.ts";

type Row = NonNullable<H200["ncu"]>["rows"][number];

interface Explanation {
  readonly counters: readonly string[];
  applies(row: Row): boolean;
  readonly why: string;
}

/** The counters that have a column, by their titles in tools/gpu/ncuMetrics.ts. */
export const COLUMNS: readonly (readonly [counter: string, head: string])[] = [
  ["global load bytes", "global bytes read"],
  ["global load sectors", "sectors read"],
  ["global store sectors", "sectors written"],
  ["shared wavefronts", "shared wavefronts"],
  ["shared bank conflicts", "bank conflicts"],
  ["barriers, one a subgroup", "barriers"],
];

/** Pipelines whose copies are asynchronous. */
const ASYNCHRONOUS: readonly string[] = ["ring", "roles", "staggered"];

const copiesAsynchronously = ({ rung }: Row): boolean =>
  ladder.some(({ id, point }) => id === rung && ASYNCHRONOUS.includes(point.pipeline));

const hasPhases = ({ rung }: Row): boolean =>
  ladder.some(({ id, point }) => id === rung && point.pipeline === "roles");

const moreOnHardware = ({ ncu, sim }: Row): boolean => ncu !== null && ncu > sim;

/** The first that applies is printed; else the note of the measurement itself. */
export const EXPLANATIONS: readonly Explanation[] = [
  {
    counters: ["global load sectors"],
    applies: (row) => copiesAsynchronously(row) && moreOnHardware(row),
    why: "each asynchronous copy of a subgroup counts as one sector more than it reads",
  },
  {
    counters: ["shared wavefronts"],
    applies: (row) => copiesAsynchronously(row) && moreOnHardware(row),
    why: "an asynchronous copy of 16 bytes a lane counts as 7.25 wavefronts (9.25 in k07), a store of as much as 4",
  },
  {
    counters: ["barriers, one a subgroup"],
    applies: (row) => hasPhases(row) && moreOnHardware(row),
    why: "one barrier more a workgroup: phase barriers are initialised before it",
  },
  {
    counters: ["global store requests", "global store sectors"],
    applies: moreOnHardware,
    why: "NVRTC 13 splits 8-byte stores into two of 4 bytes: the same bytes in more requests, and twice the sectors",
  },
];

const explanationOf = (row: Row): string =>
  EXPLANATIONS.find((each) => each.counters.includes(row.counter) && each.applies(row))?.why ??
  row.note ??
  "not explained";

export function ncuBlock({ ncu }: H200): string {
  if (ncu === null) return notMeasured("The simulator's counters beside Nsight Compute's", "ncu.json");
  const { rows, shape, allowed } = ncu;
  const compared = rows.filter((row) => row.ncu !== null);
  const flagged = compared.filter((row) => row.flagged);
  const rungs = [...new Set(rows.map(({ rung }) => rung))];
  return [
    `${shape}, ${ncu.date ?? "no date"}, commit ${ncu.commit ?? "not recorded"}. Nsight Compute's count, and in parentheses the simulator's as a share of it. **Bold**: they differ by more than ${share(allowed)}. ${compared.length - flagged.length} of ${compared.length} counters do not, with those that have no column.`,
    table(
      ["", ...COLUMNS.map(([, head]) => head)],
      `l${"r".repeat(COLUMNS.length)}`,
      rungs.map((rung) => [
        rung,
        ...COLUMNS.map(([counter]) => cell(rows.find((row) => row.rung === rung && row.counter === counter))),
      ]),
    ),
    ...differences(flagged),
  ].join("\n\n");
}

function cell(row: Row | undefined): string {
  if (row === undefined || row.ncu === null) return NOTHING;
  const { ncu, sim, flagged } = row;
  const ratio = ncu === 0 ? (sim === 0 ? "" : ` (sim ${compact(sim)})`) : ` (${(sim / ncu).toFixed(2)})`;
  return flagged ? `**${compact(ncu)}${ratio}**` : `${compact(ncu)}${ratio}`;
}

/** One row for each counter and reason. */
function differences(flagged: readonly Row[]): string[] {
  if (flagged.length === 0) return [];
  const groups = new Map<string, Row[]>();
  for (const row of flagged) {
    const key = `${row.counter}\n${explanationOf(row)}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const rows = [...groups].map(([key, own]) => {
    const [counter = "", why = ""] = key.split("\n");
    const ratios = own.map(({ ncu, sim }) => sim / (ncu ?? Number.NaN)).toSorted((a, b) => a - b);
    const [least, most] = [ratios[0], ratios.at(-1)].map((ratio) => (ratio ?? Number.NaN).toFixed(2));
    return [
      counter,
      own.map(({ rung }) => rung).join(", "),
      least === most ? `${least}` : `${least} to ${most}`,
      why,
    ];
  });
  return ["What differs, and why:", table(["counter", "rungs", "simulator / hardware", "why"], "llrl", rows)];
}
