/** What the study works on: which operation, on how many rows and columns of random data. */

import { EvolverError } from "@evolver/base";
import { integerOption, profileOption, type StudyInput, type StudyOption } from "@evolver/lab";
import { rowOperations, type RowOperation, type RowProblem } from "@evolver/softmax";

const ROWS = { least: 1, most: 2 ** 17 };
const COLUMNS = { least: 1, most: 2 ** 16 };
/** 512 MiB; beyond, the float64 reference would take minutes. */
const MOST_ELEMENTS = 2 ** 27;

const DEFAULT: RowProblem = { operation: "softmax", rows: 1024, columns: 512 };

export const rowOptions: readonly StudyOption[] = [
  { name: "operation", value: "name", help: `${rowOperations.join(" or ")} (default: ${DEFAULT.operation})` },
  integerOption("rows", { help: `rows of the matrix (default: ${DEFAULT.rows})`, ...ROWS }),
  integerOption("columns", { help: `elements of a row (default: ${DEFAULT.columns})`, ...COLUMNS }),
  profileOption,
];

/** @throws EvolverError INPUT_INVALID */
export function parseProblem(options: StudyInput): RowProblem {
  const { operation = DEFAULT.operation } = options;
  if (!rowOperations.includes(operation as RowOperation))
    throw new EvolverError("INPUT_INVALID", `there is no operation ${JSON.stringify(operation)}`, {
      hint: `give --operation ${rowOperations.join(" or ")}`,
    });
  const rows = wholeNumber("rows", options["rows"] ?? DEFAULT.rows, ROWS);
  const columns = wholeNumber("columns", options["columns"] ?? DEFAULT.columns, COLUMNS);
  if (rows * columns > MOST_ELEMENTS)
    throw new EvolverError("INPUT_INVALID", `${rows} rows of ${columns} columns are too many elements`, {
      hint: `${MOST_ELEMENTS} are the most`,
    });
  return { operation: operation as RowOperation, rows, columns };
}

function wholeNumber(name: string, value: unknown, { least, most }: typeof ROWS): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new EvolverError(
    "INPUT_INVALID",
    `${name} is ${JSON.stringify(value)}, and must be a whole number from ${least} to ${most}`,
  );
}

/** "softmax of 1024 rows of 512, random data" */
export const titleOf = ({ operation, rows, columns }: RowProblem): string =>
  `${operation === "softmax" ? "softmax" : "layer norm"} of ${rows} × ${columns}, random data`;
