/** Errors about wrong arguments. */

import { EvolverError } from "@evolver/base";

/** A value in a few words, for messages. */
export function describe(value: unknown): string {
  if (value === null || value === undefined || typeof value === "number") return String(value);
  if (typeof value === "object") return `a ${value.constructor?.name ?? "object"}`;
  return `a ${typeof value}`;
}

/** As `describe`, but a string as it is, in quotes: "64" is not 64. */
export const shown = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value) : describe(value);

/** INVALID_ARGUMENT. */
export function invalid(what: string, hint?: string, where?: EvolverError["where"]): EvolverError {
  return new EvolverError("INVALID_ARGUMENT", what, { hint, where });
}
