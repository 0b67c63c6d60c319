/** Options of a study on the command line. */

import { EvolverError, type Json } from "@evolver/base";

/** Options of a study by name, as data: what the user gave, or in full as the study's `parseInput` gives them. */
export type StudyInput = { readonly [key: string]: Json | undefined };

/** One option, such as `--rows <n>`: its name, its help, and how its value is read. */
export interface StudyOption {
  /** "rows": the option is `--rows`, and `parseInput` finds its value under this name. */
  readonly name: string;
  /** What stands for the value in the help: "n", "file". */
  readonly value: string;
  /** One line. */
  readonly help: string;
  /** The value of a text. The text itself if absent. @throws EvolverError if it has none */
  parse?(text: string): Json;
}

/** An option that is a whole number from `least` to `most`. */
export function integerOption(
  name: string,
  { help, least, most }: { readonly help: string; readonly least: number; readonly most: number },
): StudyOption {
  return {
    name,
    value: "n",
    help,
    parse(text) {
      const value = Number(text);
      if (text.trim() !== "" && Number.isInteger(value) && value >= least && value <= most) return value;
      throw new EvolverError("INVALID_OPTION", `give a whole number from ${least} to ${most}.`);
    },
  };
}
