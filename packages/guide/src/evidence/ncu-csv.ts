/** Reads what `ncu --csv --page raw` prints: one row per launch, one column per metric, a row of units below the header. */

import { EvolverError } from "@evolver/base";

/** One profiled launch. */
export interface NcuLaunch {
  readonly kernel: string;
  /** "(8192, 1, 1)" as Nsight Compute prints it, in numbers. */
  readonly grid: readonly number[];
  readonly block: readonly number[];
  /** By name; what is not a number ("n/a") is left out. Values of the instances of NAME are NAME:INSTANCE. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly units: Readonly<Record<string, string>>;
}

/** Columns that say which launch it is. */
const FACTS = [
  "ID",
  "Process ID",
  "Process Name",
  "Host Name",
  "Kernel Name",
  "Context",
  "Stream",
  "Block Size",
  "Grid Size",
  "Device",
  "CC",
];
const NEEDED = ["ID", "Kernel Name", "Block Size", "Grid Size"];

/**
 * The launches in the order of their IDs. Lines of the tool's own ("==PROF== …") are skipped.
 *
 * @throws EvolverError NCU_OUTPUT where there is no table, or a row of it is not as wide as its header
 */
export function parseNcuCsv(text: string): NcuLaunch[] {
  const problems = text.split("\n").filter((line) => line.startsWith("==ERROR=="));
  const table = parseCsv(
    text
      .split("\n")
      .filter((line) => !line.startsWith("=="))
      .join("\n"),
  );
  const start = table.findIndex((row) => NEEDED.every((name) => row.includes(name)));
  const [header, units, ...rows] = start < 0 ? [] : table.slice(start);
  if (header === undefined || units === undefined)
    throw wrong(`there is no table in it${problems.length > 0 ? `: ${problems.join(" ")}` : ""}`);
  for (const [k, row] of [units, ...rows].entries()) {
    if (row.length !== header.length)
      throw wrong(`row ${k + 1} has ${row.length} cells, and the header ${header.length}`);
  }
  if (units[header.indexOf("ID")] !== "") throw wrong("the row below the header is not one of units");
  const cell = (row: readonly string[], name: string): string => row[header.indexOf(name)] ?? "";
  const names = header.filter((name) => !FACTS.includes(name));
  const unitOf = Object.fromEntries(names.map((name) => [name, cell(units, name)]));
  return rows
    .toSorted((a, b) => Number(cell(a, "ID")) - Number(cell(b, "ID")))
    .map((row) => ({
      kernel: cell(row, "Kernel Name"),
      grid: numbersIn(cell(row, "Grid Size")),
      block: numbersIn(cell(row, "Block Size")),
      metrics: Object.fromEntries(names.flatMap((name) => valuesIn(name, cell(row, name)))),
      units: unitOf,
    }));
}

/** "1,234", or with the values of its instances "1,234 (FFMA: 1,000; BAR: 234)". */
function valuesIn(name: string, text: string): [string, number][] {
  const [, total = text, instances = ""] = /^(\S+) \((.*)\)$/.exec(text) ?? [];
  const pairs = instances.split(/[;,] /).map((pair): [string, number | null] => {
    const [, instance = "", value = ""] = /^(.*): ?(\S+)$/.exec(pair) ?? [];
    return [`${name}:${instance.replaceAll('"', "").trim()}`, numberIn(value)];
  });
  const all: [string, number | null][] = [[name, numberIn(total)], ...pairs];
  return all.flatMap(([key, value]) => (value === null ? [] : [[key, value]]));
}

/** "1,234,567.5" with or without separators; null for anything else. */
function numberIn(text: string): number | null {
  return /^-?\d{1,3}(,\d{3})*(\.\d+)?$|^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)
    ? Number(text.replaceAll(",", ""))
    : null;
}

const numbersIn = (text: string): number[] => [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));

/** RFC 4180, without empty rows: quoted cells may hold commas, line breaks and doubled quotes. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cells = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;
  while (cells.lastIndex < text.length) {
    const at = cells.lastIndex;
    const match = cells.exec(text);
    if (match === null) throw wrong(`a quote is not closed near "${text.slice(at, at + 40)}"`);
    const [, quoted, plain, end] = match;
    row.push(quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'));
    if (end === ",") {
      if (cells.lastIndex === text.length) row.push("");
      else continue;
    }
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return rows;
}

const wrong = (what: string): EvolverError =>
  new EvolverError("NCU_OUTPUT", `what Nsight Compute printed cannot be read: ${what}`, {
    hint: "it is wanted as ncu --csv --page raw prints it",
  });
