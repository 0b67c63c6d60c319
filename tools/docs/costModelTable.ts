/** Prints the tables of docs/cost-model.md from what evidence/h200/ holds. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Agreement {
  readonly candidates: number;
  readonly spearman: number;
  readonly medianError: number;
  readonly error90: number;
}

type Halves = Readonly<Record<"fitted" | "held out" | "all", Agreement>>;

interface CostModel {
  readonly profile: string;
  readonly deviceName: string;
  readonly origin: {
    readonly date: string;
    readonly commit: string | null;
    readonly gpu: string | null;
  } | null;
  readonly constants: Readonly<Record<string, number>>;
  readonly agreement: Halves;
  readonly shapes: readonly {
    readonly shape: string;
    readonly agreement: Halves;
    readonly failed: readonly unknown[];
  }[];
  readonly worst: readonly {
    readonly id: string;
    readonly shape: string;
    readonly about: string;
    readonly ratio: number;
    readonly guess: string;
  }[];
}

interface Ordering {
  readonly seeds: number;
  readonly within: readonly number[];
  readonly budgets: readonly number[];
  readonly rows: readonly {
    readonly shape: string;
    readonly candidates: number;
    readonly proposals: number;
    readonly measurements: readonly number[];
    readonly bestAfter: readonly number[];
  }[];
}

const folder = join(import.meta.dirname, "..", "..", "evidence", "h200");
const load = <R>(name: string): R => {
  const { result } = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as { readonly result: R };
  return result;
};

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const table = (head: readonly string[], align: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, align, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const model = load<CostModel>("cost-model");
const ordering = load<Ordering>("cost-model-ordering");

function agreementTable(): string {
  const row = (title: string, { candidates, spearman, medianError, error90 }: Agreement): string[] => [
    title,
    String(candidates),
    spearman.toFixed(3),
    percent(medianError),
    percent(error90),
  ];
  return table(
    ["candidates", "number", "Spearman's ρ", "median error", "90 % are within"],
    ["---", "--:", "--:", "--:", "--:"],
    [
      row("**held out, all shapes**", model.agreement["held out"]),
      ...model.shapes.map(({ shape, agreement }) => row(`held out, ${shape}`, agreement["held out"])),
      row("fitted on, all shapes", model.agreement.fitted),
      row("all", model.agreement.all),
    ],
  );
}

const constants = Object.entries(model.constants)
  .map(([name, value]) => `${name} ${value}`)
  .join(", ");

const { deviceName, profile, origin } = model;
const where =
  origin === null
    ? deviceName
    : `${origin.gpu ?? deviceName}, measured at ${origin.commit} on ${origin.date}`;
const text = `${where}; profile "${profile}".

${agreementTable()}

The constants: ${constants}.

The ten that it gets most wrong, with the predicted over the measured time:

${table(
  ["candidate", "shape", "point", "ratio", "a guess why"],
  ["---", "---", "---", "--:", "---"],
  model.worst.map(({ id, shape, about, ratio, guess }) => [id, shape, about, ratio.toFixed(2), guess]),
)}

Measurements until one is found that is within so much of the best, and the best of so many measurements over the best of
all; means of ${ordering.seeds} seeds, among the candidates held out:

${table(
  [
    "shape",
    "proposals a trial",
    ...ordering.within.map((within) => `until ${within * 100} %`),
    ...ordering.budgets.map((budget) => `best of ${budget}`),
  ],
  ["---", "--:", ...ordering.within.map(() => "--:"), ...ordering.budgets.map(() => "--:")],
  ordering.rows.map(({ shape, candidates, proposals, measurements, bestAfter }) => [
    `${shape} (${candidates})`,
    String(proposals),
    ...measurements.map((count) => count.toFixed(1)),
    ...bestAfter.map((ratio) => `${ratio.toFixed(2)}×`),
  ]),
)}
`;
process.stdout.write(text);
