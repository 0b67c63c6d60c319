/** The simulator's counters beside Nsight Compute's, and why they differ where they do. */

import { NOTHING, percent, quantity } from "@evolver/base";
import { table } from "../markdown.ts";
import { notMeasured } from "./format.ts";
import type { MachineEvidence } from "../evidence/read-folder.ts";
import type { HardwareCounter, MeasuredStudy } from "../evidence/study.ts";

/** The counters that have a column, by their titles in ncu-metrics.ts. */
export const COLUMNS: readonly (readonly [counter: string, head: string])[] = [
  ["global load bytes", "global bytes read"],
  ["global load sectors", "sectors read"],
  ["global store sectors", "sectors written"],
  ["shared wavefronts", "shared wavefronts"],
  ["shared bank conflicts", "bank conflicts"],
  ["barriers, one per subgroup", "barriers"],
];

const explanationOf = ({ counterNotes }: MeasuredStudy, row: HardwareCounter): string =>
  counterNotes.find((each) => each.counters.includes(row.counter) && each.applies(row))?.why ??
  row.note ??
  "not explained";

export function ncuBlock({ ncu, study }: MachineEvidence): string {
  if (ncu === null) return notMeasured("The simulator's counters beside Nsight Compute's", "ncu.json");
  const { rows, shape, allowed } = ncu;
  const compared = rows.filter((row) => row.ncu !== null);
  const flagged = compared.filter((row) => row.flagged);
  const rungs = [...new Set(rows.map(({ rung }) => rung))];
  return [
    `${shape}, ${ncu.date ?? "no date"}, commit ${ncu.commit ?? "not recorded"}. Nsight Compute's count, and in parentheses the simulator's as a percent of it. **Bold**: they differ by more than ${percent(allowed)}. ${compared.length - flagged.length} of ${compared.length} counters do not, with those that have no column.`,
    table(
      ["", ...COLUMNS.map(([, head]) => head)],
      `l${"r".repeat(COLUMNS.length)}`,
      rungs.map((rung) => [
        rung,
        ...COLUMNS.map(([counter]) => cell(rows.find((row) => row.rung === rung && row.counter === counter))),
      ]),
    ),
    ...differences(study, flagged),
  ].join("\n\n");
}

function cell(row: HardwareCounter | undefined): string {
  if (row === undefined || row.ncu === null) return NOTHING;
  const { ncu, sim, flagged } = row;
  const ratio = ncu === 0 ? (sim === 0 ? "" : ` (sim ${quantity(sim)})`) : ` (${(sim / ncu).toFixed(2)})`;
  return flagged ? `**${quantity(ncu)}${ratio}**` : `${quantity(ncu)}${ratio}`;
}

/** One row for each counter and reason. */
function differences(study: MeasuredStudy, flagged: readonly HardwareCounter[]): string[] {
  if (flagged.length === 0) return [];
  const groups = new Map<string, HardwareCounter[]>();
  for (const row of flagged) {
    const key = `${row.counter}\n${explanationOf(study, row)}`;
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
