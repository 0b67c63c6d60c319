/** How well the cost model predicts, and what ordering candidates by it saves. */

import { percent } from "@evolver/base";
import { table } from "../markdown.ts";
import { notMeasured } from "./format.ts";
import type { Agreement, CostModelEvidence, OrderingEvidence } from "../evidence/cost-model.ts";
import type { MachineEvidence } from "../evidence/read-folder.ts";

export function costModelBlock({ costModel, ordering }: MachineEvidence): string {
  if (costModel === null) return notMeasured("The cost model beside the clock", "cost-model.json");
  const { deviceName, profile, origin, constants } = costModel;
  const where =
    origin === null
      ? deviceName
      : `${origin.gpu ?? deviceName}, measured at ${origin.commit} on ${origin.date}`;
  const named = Object.entries(constants).map(([name, value]) => `${name} ${value}`);
  return [
    `${where}; profile "${profile}".`,
    agreementTable(costModel),
    `The constants: ${named.join(", ")}.`,
    "The ten largest errors, as the predicted time divided by the measured time:",
    table(
      ["candidate", "shape", "point", "ratio", "a possible reason"],
      "lllrl",
      costModel.worst.map(({ id, shape, about, ratio, guess }) => [
        id,
        shape,
        about,
        ratio.toFixed(2),
        guess,
      ]),
    ),
    ...(ordering === null
      ? [notMeasured("Ordering by it", "cost-model-ordering.json")]
      : orderingOf(ordering)),
  ].join("\n\n");
}

function agreementTable({ agreement, shapes }: CostModelEvidence): string {
  const row = (title: string, { candidates, spearman, medianError, error90 }: Agreement): string[] => [
    title,
    String(candidates),
    spearman.toFixed(3),
    percent(medianError),
    percent(error90),
  ];
  return table(["candidates", "number", "Spearman's ρ", "median error", "90 % are within"], "lrrrr", [
    row("**held out, all shapes**", agreement["held out"]),
    ...shapes.map((own) => row(`held out, ${own.shape}`, own.agreement["held out"])),
    row("fitted on, all shapes", agreement.fitted),
    row("all", agreement.all),
  ]);
}

function orderingOf({ seeds, within, budgets, rows }: OrderingEvidence): string[] {
  return [
    `Measurements until one is found that is within so much of the best, and the best of so many measurements over the best of
all; means of ${seeds} seeds, among the candidates held out:`,
    table(
      [
        "shape",
        "proposals per trial",
        ...within.map((share) => `until ${share * 100} %`),
        ...budgets.map((budget) => `best of ${budget}`),
      ],
      `lr${"r".repeat(within.length + budgets.length)}`,
      rows.map(({ shape, candidates, proposals, measurements, bestAfter }) => [
        `${shape} (${candidates})`,
        String(proposals),
        ...measurements.map((count) => count.toFixed(1)),
        ...bestAfter.map((ratio) => `${ratio.toFixed(2)}×`),
      ]),
    ),
  ];
}
