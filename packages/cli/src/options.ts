/** Options that several commands have, and how their texts are read. */

import { InvalidArgumentError, Option } from "commander";
import { deviceIds } from "@evolver/device";

export const jsonOption = (): Option =>
  new Option("--json", "print one JSON document on stdout and nothing else there").default(false);

export const verboseOption = (): Option =>
  new Option("--verbose", "show where an error comes from").default(false);

export const deviceOption = (fallback: string): Option =>
  new Option("--device <id>", "where kernels run").choices(deviceIds).default(fallback);

export const workspaceOption = (what: string): Option =>
  new Option("--workspace <dir>", what).argParser(filePath).default("evolver-workspace");

/** A name of a file or folder. */
export function filePath(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("the name is empty.");
}

export const subgroupOption = (): Option =>
  new Option("--subgroup <width>", "invocations per subgroup, 4 to 128")
    .argParser(integer(4, 128))
    .default(32);

export function integer(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isInteger(value) && value >= low && value <= high) return value;
    throw new InvalidArgumentError(`give a whole number from ${low} to ${high}.`);
  };
}

export function list(text: string): string[] {
  const items = text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  if (items.length > 0) return items;
  throw new InvalidArgumentError("give at least one name.");
}
