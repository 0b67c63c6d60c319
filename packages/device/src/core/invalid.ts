/** Errors about wrong arguments. */

import { EvolverError } from "@evolver/base";

/** Characters of a text that are shown. */
const MOST_SHOWN = 40;

/** A value in a few words, for messages; a text as it is, in quotes: "64" is not 64. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return value.length <= MOST_SHOWN
      ? JSON.stringify(value)
      : `${JSON.stringify(value.slice(0, MOST_SHOWN))}…`;
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "object" && value !== null) return articled(value.constructor?.name ?? "object");
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  return String(value);
}

const articled = (name: string): string => `${/^[aeiou]/i.test(name) ? "an" : "a"} ${name}`;

/** INVALID_ARGUMENT. */
export function invalid(what: string, hint?: string, where?: EvolverError["where"]): EvolverError {
  return new EvolverError("INVALID_ARGUMENT", what, { hint, where });
}
